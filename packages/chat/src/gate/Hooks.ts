/**
 * Hooks: functions told of what a chat and its tools are about to do, or did, that may have a say in it.
 *
 * | event                | told                                        | what counts of the answers              |
 * | -------------------- | ------------------------------------------- | --------------------------------------- |
 * | `SessionStart`       | a chat's process runs its first turn        | nothing                                 |
 * | `UserPromptSubmit`   | a person said something                     | inject, transform, halt                 |
 * | `PreIteration`       | a request is about to be made               | inject, halt                            |
 * | `ChatParams`         | the same, with the request                  | params and inject, for this one; halt   |
 * | `PermissionRequest`  | somebody is about to be asked about a call  | nothing                                 |
 * | `PreToolUse`         | a call was permitted and has not started    | deny, halt, allow with other arguments  |
 * | `PermissionDenied`   | a call was refused                          | nothing                                 |
 * | `ToolDenied`         | the same, where the refusal has a code      | nothing                                 |
 * | `PostToolUse`        | a tool's handler has ended                  | augment, halt                           |
 * | `PostToolUseFailure` | a call has failed                           | nothing                                 |
 * | `Stop`               | a turn ended as somebody meant it to        | nothing                                 |
 * | `StopFailure`        | a turn ended otherwise                      | nothing                                 |
 * | `SessionEnd`         | the chat is stopped, or the run is over     | nothing                                 |
 *
 * The hooks of an event run one after another, in their order; each is waited for. A halt, or a refusal where it counts, is the
 * last word: later hooks do not run. A hook that throws, rejects or gives no answer in time, is a halt with the reason
 * `hook_crashed`, where a halt counts; elsewhere it changes nothing. An answer that does not count, or that is none, means
 * that the hook has nothing to say.
 *
 * @module
 */
import type { ChatResult, HaltedReason, Mode } from "../record/index.ts"
import { copied } from "../json/index.ts"
import { callUser, type UserCall } from "../async/index.ts"
import * as Answers from "./hookVerdict.ts"
import { groupProblem, matches } from "./hookGroup.ts"
import type { Message, Outcome, Request, ToolCall } from "../model/index.ts"
import type { Denial } from "./Permissions.ts"
import type { Awaitable } from "../tool/index.ts"
import type { HookHalt, PreToolVerdict, PostToolVerdict } from "./hookVerdict.ts"
import type { RequestParams } from "./requestParams.ts"

export type { RequestParams } from "./requestParams.ts"

export type { HookHalt, PreToolVerdict, PostToolVerdict } from "./hookVerdict.ts"

/** What every hook about a tool call is told. */
export interface ToolUse {
  readonly toolCall: ToolCall
  readonly toolName: string
  readonly arguments: Readonly<Record<string, unknown>> | null
}

