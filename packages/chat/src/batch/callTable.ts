/**
 * The calls of one batch: their states, their outcomes and the events of those outcomes.
 *
 * Owns: one slot for each call, and the queue of events that the reader pulls. Does not own the order in which calls
 * start, nor their processes.
 *
 * BATCH1. Every call ends with exactly one outcome, in its own position. When its process dies without an outcome, the
 *         outcome is a `handler_exit` error.
 * BATCH3. A call's three events are emitted together, when the call is over.
 * BATCH9. A call that may have run before and does not run again is `unknown`, for any reason that it does not run.
 */
import type { Clock, Pid } from "@troupe/otp"
import {
  type CallWatcher,
  endedEarly,
  type RunnableCall,
  type ToolCallEvent,
  type ToolCallView,
  type ToolOutcome,
  toolOutcome,
  withArguments,
  withMetadata
} from "../call/index.ts"
import type { SessionError } from "../errors/index.ts"
import { QueueSource } from "../events/index.ts"
import type { ModeWish } from "../gate/index.ts"
import type { ToolCall } from "../model/index.ts"
import type { Mode } from "../record/index.ts"
import { type CallPlace, idempotencyKey, type Tool, toolFor } from "../tool/index.ts"
import type { CallEnd, Scheduler } from "./Scheduler.ts"
import type * as HandlerResult from "../values/HandlerResult.ts"
import type { SuspendedCall, ToolBatchInput, ToolBatchResult } from "./batchContract.ts"
import type { CallState } from "./batchEvents.ts"
import { original } from "../values/index.ts"
import { CallWaiters } from "./callWaiters.ts"
import { stillUnknown } from "./unknownOutcome.ts"

/** One call of a batch. */
export interface Slot {
  /** The call as the model wrote it, or with edited arguments. */
  toolCall: ToolCall
  edited: boolean
  /** The arguments that a person gave. Every run of the call begins with them, and its key has them. */
  given: CallPlace["edited"]
  /** The call's place in the batch, and in its message. */
  readonly index: number
  readonly position: number
  status: ToolCallView["status"]
  startedAt: number | undefined
  endedAt: number | undefined
  progress: unknown
  /** Whether the chart of the call was started, and whether it has ended. */
  hasStarted: boolean
  hasEnded: boolean
  pid: Pid<ToolCallEvent> | undefined
  outcome: ToolOutcome | undefined
  suspended: SuspendedCall | undefined
  /** The permission mode that the call requests, in its present run. */
  wish: ModeWish | undefined
  /** Called with the outcome; absent when the call has no span. */
  traced: ((outcome: ToolOutcome) => void) | undefined
}

/** Whether the handler runs. The status stays `running` while hooks process a call whose chart has ended. */
export const isRunning = ({ status, hasStarted, hasEnded }: Slot): boolean =>
  status === "running" && hasStarted && !hasEnded

/** Whether a command is about this call: its id matches, or the command has no id. */
export const isMeant = ({ toolCall }: Slot, id: string | undefined): boolean => id === undefined || toolCall.id === id

/** Whether a call has its outcome or is suspended. */
export const isOver = ({ outcome, suspended }: Slot): boolean => outcome !== undefined || suspended !== undefined

/** The end of a call, as the scheduler requires it. */
export const endOf = ({ outcome }: Slot): CallEnd => {
  if (outcome?.halt === undefined) return {}
  return { halt: outcome.halt.type === "question" ? "question" : "halt" }
}

/** The outcomes of a call whose process ended before its handler ran. */
const checked: ReadonlySet<string> = new Set(["invalid", "not_found", "not_started"])

export interface SlotOwner {
  /** Whether a handler may start. */
  readonly mayStart: boolean
  /** A call has changed; the handler of the call of this id has reported progress. */
  readonly changed: (reported?: string) => void
  /** A handler asks to set a permission mode. */
  readonly requestMode: (slot: Slot, mode: Mode, signal: AbortSignal) => ModeWish | Promise<ModeWish>
}

/** The slots of a batch, in call order. */
export class CallSlots {
  readonly all: ReadonlyArray<Slot>
  readonly source: QueueSource
  readonly waiters = new CallWaiters<Slot>()
  readonly #input: ToolBatchInput
  readonly #clock: Clock.Clock
  readonly #queuedAt: number
  #over = 0
  /** The handlers of restored calls. */
  #waiting: Array<{ readonly slot: Slot; readonly run: () => void }> | undefined

