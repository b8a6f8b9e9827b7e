/**
 * The calls of one batch: their states, their outcomes and the events of those outcomes.
 *
 * Owns: one slot for each call, and the queue of events that the reader pulls. Does not own the order in which calls
 * start, nor their processes.
 *
 * SLOTS1. Every call gets exactly one outcome, in its own position.
 * SLOTS2. Each queued call is ended at most once, also after several halts.
 */
import { type Pid, Process, type StateMachine } from "@troupe/otp"
import {
  type CallWatcher,
  endedEarly,
  type toolCallMachine,
  type RunnableCall,
  type ToolCallView,
  type ToolOutcome,
  toolOutcome,
  withArguments
} from "../call/index.ts"
import type { SessionError } from "../errors/index.ts"
import { QueueSource } from "../events/index.ts"
import type { ModeWish, Suspended } from "../gate/index.ts"
import type { ToolCall } from "../model/index.ts"
import type { Tool } from "../tool/index.ts"
import type { Schedule } from "../options/index.ts"
import type * as HandlerResult from "../values/HandlerResult.ts"
import type { ToolBatchEvent, ToolBatchInput, ToolBatchResult } from "./batchContract.ts"
import { CallWaiters } from "./callWaiters.ts"
import { stillUnknown } from "./unknownOutcome.ts"

/** One call of a batch. */
export interface Slot {
  /** The call as the model wrote it, or with edited arguments. */
  toolCall: ToolCall
  edited: boolean
  /** The call's place in the batch, and in its message. */
  readonly index: number
  readonly position: number
  status: ToolCallView["status"]
  /** Whether the call had its turn and got a slot. */
  taken: boolean
  startedAt: number | undefined
  endedAt: number | undefined
  progress: unknown
  pid: StateMachine.MachinePid<typeof toolCallMachine> | undefined
  outcome: ToolOutcome | undefined
  suspended: Suspended | undefined
  /** The permission mode that the call requests, in its present run. */
  wish: ModeWish | undefined
  /** Called with the outcome; absent when the call has no span. */
  traced: ((outcome: ToolOutcome) => void) | undefined
}

/** Whether the handler runs. The status stays `running` while hooks process a call whose process has ended. */
export const isRunning = ({ status, pid }: Slot): boolean =>
  status === "running" && pid !== undefined && Process.isAlive(pid)

/** Whether a command is about this call: its id matches, or the command has no id. */
export const isMeant = ({ toolCall }: Slot, id: string | undefined): boolean => id === undefined || toolCall.id === id

/** Whether a call has its outcome or is suspended. */
export const isOver = ({ outcome, suspended }: Slot): boolean => outcome !== undefined || suspended !== undefined

/** The outcomes of a call whose process ended before its handler ran. */
const checked: ReadonlySet<string> = new Set(["invalid", "not_found", "not_started"])

/** The callbacks of a running call: its slot changed, or its handler sets a permission mode. */
interface SlotEvents extends Pick<CallWatcher, "wants"> {
  readonly changed: () => void
}

/** The slots of a batch, in call order. */
export class CallSlots {
  readonly all: ReadonlyArray<Slot>
  readonly source: QueueSource
  readonly waiters = new CallWaiters<Slot>()
  readonly #input: ToolBatchInput
  readonly #schedule: Schedule
  #host: Pid<ToolBatchEvent> | undefined
  #queuedAt = 0
  #over = 0
  /** Calls from this position on do not start. */
  #mayStart: number

  constructor(input: ToolBatchInput, schedule: Schedule, exhausted: () => void) {
    this.#input = input
    this.#schedule = schedule
    this.source = new QueueSource(exhausted, input.ledger?.unread)
    this.all = input.toolCalls.map((toolCall, index) => ({
      toolCall,
      edited: input.edited?.has(index) === true,
      index,
      position: input.positions?.[index] ?? index,
      status: "queued",
      taken: false,
      startedAt: undefined,
      endedAt: undefined,
      progress: undefined,
      pid: undefined,
      outcome: undefined,
      suspended: undefined,
      wish: undefined,
      traced: undefined
    }))
    this.#mayStart = this.all.length
  }

  /** The batch starts in this process. */
  begin(host: Pid<ToolBatchEvent>): void {
    this.#host = host
    this.#queuedAt = this.now()
  }

  get areOver(): boolean {
    return this.#over === this.all.length
  }

