/**
 * Hooks: functions of the user that are called before and after the actions of a chat and its tools, and may change them.
 *
 * | event                | called when                                 | effective answers                       |
 * | -------------------- | ------------------------------------------- | --------------------------------------- |
 * | `SessionStart`       | a chat's process runs its first turn        | nothing                                 |
 * | `UserPromptSubmit`   | a person sent an input                      | inject, transform, halt                 |
 * | `PreIteration`       | a request is about to be made               | inject, halt                            |
 * | `ChatParams`         | the same, with the request                  | params and inject, for this one; halt   |
 * | `PermissionRequest`  | a person is about to be asked about a call  | nothing                                 |
 * | `PreToolUse`         | a call was permitted and has not started    | deny, halt, allow with other arguments  |
 * | `PermissionDenied`   | a call was refused                          | nothing                                 |
 * | `ToolDenied`         | the same, where the refusal has a code      | nothing                                 |
 * | `PostToolUse`        | a tool's handler has ended                  | augment, halt                           |
 * | `PostToolUseFailure` | a call has failed                           | nothing                                 |
 * | `Stop`               | a turn ended as intended                    | nothing                                 |
 * | `StopFailure`        | a turn ended otherwise                      | nothing                                 |
 * | `SessionEnd`         | the chat is stopped, or the run is over     | nothing                                 |
 *
 * The hooks of an event run one after another, in order; each is awaited. After an effective halt or denial, later
 * hooks do not run. When a hook throws, rejects or times out, the result is a halt with the reason `hook_crashed` where
 * a halt is effective; elsewhere the failure is ignored. Ineffective and invalid answers are ignored.
 *
 * @module
 */
import type { ChatResult, HaltedReason, Mode } from "../record/index.ts"
import { copied } from "../json/index.ts"
import { callUser, reportFault, type UserAnswer, type UserCall } from "../async/index.ts"
import * as Answers from "./hookVerdict.ts"
import { groupProblem, matches } from "./hookGroup.ts"
import type { Message, Outcome, Request, ToolCall } from "../model/index.ts"
import type { Denial } from "./permissionRules.ts"
import type { Awaitable } from "../tool/index.ts"
import type { HookHalt, PreToolVerdict, PostToolVerdict } from "./hookVerdict.ts"
import type { RequestParams } from "./requestParams.ts"

export type { HookHalt, PreToolVerdict, PostToolVerdict } from "./hookVerdict.ts"

/** The payload that all hooks about a tool call share. */
export interface ToolUse {
  readonly toolCall: ToolCall
  readonly toolName: string
  readonly arguments: Readonly<Record<string, unknown>> | null
}

/** The payload of each event. */
export interface Payloads {
  readonly SessionStart: {
    readonly sessionId: string | undefined
    /** Whether the thread was empty (`new`) or not (`revived`). */
    readonly source: "new" | "revived"
    readonly messages: ReadonlyArray<Message>
  }
  readonly UserPromptSubmit: {
    readonly prompt: string
    readonly sessionId: string | undefined
    readonly messages: ReadonlyArray<Message>
  }
  readonly PreIteration: {
    /** The number of finished steps of the turn. */
    readonly iteration: number
    /** The number of consecutive replies that changed nothing, the last reply included. */
    readonly unproductiveIterations: number
    /** Equal for replies of the same calls and results; absent before the first reply. */
    readonly fingerprint: string | undefined
    readonly sessionId: string | undefined
    readonly messages: ReadonlyArray<Message>
  }
  readonly ChatParams: {
    readonly request: Request
    readonly sessionId: string | undefined
    readonly messages: ReadonlyArray<Message>
  }
  readonly PermissionRequest: ToolUse & { readonly mode: Mode }
  readonly PreToolUse: ToolUse
  readonly PermissionDenied: ToolUse & { readonly reason: string }
  readonly ToolDenied: ToolUse & { readonly denial: Denial }
  readonly PostToolUse: ToolUse & { readonly result: string; readonly outcome: Outcome }
  readonly PostToolUseFailure: ToolUse & { readonly reason: unknown; readonly outcome: Outcome }
  readonly Stop: {
    readonly sessionId: string | undefined
    readonly haltedReason: HaltedReason
    readonly result: ChatResult
  }
  readonly StopFailure: Payloads["Stop"]
  readonly SessionEnd: {
    readonly sessionId: string | undefined
    /** How the last turn ended; absent when no turn ended. */
    readonly haltedReason: HaltedReason | undefined
    readonly messages: ReadonlyArray<Message>
  }
}