/** What the hooks of each event are told. */
export interface Payloads {
  readonly SessionStart: {
    readonly sessionId: string | undefined
    /** Whether there was nothing in the thread, or something to go on with. */
    readonly source: "new" | "revived"
    readonly messages: ReadonlyArray<Message>
  }
  readonly UserPromptSubmit: {
    readonly prompt: string
    readonly sessionId: string | undefined
    readonly messages: ReadonlyArray<Message>
  }
  readonly PreIteration: {
    /** How many steps of the turn are over. */
    readonly iteration: number
    /** How many replies in a row changed nothing, the last one included. */
    readonly unproductiveIterations: number
    /** Equal for replies of the same calls and results; absent before the first. */
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
  readonly Stop: Ended
  readonly StopFailure: Ended
  readonly SessionEnd: {
    readonly sessionId: string | undefined
    /** How the last turn ended; absent where none did. */
    readonly haltedReason: HaltedReason | undefined
    readonly messages: ReadonlyArray<Message>
  }
}

/** What the hooks at the end of a turn are told. */
export interface Ended {
  readonly sessionId: string | undefined
  readonly haltedReason: HaltedReason
  readonly result: ChatResult
}

/**
 * What a hook can answer.
 *
 * - nothing, `"ok"`, `"allow"`: go on
 * - `allow` with `arguments`: the call runs with those instead, once they fit the tool's schema
 * - `deny`: the call does not run; the model reads the reason. A {@link Denial} says it for programs, too
 * - `halt`: the turn ends with this reason, text of the hook's own; `"halt"` if there is none
 * - `inject`: these messages are added to the thread, or, at `ChatParams`, to this request alone. What is no message of the
 *   system, a person or the model is left out
 * - `params`: this request is made with these options instead
 * - `transform`: this is what the person said, instead
 * - `augment`: this is added to the tool's result, after a blank line
 *
 * A word alone is the answer without its details; an `async` function answers with the object, since TypeScript takes the
 * word for any text.
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

/** What a hook is handed beside its payload: `signal` is aborted when nobody waits for it any more. */
export interface HookContext {
  readonly signal: AbortSignal
  readonly context: Readonly<Record<string, unknown>>
}

/**
 * A hook.
 *
 * **Contract**: return an answer, a promise of it, or an Effect of it, within `hookTimeoutMs`. What it is told is not to be
 * changed.
 */
export type Hook<Event extends HookEvent = HookEvent> = (
  payload: Payloads[Event],
  context: HookContext
) => Awaitable<HookAnswer>

/**
 * Hooks for the calls of some tools.
 *
 * **Details**: `match` is searched for anywhere in the tool's name, upper and lower case apart; write `^` and `$` for the
 * whole name. Without it the group is for every tool.
 */
export interface HookGroup<Event extends ToolHookEvent = ToolHookEvent> {
  readonly match?: string | RegExp | undefined
  readonly hooks: ReadonlyArray<Hook<Event>>
}

/** Hooks, by event, in the order they run. */
export type Hooks = {
  readonly [Event in HookEvent]?:
    | ReadonlyArray<Event extends ToolHookEvent ? Hook<Event> | HookGroup<Event> : Hook<Event>>
    | undefined
}

/** How hooks are run: until when, on whose clock, and what they are handed. */
export interface HookRun extends UserCall {
  readonly context?: Readonly<Record<string, unknown>> | undefined
}

/** What the hooks of a lifecycle event came to; what was injected before a halt stays. */
export interface LifecycleVerdict {
  readonly injects: ReadonlyArray<Message>
  readonly transform: string | undefined
  readonly params: RequestParams | undefined
  readonly halt: HookHalt | undefined
}

/** Runs the hooks before a call: the first refusal or halt is the last word, each sees the arguments as the last left them. */
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

/** Runs the hooks after a call: texts are joined by a newline, a halt is the last word and keeps them. */
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

/** Tells hooks whose answers do not count; a fault of theirs changes nothing. */
export const notify = async <Event extends ToolHookEvent>(
  hooks: Hooks,
  event: Event,
  payload: Payloads[Event],
  run: HookRun
): Promise<void> => {
  for (const hook of hooksFor(hooks, event, payload.toolName)) await callHook(hook, copied(payload), run)
}

/** Runs the hooks of a lifecycle event: injected messages add up, the last transform counts, a halt is the last word. */
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
    if (answer.type === "halt" && !unanswered.has(event)) return { injects, transform, params, halt: answer }
    if (answer.type === "inject") injects.push(...answer.messages)
    if (answer.type === "transform") transform = answer.prompt
    if (answer.type === "params") params = { ...params, ...answer.params }
  }
  return { injects, transform, params, halt: undefined }
}

/** The events whose hooks have no say, so that none of them keeps the others from being told. */
const unanswered: ReadonlySet<LifecycleEvent> = new Set(["SessionStart", "Stop", "StopFailure", "SessionEnd"])

/** What a hook about a call is told of it. */
export const toolUse = (toolCall: ToolCall): ToolUse => ({
  toolCall,
  toolName: toolCall.name,
  arguments: toolCall.arguments
})

/** Whether any of these events has a hook. */
export const has = (hooks: Hooks | undefined, ...events: ReadonlyArray<HookEvent>): boolean =>
  hooks !== undefined && events.some((event) => (hooks[event]?.length ?? 0) > 0)

/** The functions for a call of this tool, in order; a group's come one after another in its place. */
const hooksFor = (hooks: Hooks, event: ToolHookEvent, name: string): ReadonlyArray<unknown> =>
  (hooks[event] ?? []).flatMap((one: Hook<never> | HookGroup<never>): ReadonlyArray<unknown> => {
    if (typeof one === "function") return [one]
    const problem = groupProblem(one)
    if (problem !== undefined) return [new TypeError(problem)]
    return matches(one.match, name) ? one.hooks : []
  })

/** Asks one hook; what is none has a fault. */
const callHook = (hook: unknown, payload: unknown, run: HookRun) =>
  callUser((signal) => {
    if (typeof hook === "function") return hook(payload, { signal, context: run.context ?? {} }) as unknown
    throw hook instanceof TypeError ? hook : new TypeError("a hook is a function; groups are for the events of tools")
  }, run)

/** The events a hook can stand on. */
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
