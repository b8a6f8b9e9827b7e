/**
 * The state of a chat that starts from a record, and the process of a chat that runs one turn.
 *
 * CHAT5. When started with a turn of its own, the machine runs that turn and ends with its result.
 */
import { Clock, Process, StateMachine } from "@troupe/otp"
import type { ChatInput, ChatOutput, ChatStart } from "./chatContext.ts"
import type { PreflightError } from "../errors/index.ts"
import {
  type AgentRef,
  type ChatResult,
  type Conversation,
  endInputOf,
  isEndInput,
  type OpenCall,
  type StepResult,
  tasksOf
} from "../record/index.ts"
import { type AnswerForm, type Decided, firstExpiry, revived } from "../step/index.ts"
import { boundedBy, expired, hasExpired } from "./suspensionExpiry.ts"
import type { Engine } from "../tool/index.ts"
import { isInterruption, beginTurn, initialContext } from "./beginTurn.ts"
import { json, original } from "../values/index.ts"
import * as Inbox from "../inbox/Inbox.ts"
import { chatMachine } from "./ChatMachine.ts"
import { type ChatEnv, lifecycleEvents } from "./chatEnv.ts"
import type { Hooks } from "../gate/index.ts"
import { EventStream, outletIn } from "../events/index.ts"
import type { Message, Thread } from "../model/index.ts"
import type { RunOptions } from "../options/index.ts"
import { recordOf } from "./endTurn.ts"

/**
 * What a chat starts from. `cutOff` is the text of the interrupted reply, if the record does not have it. `engine` has the tools of
 * the calls that are open. `agent` is that of the next request; by default the one of the record.
 */
export interface ChatOrigin {
  readonly id: string
  readonly engine: Engine
  readonly clock?: Clock.Clock | undefined
  readonly record?: Conversation | undefined
  readonly cutOff?: string | undefined
  readonly stores?: boolean | undefined
  readonly suspendedTtlMs?: number | undefined
  readonly answer?: AnswerForm | undefined
  readonly agent?: AgentRef | undefined
}

/** The input of the chart of a chat: what its record says, as the time and the tools make it. */
export const chatStart = (origin: ChatOrigin): ChatInput => {
  const { id, record, clock = Clock.live, stores = false, answer, agent = record?.agent } = origin
  const suspendedTtlMs = origin.suspendedTtlMs === Infinity ? undefined : origin.suspendedTtlMs
  const now = Math.floor(clock.now())
  const start = record === undefined ? undefined : startOf(record, { ...origin, agent, suspendedTtlMs, now })
  return { id, start, now, stores, suspendedTtlMs, answer, agent }
}

/** The record of a chat that starts from a record: without a turn in the middle, and without a wait that has expired. */
export const started = (record: Conversation, engine: Engine, clock: Clock.Clock): Conversation =>
  recordOf(initialContext({ input: chatStart({ id: record.id, engine, clock, record }) }))

/** An expired wait is over. `committed` is false if the store does not have the new state yet. */
const startOf = (
  record: Conversation,
  {
    engine,
    cutOff,
    suspendedTtlMs,
    agent,
    now
  }: Pick<ChatOrigin, "engine" | "cutOff" | "suspendedTtlMs" | "agent"> & { readonly now: number }
): ChatStart => {
  const { thread, open: left, pendingQuestion, pendingToolCalls } = revived(record, engine, now)
  const open = boundedBy({ suspendedTtlMs, now }, left)
  const running = isInterruption(record, { open, pendingQuestion, pendingToolCalls })
  const { inbox: _, version: __, status: ___, lastOutcome: ____, ...kept } = record
  const tasks = tasksOf(record)
  const begun: Conversation = {
    ...kept,
    thread,
    running,
    draft: running ? cutOff || record.draft || undefined : undefined,
    pendingQuestion,
    pendingToolCalls,
    open,
    expiresAt: record.expiresAt ?? (open === undefined ? undefined : firstExpiry(open)),
    tasks: tasks.length === 0 ? undefined : tasks
  }
  const inbox = inboxOf(record)
  if (hasExpired(begun, now)) {
    const rules = { toolResultEncoder: engine.toolResultEncoder ?? json }
    const after = { ...begun, ...expired({ ...begun, suspendedTtlMs }, rules, now) }
    return { record: after, inbox, committed: false }
  }
  const isKnown = open === undefined || open.calls.every((call, at) => isSameWait(call, record.open?.calls[at]))
  const isOfAgent = agent?.name === record.agent?.name
  return { record: begun, inbox, committed: isKnown && isOfAgent && (!running || cutOff === undefined) }
}