  constructor(input: ToolBatchInput, clock: Clock.Clock, exhausted: () => void) {
    this.#input = input
    this.#clock = clock
    this.#queuedAt = clock.now()
    this.source = new QueueSource(exhausted, input.ledger?.unread)
    this.all = input.toolCalls.map((toolCall, index) => ({
      toolCall,
      edited: input.edited?.has(index) === true,
      given: input.edited?.has(index) === true ? (toolCall.arguments ?? undefined) : undefined,
      index,
      position: input.positions?.[index] ?? index,
      status: "queued",
      startedAt: undefined,
      endedAt: undefined,
      progress: undefined,
      hasStarted: false,
      hasEnded: false,
      pid: undefined,
      outcome: undefined,
      suspended: undefined,
      wish: undefined,
      traced: undefined
    }))
  }

  /** The handler of a restored call waits until the slots are restored. */
  await(slot: Slot, run: () => void): void {
    this.#waiting ??= []
    this.#waiting.push({ slot, run })
  }

  /** Takes over the states of a stored batch, and runs the handlers of its running calls again (BATCH10). */
  restore(
    states: ReadonlyArray<CallState>,
    {
      follows,
      cancelled: cancel
    }: {
      /** The hooks after the call run again. */
      readonly follows: (slot: Slot, outcome: ToolOutcome) => void
      /** The call was cancelled; its chart may have been stored before the cancel reached it. */
      readonly cancelled: (slot: Slot) => void
    }
  ): void {
    states.forEach(({ begun, cancelled, following, outcome, child }, index) => {
      const slot = this.all[index]
      if (slot === undefined) return
      if (outcome !== undefined) return this.record(slot, original(outcome))
      if (!begun) return
      slot.hasStarted = true
      if (child !== undefined) return this.suspend(slot, { child })
      slot.status = cancelled === true ? "cancelling" : "running"
      if (following !== undefined) follows(slot, original(following))
      else if (cancelled === true) cancel(slot)
    })
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const { slot, run } of waiting) if (slot.status === "running") run()
  }

  get areOver(): boolean {
    return this.#over === this.all.length
  }

  /** The calls to judge: calls that can run, and have neither begun nor ended. */
  judged(): ReadonlyArray<Slot> {
    const { toolsByName } = this.#input
    return this.all.filter(
      (slot) =>
        slot.toolCall.arguments !== null &&
        toolFor(toolsByName, slot.toolCall) !== undefined &&
        !slot.hasStarted &&
        !isOver(slot)
    )
  }

  suspend(slot: Slot, suspended: SuspendedCall): void {
    slot.suspended = suspended
    slot.status = "suspended"
    slot.hasEnded = slot.hasStarted
    slot.pid = undefined
    if (suspended.child !== undefined) slot.traced?.(endedEarly(slot.toolCall, "cancelled", this.#input.options))
    this.#over++
  }

  settle(slot: Slot, result: HandlerResult.HandlerResult): void {
    this.record(slot, toolOutcome(slot.toolCall, result, this.#input.options))
  }

  record(slot: Slot, came: ToolOutcome): void {
    const ended = this.#input.again?.has(slot.index) === true ? this.#afterUnknown(slot, came) : came
    const reported = slot.edited ? withArguments(ended) : ended
    const { storedMetadata, family } = this.#input.options
    const written = withMetadata(reported, storedMetadata?.ofMessage?.(undefined))
    const wished = slot.wish === undefined ? written : { ...written, wish: slot.wish }
    const childUsage = family?.spent(() => this.#keyOf(slot))
    const outcome = childUsage === undefined ? wished : { ...wished, childUsage }
    slot.outcome = outcome
    slot.status = "done"
    slot.endedAt = this.now()
    slot.traced?.(outcome)
    this.#over++
    const { ledger, journal } = this.#input
    if (ledger !== undefined) ledger.finished[slot.index] = outcome
    if (outcome.halt !== undefined) ledger?.halts.push(slot.index)
    journal?.over(slot.position, outcome, this.#over < this.all.length)
    this.source.push(...outcome.events)
    this.waiters.reached(slot, "over")
  }

  #keyOf({ toolCall, position, given }: Slot): string {
    const { stepId, messageIndex, options } = this.#input
    const { requestId, sessionId } = options
    return idempotencyKey({ requestId, sessionId }, toolCall.id, {
      stepId,
      messageIndex,
      index: position,
      edited: given
    })
  }

  /** The outcome of a call that may have run before: `unknown` unless it ran again (BATCH9). */
  #afterUnknown({ hasStarted }: Slot, ended: ToolOutcome): ToolOutcome {
    const ran = hasStarted && !checked.has(ended.outcome)
    return ran ? ended : stillUnknown(ended, this.#input.options)
  }

  /** Ends a call that has not begun, or is suspended. */
  endEarly(slot: Slot, ended: "cancelled" | "not_started", message?: string): void {
    if (slot.suspended !== undefined) {
      slot.suspended = undefined
      this.#over--
    }
    this.record(slot, endedEarly(slot.toolCall, ended, this.#input.options, message))
  }

  /** The result of the batch; the scheduler orders the halts. */
  result({ halts: halting, isCancelled }: Scheduler, error: SessionError | undefined): ToolBatchResult {
    const outcomes = this.all.flatMap((slot) => (slot.outcome === undefined ? [] : [slot.outcome]))
    const halts = halting.flatMap((index) => this.all[index]?.outcome?.halt ?? [])
    const halt = isCancelled
      ? ({ type: "cancelled", question: halts.find((one) => one.type === "question") } as const)
      : halts[0]
    const suspended = this.all.flatMap(({ index, suspended: waits, given }) =>
      waits === undefined ? [] : [{ index, expiresMs: waits.expiresMs, child: waits.child, given }]
    )
    return { outcomes, halt, suspended, error }
  }

  readonly view = (): ReadonlyArray<ToolCallView> =>
    this.all.map(({ toolCall: { id, name }, status, startedAt, endedAt, outcome, progress, pid }) => ({
      id,
      name,
      status,
      queuedAt: this.#queuedAt,
      startedAt,
      endedAt,
      outcome: outcome?.outcome,
      progress,
      pid: status === "done" ? undefined : pid
    }))

  now(): number {
    return this.#clock.now()
  }

  /** One call, as its chart finds it. */
  runnable(slot: Slot, tool: Tool, owner: SlotOwner): RunnableCall {
    return new SlotCall(this.#input, slot, tool, this, owner)
  }

  /** The call of a slot entered this state. */
  statusChanged(slot: Slot, status: Slot["status"]): void {
    if (slot.status === "done") return
    slot.status = status
    if (status !== "running") return
    slot.startedAt = this.now()
    slot.progress = undefined
    slot.wish = undefined
    this.waiters.reached(slot, "begun")
  }
}

/** The call of a slot, as its chart finds it, and the callbacks of its run. */
class SlotCall implements RunnableCall, CallWatcher {
  readonly tool: Tool
  readonly toolCall: ToolCall
  readonly options: RunnableCall["options"]
  readonly stepId: RunnableCall["stepId"]
  readonly messageIndex: CallPlace["messageIndex"]
  readonly index: number
  readonly edited: RunnableCall["edited"]
  readonly restored: RunnableCall["restored"]
  readonly #slot: Slot
  readonly #slots: CallSlots
  readonly #owner: SlotOwner

  constructor(input: ToolBatchInput, slot: Slot, tool: Tool, slots: CallSlots, owner: SlotOwner) {
    const { toolCall } = slot
    this.tool = tool
    this.toolCall = toolCall
    this.options = input.options
    this.stepId = input.stepId
    this.messageIndex = input.messageIndex
    this.index = slot.position
    this.edited = slot.given
    this.restored = slot.hasStarted ? undefined : (run) => slots.await(slot, run)
    this.#slot = slot
    this.#slots = slots
    this.#owner = owner
  }

  get watcher(): CallWatcher {
    return this
  }

  mayStart(): boolean {
    return this.restored !== undefined || this.#owner.mayStart
  }

  started(pid: Pid<ToolCallEvent>): void {
    this.#slot.pid = pid
  }

  progressed(value: unknown): void {
    this.#slot.progress = value
    this.#owner.changed(this.toolCall.id)
  }

  changed(status: Slot["status"]): void {
    this.#slots.statusChanged(this.#slot, status)
    this.#owner.changed()
  }

  wants(mode: Mode, signal: AbortSignal): ModeWish | Promise<ModeWish> {
    return this.#owner.requestMode(this.#slot, mode, signal)
  }

  wished(wish: ModeWish): void {
    this.#slot.wish = wish
  }
}