/**
 * The answers of a hook.
 *
 * - nothing, `"ok"`, `"allow"`: go on
 * - `allow` with `arguments`: the call runs with these arguments instead, if they fit the tool's schema
 * - `deny`: the call does not run; the model reads the reason. A {@link Denial} is a reason that programs can read, too
 * - `halt`: the turn ends with this reason, a text of the hook; default `"halt"`
 * - `inject`: these messages are added to the thread, or, at `ChatParams`, to this request only. Values that are no
 *   system, user or assistant messages are left out
 * - `params`: this request is made with these options instead
 * - `transform`: this prompt replaces the person's input
 * - `augment`: this text is added to the tool's result, after a blank line
 *
 * A word alone is the answer without its details. An `async` function returns the object form, because TypeScript
 * widens the word to `string`.
 */
export type HookAnswer =
  | undefined
  | void
  | "ok"
  | "allow"
  | "deny"
  | "halt"
  | { readonly type: "ok" }
  | { readonly type: "allow"; readonly arguments?: Readonly<Record<string, unknown>> | undefined }
  | { readonly type: "deny"; readonly reason?: string | Denial | undefined }
  | { readonly type: "halt"; readonly reason?: string | undefined }
  | { readonly type: "inject"; readonly messages: Message | ReadonlyArray<Message> }
  | { readonly type: "params"; readonly params: RequestParams }
  | { readonly type: "transform"; readonly prompt: string }
  | { readonly type: "augment"; readonly text: string }

/** The second argument of a hook. `signal` is aborted when the answer is no longer needed. */
export interface HookContext {
  readonly signal: AbortSignal
  readonly context: Readonly<Record<string, unknown>>
}

/**
 * A hook.
 *
 * **Contract**: return an answer, a promise of it, or an Effect of it, within `hookTimeoutMs`. Do not change the payload.
 */
export type Hook<Event extends HookEvent = HookEvent> = (
  payload: Payloads[Event],
  context: HookContext
) => Awaitable<HookAnswer>

/**
 * Hooks for the calls of some tools.
 *
 * **Details**: `match` is a case-sensitive search anywhere in the tool's name; write `^` and `$` for the whole name.
 * Without `match` the group is for every tool.
 */
interface HookGroup<Event extends ToolHookEvent = ToolHookEvent> {
  readonly match?: string | RegExp | undefined
  readonly hooks: ReadonlyArray<Hook<Event>>
}

/** Hooks, by event, in the order they run. */
export type Hooks = {
  readonly [Event in HookEvent]?:
    | ReadonlyArray<Event extends ToolHookEvent ? Hook<Event> | HookGroup<Event> : Hook<Event>>
    | undefined
}

/** The options of a run of hooks: signal, clock, timeout and context. */
export interface HookRun extends UserCall {
  readonly context?: Readonly<Record<string, unknown>> | undefined
}

/** The combined result of the hooks of a lifecycle event. Messages injected before a halt are kept. */
export interface LifecycleVerdict {
  readonly injects: ReadonlyArray<Message>
  readonly transform: string | undefined
  readonly params: RequestParams | undefined
  readonly halt: HookHalt | undefined
}

/**
 * Runs the hooks before a call until the first denial or halt. Each hook gets the arguments that the hook before it
 * set.
 */
export const preTool = async (hooks: Hooks, toolCall: ToolCall, run: HookRun): Promise<PreToolVerdict> => {
  let args: Readonly<Record<string, unknown>> | undefined
  for (const hook of hooksFor(hooks, "PreToolUse", toolCall.name)) {
    const judged: ToolCall = args === undefined ? toolCall : { ...toolCall, arguments: args }
    const userAnswer = await callHook(hook, copied(toolUse(judged)), run)
    if (userAnswer.type === "aborted") return userAnswer
    const verdict = Answers.preTool(userAnswer)
    if (verdict.type !== "allow") return verdict
    args = verdict.arguments ?? args
  }
  return args === undefined ? { type: "allow" } : { type: "allow", arguments: args }
}

