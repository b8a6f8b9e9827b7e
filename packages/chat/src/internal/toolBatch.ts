/**
 * The tool calls of one assistant message: a process that supervises one process for each call.
 *
 * Owns: the order in which calls start, the slots they run in, the outcomes. Does not own a call's phases
 * (`ToolCallMachine`), nor what an outcome says (`toolOutcome`).
 *
 * BATCH1. Every call ends with exactly one outcome, in its own position, whatever its process does: a process that dies
 *         without one is a `handler_exit` error.
 * BATCH2. A halt never cancels siblings. Under the schedule `concurrent` it skips none; else the calls behind it that
 *         have not started by then never do, unless it is a question. Of several halts the first in call order counts.
 * BATCH3. A call's three events come out together, when it is over.
 * BATCH4. After a cancel no call starts; those that run are told, and waited for until their drain deadline. A question
 *         that was asked by then is kept.
 * BATCH5. The batch is done when every call is over and the reader asked past the last event.
 */
import { type Pid, Process, StateMachine } from "@troupe/otp"
import type { ActorLogic, Snapshot } from "xstate"
import type { Schedule } from "../ChatOptions.ts"
import type * as HandlerResult from "../HandlerResult.ts"
import type { Outcome } from "../Outcome.ts"
import type { StepHalt } from "../StepResult.ts"
import type { Tool } from "../Tool.ts"
import type { ToolCall } from "../ToolCall.ts"
import { type ToolCallInput, toolCallMachine } from "../ToolCallMachine.ts"
import { describe } from "../ToolResultEncoder.ts"
import type { Outlet } from "./outlet.ts"
import { QueueSource } from "./queueSource.ts"
import type { RunOptions } from "./resolveOptions.ts"
import { type BatchPlan, planOfBatch } from "./toolAccess.ts"
import type { SlotLine } from "./toolSlots.ts"
import { endedEarly, type ToolOutcome, toolFailure, toolOutcome } from "./toolOutcome.ts"

/** A running call as people want to see it; times are milliseconds on the system's clock. */
export interface ToolCallView {
  readonly id: string
  readonly name: string
  readonly status: "queued" | "running" | "cancelling" | "done"
  readonly queuedAt: number
  /** `undefined` while queued, and for a call that never started. */
  readonly startedAt: number | undefined
  /** `undefined` until done, as `outcome`. */
  readonly endedAt: number | undefined
  readonly outcome: Outcome | undefined
}

/** Told whenever a call's state changed. */
export interface ToolCallWatcher {
  readonly toolCallsChanged: (view: () => ReadonlyArray<ToolCallView>) => void
}

/** What a batch is started with. */
export interface ToolBatchInput {
  readonly toolCalls: ReadonlyArray<ToolCall>
  /** The place in the thread of the message they stand in; default 0. */
  readonly messageIndex?: number | undefined
  readonly toolsByName: ReadonlyMap<string, Tool>
  readonly options: ToolCallInput["options"] & Partial<Pick<RunOptions, "maxConcurrency" | "schedule" | "toolSlots">>
  readonly outlet: Outlet
  readonly watcher?: ToolCallWatcher | undefined
  /** Where outcomes are noted as they come, by the call's position, for whoever outlives the batch. */
  readonly finished?: Map<number, ToolOutcome> | undefined
}

/** Outcomes in call order, and the halt that counts. */
export interface ToolBatchResult {
  readonly outcomes: ReadonlyArray<ToolOutcome>
  readonly halt: StepHalt | undefined
}

/** What a batch can be told. */
export type ToolBatchEvent =
  | { readonly type: "batch.cancel" }
  | { readonly type: "batch.exhausted" }
  | { readonly type: "batch.slot" }
  | { readonly type: "process.exit"; readonly from: Pid; readonly reason: unknown }

interface Slot {
  readonly toolCall: ToolCall
  /** The call's place in its message. */
  readonly index: number
  status: ToolCallView["status"]
  startedAt: number | undefined
  endedAt: number | undefined
  pid: StateMachine.MachinePid<typeof toolCallMachine> | undefined
  outcome: ToolOutcome | undefined
  /** Told of the outcome, where the call has a span. */
  traced: ((outcome: ToolOutcome) => void) | undefined
}

type BatchSnapshot = Snapshot<ToolBatchResult> & { readonly batch?: ToolBatch }

