/**
 * The lifecycle hooks of a chat: when they are called, with what input, and the effect of their return values.
 *
 * Owns: which events are due. Does not own the order of the turn (the chart's), nor how one hook is called (`Hooks`).
 *
 * HOOK1. `UserPromptSubmit` is called once for every user message, before it is stored: for the first input of a turn, for
 *        a steering input, and for an input that a retry sends again because it could not be stored. Until then the input
 *        stays as it was sent.
 * HOOK2. `PreIteration`, then `ChatParams`, is called for every request except its retries. Messages that `PreIteration`
 *        injects are added to the thread; changes of `ChatParams` apply to this request only.
 * HOOK3. `Stop` or `StopFailure` is called for each turn's end. `SessionStart` is called before all others, once per
 *        process of a chat. `SessionEnd` is called after all others, once for a stopped chat, or a run.
 * HOOK4. A halt ends the turn with its reason, or `hook_crashed`. Messages that were sent or injected before stay in the
 *        thread.
 * HOOK5. A turn that is to stop calls only the hooks of its end, and waits for them at most the drain time.
 *
 * @source ExAthena.Hooks, lifecycle events
 */
import type { BeginState, ChatContext, EndState, StopState } from "./chatContext.ts"
import { type ChatResult, isNudge } from "../record/index.ts"
import { has } from "../gate/index.ts"
import type { Message, UserMessage } from "../model/index.ts"
import * as Thread from "../model/Thread.ts"
import { beginning, ended, stopOf, turnOf } from "./transitions.ts"
import type { Aside } from "./hookProgress.ts"
import type { Turn } from "../inbox/index.ts"
import type { Terminal } from "../stopConditions/index.ts"

/** The user messages that are in the thread, and whether they are stored. */
type PromptState = Pick<ChatContext, "once" | "arriving" | "steps" | "thread">

/** The state that decides whether hooks are due before a turn's first request. */
export type BeginHooksState = StopState & PromptState & Pick<ChatContext, "notified" | "result">

/** The state that decides which hooks are due after a turn. */
export type EndHooksState = Pick<ChatContext, "once" | "turn" | "result" | "refusal" | "notified">

/** Whether hooks are due for the process's first turn, or for a user message. */
export const mustBegin = (context: BeginHooksState): boolean => {
  const hooks = context.turn?.options.hooks
  if (hooks === undefined || context.result !== undefined || stopOf(context) !== undefined) return false
  const { started, prompted } = context.notified
  if (!started && has(hooks, "SessionStart")) return true
  return !prompted && has(hooks, "UserPromptSubmit") && promptsOf(context).length > 0
}

/** Whether hooks are due for the next request. */
export const mustAnnounce = ({ notified, turn }: Pick<ChatContext, "notified" | "turn">): boolean =>
  !notified.announced && has(turn?.options.hooks, "PreIteration", "ChatParams")

/** Whether hooks are due for the end of the turn. */
export const mustReport = (context: EndHooksState): boolean =>
  !context.notified.reported && context.turn?.options.hooks !== undefined && endings(context).length > 0

/** The end events that have hooks; for a run that was refused at once, `SessionEnd` only. */
export const endings = (context: EndHooksState): ReadonlyArray<"Stop" | "StopFailure" | "SessionEnd"> => {
  const { once, result, refusal, notified } = context
  const { hooks } = turnOf(context).options
  const found: Array<"Stop" | "StopFailure" | "SessionEnd"> = []
  if (result !== undefined) found.push(isFailure(result) ? "StopFailure" : "Stop")
  if (once && (result ?? refusal) !== undefined && (notified.started || !has(hooks, "SessionStart")))
    found.push("SessionEnd")
  return found.filter((event) => has(hooks, event))
}

/** The reasons of a turn that ended by failure. A halt by a hook is a failure too. */
const failures: ReadonlySet<string> = new Set([
  "error",
  "max_turns",
  "tool_error",
  "cancelled",
  "budget_tokens",
  "budget_cost",
  "budget_time",
  "consecutive_mistakes",
  "no_progress",
  "hook_crashed"
])

