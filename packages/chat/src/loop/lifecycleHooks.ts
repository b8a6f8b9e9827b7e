/**
 * The lifecycle hooks of a chat: when they are called, with what input, and the effect of their return values.
 *
 * Owns: which events are due. Does not own the order of the turn (the chart's), nor how one hook is called (`Hooks`).
 *
 * HOOK1. `UserPromptSubmit` is called once for every user message, before it is stored: for the first input of a turn, for
 *        a steering input, and again when the input runs because it could not be stored. Until then the input stays as it
 *        was sent.
 * HOOK2. `PreIteration`, then `ChatParams`, is called for every request except its retries. Messages that `PreIteration`
 *        injects are added to the thread; changes of `ChatParams` apply to this request only.
 * HOOK3. `Stop` or `StopFailure` is called for each turn's end. `SessionStart` is called before all others, once per
 *        process of a chat. `SessionEnd` is called after all others, once for a stopped chat, or a run.
 * HOOK4. A halt ends the turn with its reason, or `hook_crashed`. Messages that were sent or injected before stay in the
 *        thread.
 * HOOK6. Metadata that the host has after the hooks of a turn's end is stored with the turn's last message, unless that is
 *        the user's. A turn whose hooks add none is not stored again.
 *
 * @source ExAthena.Hooks, lifecycle events
 */
import type { ChatContext, ChatEvent, Verdict } from "./chatContext.ts"
import { type ChatResult, type Conversation, isNudge } from "../record/index.ts"
import { changesOf } from "../compaction/index.ts"
import type { Message, UserMessage } from "../model/index.ts"
import * as Thread from "../model/Thread.ts"
import { begunWith } from "./beginTurn.ts"
import { atMoment, ended } from "./endTurn.ts"
import * as Inbox from "../inbox/Inbox.ts"
import { naming, type TurnData } from "../inbox/index.ts"
import { held, type Held, original } from "../values/index.ts"
import type { LifecycleEvent } from "../gate/index.ts"
import type { Terminal } from "../step/index.ts"

type EndEvent = "Stop" | "StopFailure" | "SessionEnd"

const has = ({ facts }: ChatContext, event: LifecycleEvent): boolean => facts.hooks.includes(event)

/** Whether hooks are due for the process's first turn, or for a user message. */
export const mustBegin = ({ context }: { readonly context: ChatContext }): boolean => {
  const { facts, notified, result, stopped } = context
  if (facts.hooks.length === 0 || result !== undefined || stopped !== undefined) return false
  if (!notified.started && has(context, "SessionStart")) return true
  return !notified.prompted && has(context, "UserPromptSubmit") && promptsOf(context).length > 0
}

/** Whether hooks are due for the next request. */
export const mustAnnounce = ({ context }: { readonly context: ChatContext }): boolean =>
  !context.notified.announced && (has(context, "PreIteration") || has(context, "ChatParams"))

/** Whether hooks are due for the end of the turn. */
export const mustReport = ({ context }: { readonly context: ChatContext }): boolean =>
  !context.notified.reported && context.facts.hooks.length > 0 && endings(context).length > 0

/** The end events that have hooks; for a run that was refused at once, `SessionEnd` only. */
const endings = (context: ChatContext): ReadonlyArray<EndEvent> => {
  const { until, result, refusal, notified } = context
  const found: Array<EndEvent> = []
  if (result !== undefined) found.push(isFailure(original(result)) ? "StopFailure" : "Stop")
  if (until !== undefined && (result ?? refusal) !== undefined && (notified.started || !has(context, "SessionStart")))
    found.push("SessionEnd")
  return found.filter((event) => has(context, event))
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
  "max_chain_requests",
  "max_tree_requests",
  "consecutive_mistakes",
  "no_progress",
  "hook_crashed"
])

const isFailure = ({ haltedReason, metadata }: Pick<ChatResult, "haltedReason" | "metadata">): boolean =>
  failures.has(haltedReason) || metadata["haltHook"] !== undefined

/** What the turn that has ended changes of the memories (MEMO1). */
export const rememberedBy = ({ result, turn, record: { thread, inputs = [] } }: ChatContext) => {
  if (result === undefined || turn?.compacts === true) return undefined
  const end = original(result)
  if (isFailure(end)) return undefined
  const continues = turn?.messages.every(({ role }) => role === "tool") === true
  const hasCalls = continues || end.steps.some(({ toolResults }) => toolResults.length > 0)
  return hasCalls ? changesOf(thread.messages, inputs, continues) : undefined
}

/** The hooks that are due, with the data they read. `stopping` is whether the turn is to stop (HOOK5). */
export type DueHooks = {
  readonly turn: string
  readonly agent: string | undefined
  readonly thread: Thread.Thread
} & (
  | {
      readonly due: "begin"
      /** The thread before the messages of the turn, if `SessionStart` is due. */
      readonly started: Thread.Thread | undefined
      readonly prompts: ReadonlyArray<UserMessage>
    }
  | { readonly due: "announce"; readonly iteration: number; readonly isSecond: boolean }
  | {
      readonly due: "report"
      readonly events: ReadonlyArray<EndEvent>
      readonly result: Held<ChatResult> | undefined
      readonly stopping: boolean
      readonly lastHaltedReason: Conversation["lastHaltedReason"]
    }
)