/** The batch as logic to host. */
export const toolBatch: ActorLogic<BatchSnapshot, ToolBatchEvent, ToolBatchInput> = {
  getInitialSnapshot: ({ self }, input) => ({
    status: "active",
    output: undefined,
    error: undefined,
    batch: new ToolBatch(input, (event) => self.send(event))
  }),
  start: (snapshot, { system }) => {
    const host = StateMachine.hostOf(system)
    if (host === undefined)
      throw new Error("A tool batch runs in a process of its own; start it with StateMachine.start")
    snapshot.batch?.start(host)
  },
  transition: (snapshot, event) => {
    const { batch } = snapshot
    if (batch === undefined) return snapshot
    switch (event.type) {
      case "process.exit":
        batch.exited(event.from, event.reason)
        return snapshot
      case "batch.cancel":
        batch.cancel()
        return snapshot
      case "batch.slot":
        batch.slotGranted()
        return snapshot
      case "batch.exhausted":
        return { status: "done", output: batch.result(), error: undefined }
      default:
        batch.leave()
        return { status: "stopped", output: undefined, error: undefined }
    }
  },
  getPersistedSnapshot: (snapshot) => snapshot
}

/** A running batch. */
class ToolBatch {
  readonly #input: ToolBatchInput
  readonly #tell: (event: ToolBatchEvent) => void
  #host: Pid | undefined
  #queuedAt = 0
  readonly #slots: ReadonlyArray<Slot>
  readonly #source: QueueSource
  readonly #limit: number
  readonly #schedule: Schedule
  #order: BatchPlan | undefined
  /** The place of this batch in the line for slots, where those are counted. */
  #line: SlotLine | undefined
  /** Calls from this position on do not start any more. */
  #mayStart: number
  readonly #byPid = new Map<Pid, Slot>()
  #running = 0
  #over = 0
  #cancelled = false