/** Runs the hooks after a call until the first halt. Their texts are joined by a newline and kept at a halt. */
export const postTool = async (
  hooks: Hooks,
  payload: Payloads["PostToolUse"],
  run: HookRun
): Promise<PostToolVerdict> => {
  let text = ""
  for (const hook of hooksFor(hooks, "PostToolUse", payload.toolName)) {
    const userAnswer = await callHook(hook, copied(payload), run)
    if (userAnswer.type === "aborted") return userAnswer
    const answer = Answers.postTool(userAnswer)
    if (answer.type === "halt") return text === "" ? answer : { ...answer, text }
    if (answer.type === "augment") text = text === "" ? answer.text : `${text}\n${answer.text}`
  }
  return text === "" ? { type: "ok" } : { type: "augment", text }
}

/** Runs hooks and ignores their answers; the log gets their failures. */
export const notify = async <Event extends ToolHookEvent>(
  hooks: Hooks,
  event: Event,
  payload: Payloads[Event],
  run: HookRun
): Promise<void> => {
  for (const hook of hooksFor(hooks, event, payload.toolName)) {
    reportIgnored(event, await callHook(hook, copied(payload), run), run)
  }
}

/** The log gets the failure of a hook that changes nothing. */
const reportIgnored = (event: HookEvent, userAnswer: UserAnswer, { system }: HookRun): void => {
  if (userAnswer.type === "fault") reportFault(system, `A ${event} hook failed`, userAnswer.cause)
}

/** Runs the hooks of a lifecycle event until the first halt. Injected messages add up; the last transform counts. */
export const lifecycle = async <Event extends LifecycleEvent>(
  hooks: Hooks,
  event: Event,
  payload: Payloads[Event],
  run: HookRun
): Promise<LifecycleVerdict> => {
  const injects: Array<Message> = []
  let transform: string | undefined
  let params: RequestParams | undefined
  const list: ReadonlyArray<unknown> = hooks[event] ?? []
  for (const hook of list) {
    const userAnswer = await callHook(hook, { ...payload }, run)
    if (userAnswer.type === "aborted") break
    const answer = Answers.lifecycle(userAnswer)
    if (unanswered.has(event)) reportIgnored(event, userAnswer, run)
    else if (answer.type === "halt") return { injects, transform, params, halt: answer }
    if (answer.type === "inject") injects.push(...answer.messages)
    if (answer.type === "transform") transform = answer.prompt
    if (answer.type === "params") params = { ...params, ...answer.params }
  }
  return { injects, transform, params, halt: undefined }
}

/** The events whose hooks cannot halt, so every hook runs. */
const unanswered: ReadonlySet<LifecycleEvent> = new Set(["SessionStart", "Stop", "StopFailure", "SessionEnd"])

/** The payload of a hook about this call. */
export const toolUse = (toolCall: ToolCall): ToolUse => ({
  toolCall,
  toolName: toolCall.name,
  arguments: toolCall.arguments
})

/** Whether any of these events has a hook. */
export const has = (hooks: Hooks | undefined, ...events: ReadonlyArray<HookEvent>): boolean =>
  hooks !== undefined && events.some((event) => (hooks[event]?.length ?? 0) > 0)

/** The functions for a call of this tool, in order, with groups flattened in place. */
const hooksFor = (hooks: Hooks, event: ToolHookEvent, name: string): ReadonlyArray<unknown> =>
  (hooks[event] ?? []).flatMap((one: Hook<never> | HookGroup<never>): ReadonlyArray<unknown> => {
    if (typeof one === "function") return [one]
    const problem = groupProblem(one)
    if (problem !== undefined) return [new TypeError(problem)]
    return matches(one.match, name) ? one.hooks : []
  })

/** Calls one hook; a value that is no function is a fault. */
const callHook = (hook: unknown, payload: unknown, run: HookRun) =>
  callUser((signal) => {
    if (typeof hook === "function") return hook(payload, { signal, context: run.context ?? {} }) as unknown
    throw hook instanceof TypeError ? hook : new TypeError("a hook is a function; groups are for the events of tools")
  }, run)

/** What hooks can be called for, such as `PreToolUse`. */
export type HookEvent = keyof Payloads

/** The events about a tool call; their hooks can be grouped by the names of tools. */
export type ToolHookEvent =
  | "PermissionRequest"
  | "PreToolUse"
  | "PermissionDenied"
  | "ToolDenied"
  | "PostToolUse"
  | "PostToolUseFailure"

/** The events about a chat. */
export type LifecycleEvent = Exclude<HookEvent, ToolHookEvent>