const isFailure = ({ haltedReason, metadata }: ChatResult): boolean =>
  failures.has(haltedReason) || metadata["haltHook"] !== undefined

/** The results of hooks. */
export type Verdict =
  | { readonly type: "begin"; readonly said: ReadonlyArray<Said>; readonly terminal: Terminal | undefined }
  | {
      readonly type: "announce"
      readonly injects: ReadonlyArray<Message>
      readonly aside: Aside | undefined
      readonly terminal: Terminal | undefined
    }
  | { readonly type: "report" }

/** A user message as the thread has it: the text after the hooks, and the messages that hooks added after it. */
export interface Said {
  readonly prompt: UserMessage
  readonly messages: ReadonlyArray<Message>
}

/** The state in which hooks replace user messages. */
type RewordState = BeginState & Pick<ChatContext, "arriving" | "before" | "once" | "turn">

/** The context after hooks. Without a verdict the turn is to stop, and does not wait for the hooks. */
export const afterHooks = (
  context: RewordState & EndState & Pick<ChatContext, "notified" | "result" | "refusal" | "committed">,
  verdict: Verdict | undefined
): Partial<ChatContext> => {
  const { notified } = context
  if (verdict === undefined) {
    const isOver = (context.result ?? context.refusal) !== undefined
    return { notified: isOver ? { ...notified, reported: true } : { ...notified, started: true, prompted: true } }
  }
  switch (verdict.type) {
    case "begin": {
      const next = { notified: { ...notified, started: true, prompted: true }, thread: retold(context, verdict.said) }
      return { ...next, ...halting({ ...context, ...next }, verdict.terminal) }
    }
    case "announce": {
      const { injects, aside, terminal } = verdict
      const next = {
        notified: { ...notified, announced: true },
        aside,
        thread: injects.length === 0 ? context.thread : Thread.append(context.thread, ...injects),
        committed: context.committed && injects.length === 0
      }
      return { ...next, ...halting({ ...context, ...next }, terminal) }
    }
    case "report":
      return { notified: { ...notified, reported: true } }
  }
}

const halting = (context: EndState, terminal: Terminal | undefined): Partial<ChatContext> =>
  terminal === undefined ? {} : ended(context, terminal)

/** The user messages that are in the thread and not yet stored. */
export const promptsOf = ({ once, arriving, steps, thread }: PromptState): ReadonlyArray<UserMessage> => {
  if (!once) return arriving.flatMap(({ messages }) => messages.filter(isPrompt))
  const last = steps.length === 0 ? thread.messages.at(-1) : undefined
  return last !== undefined && isPrompt(last) ? [last] : []
}

const isPrompt = (message: Message): message is UserMessage => message.role === "user" && !isNudge(message)

/** The thread with the user messages as hooks changed them. */
const retold = (context: RewordState, said: ReadonlyArray<Said>): Thread.Thread => {
  const { arriving, before, once, thread, turn } = context
  if (said.length === 0) return thread
  const made = new Map<Message, ReadonlyArray<Message>>(said.map(({ prompt, messages }) => [prompt, messages]))
  const remade = (messages: ReadonlyArray<Message>) => messages.flatMap((message) => made.get(message) ?? [message])
  if (once || before === undefined) return { ...thread, messages: remade(thread.messages) }
  const again = arriving.map((one): Turn => ({ ...one, messages: remade(one.messages) }))
  const began = turn === undefined ? -1 : arriving.indexOf(turn)
  const beginner = again[began]
  if (beginner === undefined) return Thread.append(before.thread, ...again.flatMap(({ messages }) => messages))
  // The messages of a retry come after the input that could not be stored.
  const unstored = again.find((_, index) => index !== began)
  return beginning({ ...context, thread: before.thread, interrupted: before.interrupted, unstored }, beginner)
}