  constructor(input: ToolBatchInput, tell: (event: ToolBatchEvent) => void) {
    this.#input = input
    this.#tell = tell
    this.#slots = input.toolCalls.map((toolCall, index) => ({
      toolCall,
      index,
      status: "queued",
      startedAt: undefined,
      endedAt: undefined,
      pid: undefined,
      outcome: undefined,
      traced: undefined
    }))
    this.#mayStart = this.#slots.length
    this.#schedule = input.options.schedule ?? "concurrent"
    this.#source = new QueueSource(() => tell({ type: "batch.exhausted" }))
    this.#limit = input.options.maxConcurrency ?? defaultConcurrency()
  }

  start(host: Pid): void {
    this.#host = host
    this.#queuedAt = this.#now()
    this.#line = this.#input.options.toolSlots?.line(host, () => this.#tell({ type: "batch.slot" }))
    this.#input.outlet.attach(this.#source)
    this.#fill()
    this.#finishIfOver()
  }

  /** A slot is free for this batch; it may not need it any more. */
  slotGranted(): void {
    this.#fill()
    this.#finishIfOver()
  }

  exited(pid: Pid, reason: unknown): void {
    const slot = this.#byPid.get(pid)
    if (slot?.pid === undefined || slot.outcome !== undefined) return
    this.#running--
    this.#line?.release()
    const outcome = StateMachine.output(slot.pid)
    if (outcome === undefined) {
      this.#settle(
        slot,
        toolFailure(
          slot.toolCall,
          "handler_exit",
          `the process of ${slot.toolCall.name} exited: ${describe(reason)}`,
          reason
        )
      )
    } else {
      this.#record(slot, outcome)
    }
    this.#order?.plan.ended(slot.index)
    this.#fill()
    this.#finishIfOver()
  }

  cancel(): void {
    if (this.#cancelled) return
    this.#cancelled = true
    this.#endQueued(0, "cancelled")
    for (const slot of this.#slots) {
      if (slot.status !== "running" || slot.pid === undefined) continue
      slot.status = "cancelling"
      Process.send(slot.pid, { type: "call.cancel" })
    }
    this.#line?.rest()
    this.#changed()
    this.#finishIfOver()
  }

  leave(): void {
    this.#input.outlet.detach(this.#source)
  }

  result(): ToolBatchResult {
    const outcomes = this.#slots.flatMap((slot) => (slot.outcome === undefined ? [] : [slot.outcome]))
    const halts = outcomes.flatMap((outcome) => (outcome.halt === undefined ? [] : [outcome.halt]))
    const halt = this.#cancelled
      ? ({ type: "cancelled", question: halts.find((one) => one.type === "question") } as const)
      : halts[0]
    return { outcomes, halt }
  }

  /** Starts calls while their turn has come and there are slots. */
  #fill(): void {
    const host = this.#host
    if (host === undefined) return
    const { plan, faults } = (this.#order ??= this.#planned())
    while (this.#running < this.#limit) {
      const position = plan.take()
      const slot = position === undefined ? undefined : this.#slots[position]
      if (slot === undefined) {
        this.#line?.rest()
        break
      }
      const tool = this.#input.toolsByName.get(slot.toolCall.name)
      const fault = faults.get(slot.index)
      if (slot.outcome !== undefined || tool === undefined || fault !== undefined) {
        if (slot.outcome === undefined) {
          this.#settle(slot, fault ?? notFound(slot.toolCall, this.#input.toolsByName))
        }
        plan.ended(slot.index)
        continue
      }
      if (this.#line?.take() === false) {
        plan.putBack(slot.index)
        break
      }
      this.#start(host, slot, tool)
    }
    this.#changed()
  }

  #start(host: Pid, slot: Slot, tool: Tool): void {
    this.#running++
    slot.status = "running"
    slot.traced = this.#input.options.trace?.tool(slot.toolCall, tool)
    slot.startedAt = this.#now()
    const pid = StateMachine.startLink(host, toolCallMachine, {
      input: {
        tool,
        toolCall: slot.toolCall,
        options: this.#input.options,
        startAtOnce: true,
        messageIndex: this.#input.messageIndex,
        index: slot.index
      },
      label: `ToolCall ${slot.toolCall.name}`
    })
    slot.pid = pid
    this.#byPid.set(pid, slot)
  }

  #planned(): BatchPlan {
    const { toolsByName } = this.#input
    const calls = this.#slots.map(({ toolCall }) => toolCall)
    return planOfBatch(calls, toolsByName, (index) => this.#slots[index]?.outcome !== undefined, this.#schedule)
  }

  #settle(slot: Slot, result: HandlerResult.HandlerResult): void {
    this.#record(slot, toolOutcome(slot.toolCall, result, this.#input.options))
  }

  #record(slot: Slot, outcome: ToolOutcome): void {
    slot.outcome = outcome
    slot.status = "done"
    slot.endedAt = this.#now()
    slot.traced?.(outcome)
    this.#over++
    this.#input.finished?.set(slot.index, outcome)
    this.#source.push(...outcome.events)
    if (outcome.halt !== undefined && outcome.halt.type !== "question" && this.#schedule !== "concurrent") {
      this.#endQueued(this.#schedule === "reference" ? 0 : slot.index + 1, "not_started")
    }
  }

  /** The calls from this position on that have not started never do; each call is looked at once. */
  #endQueued(from: number, ended: "cancelled" | "not_started"): void {
    const upTo = this.#mayStart
    if (from >= upTo) return
    this.#mayStart = from
    for (const slot of this.#slots.slice(from, upTo)) {
      if (slot.status === "queued") this.#record(slot, endedEarly(slot.toolCall, ended, this.#input.options))
    }
  }

  #finishIfOver(): void {
    if (this.#over === this.#slots.length) this.#source.end()
  }

  #changed(): void {
    this.#input.watcher?.toolCallsChanged(this.#view)
  }

  readonly #view = (): ReadonlyArray<ToolCallView> =>
    this.#slots.map(({ toolCall: { id, name }, status, startedAt, endedAt, outcome }) => ({
      id,
      name,
      status,
      queuedAt: this.#queuedAt,
      startedAt,
      endedAt,
      outcome: outcome?.outcome
    }))

  #now(): number {
    return this.#host === undefined ? 0 : Process.systemOf(this.#host).clock.now()
  }
}

/** Tells the model that there is no such tool, and which there are. */
export const notFound = (toolCall: ToolCall, tools: ReadonlyMap<string, Tool>): HandlerResult.Failed =>
  toolFailure(
    toolCall,
    "not_found",
    `there is no tool ${toolCall.name}; ${tools.size === 0 ? "there are no tools" : `the tools are ${[...tools.keys()].join(", ")}`}`
  )

const defaultConcurrency = (): number => 2 * (globalThis.navigator?.hardwareConcurrency ?? 4)