  /** The calls to judge: calls that can run and were not settled from the beginning. */
  judged(): ReadonlyArray<Slot> {
    const { toolsByName, settled } = this.#input
    return this.all.filter(
      ({ toolCall, index }) =>
        toolCall.arguments !== null && toolsByName.has(toolCall.name) && settled?.has(index) !== true
    )
  }

  suspend(slot: Slot, suspended: Suspended): void {
    slot.suspended = suspended
    slot.status = "suspended"
    this.#over++
  }

  settleAll(settled: ReadonlyMap<number, ToolOutcome>): void {
    for (const [index, outcome] of settled) {
      const slot = this.all[index]
      if (slot?.outcome === undefined && slot !== undefined) this.record(slot, outcome)
    }
  }

  settle(slot: Slot, result: HandlerResult.HandlerResult): void {
    this.record(slot, toolOutcome(slot.toolCall, result, this.#input.options))
  }

  record(slot: Slot, came: ToolOutcome): void {
    const ended = this.#input.again?.has(slot.index) === true ? this.#afterUnknown(slot, came) : came
    const reported = slot.edited ? withArguments(ended) : ended
    const outcome = slot.wish === undefined ? reported : { ...reported, wish: slot.wish }
    slot.outcome = outcome
    slot.status = "done"
    slot.endedAt = this.now()
    slot.traced?.(outcome)
    this.#over++
    const { ledger, journal } = this.#input
    if (ledger !== undefined) ledger.finished[slot.index] = outcome
    journal?.over(slot.position, outcome, this.#over < this.all.length)
    this.source.push(...outcome.events)
    this.waiters.reached(slot, "over")
    if (outcome.halt !== undefined && outcome.halt.type !== "question" && this.#schedule !== "concurrent") {
      this.endQueued(this.#schedule === "reference" ? 0 : slot.index + 1, "not_started")
    }
  }

  /** The outcome of a call that may have run before: `unknown` unless it ran again (BATCH9). */
  #afterUnknown({ pid }: Slot, ended: ToolOutcome): ToolOutcome {
    const ran = pid !== undefined && !checked.has(ended.outcome)
    return ran ? ended : stillUnknown(ended, this.#input.options)
  }

  /** Ends the calls from this position on that have not started. Each call is visited once. */
  endQueued(from: number, ended: "cancelled" | "not_started"): void {
    const upTo = this.#mayStart
    if (from >= upTo) return
    this.#mayStart = from
    for (const slot of this.all.slice(from, upTo)) {
      if (slot.suspended !== undefined) {
        slot.suspended = undefined
        slot.status = "queued"
        this.#over--
      }
      if (slot.status === "queued" || slot.status === "gating")
        this.record(slot, endedEarly(slot.toolCall, ended, this.#input.options))
    }
  }

  result(isCancelled: boolean, error: SessionError | undefined): ToolBatchResult {
    const outcomes = this.all.flatMap((slot) => (slot.outcome === undefined ? [] : [slot.outcome]))
    const halts = outcomes.flatMap((outcome) => (outcome.halt === undefined ? [] : [outcome.halt]))
    const halt = isCancelled
      ? ({ type: "cancelled", question: halts.find((one) => one.type === "question") } as const)
      : halts[0]
    const suspended = this.all.flatMap(({ index, suspended: waits }) =>
      waits === undefined ? [] : [{ index, expiresMs: waits.expiresMs }]
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
    return this.#host === undefined ? 0 : Process.systemOf(this.#host).clock.now()
  }

  readonly isOverAt = (index: number): boolean => {
    const slot = this.all[index]
    return slot === undefined || isOver(slot)
  }

  /** One call, as its chart finds it. */
  callInput(slot: Slot, tool: Tool, { changed, wants }: SlotEvents): RunnableCall {
    const { options, stepId, messageIndex, edited } = this.#input
    return {
      tool,
      toolCall: slot.toolCall,
      options,
      stepId,
      messageIndex,
      index: slot.position,
      edited: edited?.has(slot.index) === true ? (slot.toolCall.arguments ?? undefined) : undefined,
      watcher: {
        progressed: (value) => {
          slot.progress = value
          changed()
        },
        changed: (status) => this.#statusChanged(slot, status, changed),
        wants,
        wished: (wish) => {
          slot.wish = wish
        }
      }
    }
  }

  #statusChanged(slot: Slot, status: Slot["status"], changed: () => void): void {
    if (slot.status === "done") return
    slot.status = status
    if (status === "running") {
      slot.startedAt = this.now()
      slot.progress = undefined
      slot.wish = undefined
      this.waiters.reached(slot, "begun")
    }
    changed()
  }
}
