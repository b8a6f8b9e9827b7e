/**
 * The hooks of a chat's life: what they are told and when, and what their answers change.
 *
 * Owns: which events are due. Does not own the order of the turn (the chart's), nor how one hook is asked (`Hooks`).
 *
 * HOOK1. `UserPromptSubmit` hears of everything that a person says, once, before it is stored: what begins a turn, what steers
 *        one, and what a retry says again because it could not be stored. The input itself stays as it was sent, until then.
 * HOOK2. `PreIteration`, then `ChatParams`, hear of every request but its retries. What the former inject is in the thread;
 *        what the latter want holds for this request alone.
 * HOOK3. `Stop` or `StopFailure` hears of each turn's end. `SessionStart` comes before all others, once for a chat's process,
 *        `SessionEnd` after all others, once for a chat that is stopped, or a run.
 * HOOK4. A halt ends the turn with its reason, or `hook_crashed`; what was said and injected before is in the thread.
 * HOOK5. A turn that is to stop asks no hooks but those of its end, and gives those no more time than it drains.
 *
 * @source ExAthena.Hooks, lifecycle events
 */
import type { ChatContext } from "./chatContext.ts"
import { type ChatResult, isNudge } from "../record/index.ts"
import { has } from "../gate/index.ts"
import type { Message, UserMessage } from "../model/index.ts"
import * as Thread from "../model/Thread.ts"
import { beginning, ended, stopOf, turnOf } from "./transitions.ts"
import type { Aside } from "./hookProgress.ts"
import type { Turn } from "../inbox/index.ts"
import type { Terminal } from "../policy/index.ts"

/** Whether hooks are to hear of the process's first turn, or of what a person said. */
export const mustBegin = (context: ChatContext): boolean => {
  const hooks = context.turn?.options.hooks
  if (hooks === undefined || context.result !== undefined || stopOf(context) !== undefined) return false
  const { started, prompted } = context.notified
  if (!started && has(hooks, "SessionStart")) return true
  return !prompted && has(hooks, "UserPromptSubmit") && promptsOf(context).length > 0
}

/** Whether hooks are to hear of the next request. */
export const mustAnnounce = ({ notified, turn }: ChatContext): boolean =>
  !notified.announced && has(turn?.options.hooks, "PreIteration", "ChatParams")

/** Whether hooks are to hear that the turn is over. */
export const mustReport = (context: ChatContext): boolean =>
  !context.notified.reported && context.turn?.options.hooks !== undefined && endings(context).length > 0

/** The events of the end, as far as somebody listens; of a run that was refused at once only that it is over. */
export const endings = (context: ChatContext): ReadonlyArray<"Stop" | "StopFailure" | "SessionEnd"> => {
  const { once, result, refusal, notified } = context
  const { hooks } = turnOf(context).options
  const found: Array<"Stop" | "StopFailure" | "SessionEnd"> = []
  if (result !== undefined) found.push(isFailure(result) ? "StopFailure" : "Stop")
  if (once && (result ?? refusal) !== undefined && (notified.started || !has(hooks, "SessionStart")))
    found.push("SessionEnd")
  return found.filter((event) => has(hooks, event))
}

/** The reasons that nobody meant a turn to end for; those of hooks are among them. */
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

/** What hooks came to. */
export type Verdict =
  | { readonly type: "begin"; readonly said: ReadonlyArray<Said>; readonly terminal: Terminal | undefined }
  | {
      readonly type: "announce"
      readonly injects: ReadonlyArray<Message>
      readonly aside: Aside | undefined
      readonly terminal: Terminal | undefined
    }
  | { readonly type: "report" }

/** What is in the thread of something that a person said: their words as hooks left them, and what hooks put behind. */
export interface Said {
  readonly prompt: UserMessage
  readonly messages: ReadonlyArray<Message>
}

/** What hooks change; without a verdict the turn is to stop, and does not wait for them. */
export const afterHooks = (context: ChatContext, verdict: Verdict | undefined): Partial<ChatContext> => {
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

const halting = (context: ChatContext, terminal: Terminal | undefined): Partial<ChatContext> =>
  terminal === undefined ? {} : ended(context, terminal)

/** What persons said that is in the thread by now, and is not stored. */
export const promptsOf = ({ once, arriving, steps, thread }: ChatContext): ReadonlyArray<UserMessage> => {
  if (!once) return arriving.flatMap(({ messages }) => messages.filter(isPrompt))
  const last = steps.length === 0 ? thread.messages.at(-1) : undefined
  return last !== undefined && isPrompt(last) ? [last] : []
}

const isPrompt = (message: Message): message is UserMessage => message.role === "user" && !isNudge(message)

/** The thread with what hooks made of what was said. */
const retold = (context: ChatContext, said: ReadonlyArray<Said>): Thread.Thread => {
  const { arriving, before, once, thread, turn } = context
  if (said.length === 0) return thread
  const made = new Map<Message, ReadonlyArray<Message>>(said.map(({ prompt, messages }) => [prompt, messages]))
  const remade = (messages: ReadonlyArray<Message>) => messages.flatMap((message) => made.get(message) ?? [message])
  if (once || before === undefined) return { ...thread, messages: remade(thread.messages) }
  const again = arriving.map((one): Turn => ({ ...one, messages: remade(one.messages) }))
  const began = turn === undefined ? -1 : arriving.indexOf(turn)
  const beginner = again[began]
  if (beginner === undefined) return Thread.append(before.thread, ...again.flatMap(({ messages }) => messages))
  // A retry brings what could not be stored, behind itself.
  const unstored = again.find((_, index) => index !== began)
  return beginning({ ...context, thread: before.thread, interrupted: before.interrupted, unstored }, beginner)
}