/** The hooks that are due now. */
export const dueHooks = (context: ChatContext): DueHooks => {
  const { record, before, notified, steps, firstPass, result, refusal, stopped } = context
  const { thread, lastHaltedReason } = record
  const at = { turn: context.turn?.id ?? "", agent: record.agent?.name, thread }
  if (mustBegin({ context })) {
    const started = notified.started ? undefined : (before?.thread ?? thread)
    return { due: "begin", ...at, started, prompts: notified.prompted ? [] : promptsOf(context) }
  }
  if (result === undefined && refusal === undefined) {
    return { due: "announce", ...at, iteration: steps.length, isSecond: firstPass !== undefined }
  }
  const stopping = stopped !== undefined
  return { due: "report", ...at, events: endings(context), result, stopping, lastHaltedReason }
}

/** The context after hooks. */
export const afterHooks = (
  context: ChatContext,
  event: Extract<ChatEvent, { readonly type: "hooks.answered" }>
): Partial<ChatContext> => {
  const at = atMoment(context, event)
  return { ...at, ...answered({ ...context, ...at }, event.verdict) }
}

const answered = (context: ChatContext, verdict: Verdict): Partial<ChatContext> => {
  const { notified, record } = context
  switch (verdict.type) {
    case "begin": {
      const retelling = { ...record, thread: retold(context, verdict.said) }
      const next = { notified: { ...notified, started: true, prompted: true }, record: retelling }
      return { ...next, ...halting({ ...context, ...next }, verdict.terminal) }
    }
    case "announce": {
      const { injects, aside, terminal } = verdict
      const next = {
        notified: { ...notified, announced: true },
        aside,
        record: injects.length === 0 ? record : { ...record, thread: Thread.append(record.thread, ...injects) },
        committed: context.committed && injects.length === 0
      }
      return { ...next, ...halting({ ...context, ...next }, terminal) }
    }
    case "report":
      return { notified: { ...notified, reported: true }, ...withMetadata(context, verdict.metadata) }
  }
}

/** The turn's last message with this metadata, which is to be stored (HOOK6). A list is added to the list that the message has. */
const withMetadata = (
  { record, result }: ChatContext,
  added: Readonly<Record<string, unknown>> | undefined
): Partial<ChatContext> => {
  const { messages } = record.thread
  const last = messages.at(-1)
  if (added === undefined || last === undefined || last.role === "system" || last.role === "user") return {}
  const metadata = { ...last.metadata }
  for (const [name, value] of Object.entries(added)) {
    const known = metadata[name]
    metadata[name] = Array.isArray(known) && Array.isArray(value) ? [...known, ...value] : value
  }
  const next = { ...record.thread, messages: [...messages.slice(0, -1), { ...last, metadata }] }
  return {
    record: { ...record, thread: next },
    committed: false,
    ...(result !== undefined && { result: held<ChatResult>({ ...original(result), thread: next }) })
  }
}

/** The context of a turn that is to stop and does not wait for its hooks. */
export const withoutHooks = ({ notified, result, refusal }: ChatContext): Pick<ChatContext, "notified"> => ({
  notified:
    (result ?? refusal) === undefined ? { ...notified, started: true, prompted: true } : { ...notified, reported: true }
})

const halting = (context: ChatContext, terminal: Held<Terminal> | undefined): Partial<ChatContext> =>
  terminal === undefined ? {} : ended(context, original(terminal))

/** The user messages that are in the thread and not yet stored. */
const promptsOf = ({ until, inbox, steps, record }: ChatContext): ReadonlyArray<UserMessage> => {
  if (until === undefined) return Inbox.taken(inbox).flatMap((one) => naming(one).messages.filter(isPrompt))
  const last = steps.length === 0 ? record.thread.messages.at(-1) : undefined
  return last !== undefined && isPrompt(last) ? [last] : []
}

const isPrompt = (message: Message): message is UserMessage => message.role === "user" && !isNudge(message)

/** The thread with the messages that hooks made of each user message, in order. */
const retold = (context: ChatContext, said: ReadonlyArray<ReadonlyArray<Message>>): Thread.Thread => {
  const { inbox, before, until, turn } = context
  const { thread } = context.record
  if (said.length === 0) return thread
  if (until !== undefined || before === undefined) {
    const { messages } = thread
    return { ...thread, messages: [...messages.slice(0, -1), ...(said[0] ?? messages.slice(-1))] }
  }
  const left = [...said]
  const remade = (message: Message) => (isPrompt(message) ? (left.shift() ?? [message]) : [message])
  const again = Inbox.taken(inbox).map((one): TurnData => ({ ...one, messages: naming(one).messages.flatMap(remade) }))
  const beginner = again.find(({ id }) => id === turn?.id)
  if (beginner === undefined) return Thread.append(before.thread, ...again.flatMap(({ messages }) => messages))
  return begunWith({ ...context, record: before, turn: undefined }, beginner).thread
}