/**
 * A late write can leave the row of an input that the thread has. A rewind to before the call of a background task leaves the
 * row of its end, which is not reported (BG8). The next commit removes both.
 */
const inboxOf = (record: Conversation): Inbox.Inbox => {
  const { inbox = [], inputs = [], known = [] } = record
  if (inbox.length === 0) return Inbox.empty
  const ends = new Set(tasksOf(record).map(({ id }) => endInputOf(id)))
  const unasked = inbox.flatMap(({ id }) => (isEndInput(id) && !ends.has(id) ? [id] : []))
  return Inbox.holding(inbox, new Set([...inputs, ...known, ...unasked]))
}

const isSameWait = (call: OpenCall, kept: OpenCall | undefined): boolean =>
  call.state !== "waiting" || (kept?.state === "waiting" && kept.expiresAt === call.expiresAt)

/** A turn to run on the chat of `input`. */
export interface TurnToRun {
  readonly input: ChatInput
  readonly messages?: ReadonlyArray<Message>
  readonly decisions?: ReadonlyArray<Decided> | undefined
}

/** The options of a turn that ends after its first step: it has neither the lifecycle hooks nor the stop conditions of a turn. */
export const stepOptions = (options: RunOptions): RunOptions => ({
  ...options,
  ...withoutConditions,
  maxTurns: 1,
  hooks: toolHooks(options.hooks)
})

/** The hooks of tool calls. */
const toolHooks = (hooks: Hooks = {}): Hooks =>
  Object.fromEntries(Object.entries(hooks).filter(([event]) => !lifecycleEvents.some((one) => one === event)))

const withoutConditions = {
  haltWhen: undefined,
  budget: undefined,
  maxMistakes: undefined,
  maxUnproductive: undefined,
  structuredFinalize: undefined
}

/** The end of a turn that ran alone, or of its only step, with the values that it holds. */
export type EndedTurn =
  | { readonly type: "left" }
  | { readonly type: "completed"; readonly result: ChatResult }
  | { readonly type: "stepped"; readonly result: StepResult }
  | { readonly type: "refused"; readonly error: PreflightError }

const endOf = (end: ChatOutput): EndedTurn => {
  switch (end.type) {
    case "completed":
      return { type: end.type, result: original(end.result) }
    case "stepped":
      return { type: end.type, result: original(end.result) }
    case "refused":
      return { type: end.type, error: original(end.error) }
    case "left":
      return end
  }
}

/** Runs one turn of a chat in a process of its own, and returns its events. */
export const streamTurn = (
  options: RunOptions,
  env: ChatEnv,
  { input, messages = [], decisions }: TurnToRun
): EventStream<EndedTurn> => {
  const outlet = outletIn(options.system)
  const said = { messages, ...(decisions !== undefined && { decisions }) }
  const isStep = input.until === "step"
  const start = () => {
    if (isStep) options.signal?.throwIfAborted()
    const turn = env.add({ ...said, options, outlet })
    const label = isStep ? "Step" : "Chat"
    const pid = StateMachine.start(options.system, chatMachine, { input: { ...input, turn }, env, label })
    const output = () => {
      const end = StateMachine.output(pid)
      return end && endOf(end)
    }
    return { pid, output, cancel: () => Process.send(pid, { type: "turn.cancel" }) }
  }
  const { signal, drainMs, trace } = options
  return new EventStream(outlet, { start, signal, drainMs, trace })
}

/** The thread of the first request of a turn. */
export const threadOf = ({ input, messages = [], decisions }: TurnToRun): Thread => {
  const context = initialContext({ input })
  const said = { messages, ...(decisions !== undefined && { decisions }) }
  return (beginTurn(context, { id: "", ...said }).record ?? context.record).thread
}
