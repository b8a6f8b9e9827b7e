/**
 * The tool calls of one assistant message: a process that supervises one process for each call.
 *
 * Owns: the order in which calls start, the slots they run in, the outcomes. Does not own a call's phases
 * (`ToolCallMachine`), nor the content of an outcome (`toolOutcome`).
 *
 * BATCH1. Every call ends with exactly one outcome, in its own position. When its process dies without an outcome, the
 *         outcome is a `handler_exit` error.
 * BATCH2. A halt never cancels running siblings. Under the schedule `concurrent` it skips no call; under the others,
 *         later calls that have not started are not started, unless the halt is a question. Of several halts the first
 *         in call order counts.
 * BATCH3. A call's three events are emitted together, when the call is over.
 * BATCH4. After a cancel, or after the signal of the run is aborted, no call starts. Running calls are cancelled, and the
 *         batch waits for them until their drain deadline. A question that was already asked is kept.
 * BATCH5. The batch is done when every call is over and the reader has pulled past the last event.
 * BATCH6. With a gate, no call starts before all are judged. A refused call is `denied`. When the gate ends the turn, the
 *         other calls that were not refused are `not_started`. A suspended call has no outcome: the result lists it.
 * BATCH7. One call, or all calls, can be cancelled without the batch: the other calls and the turn go on. A call that
 *         waited only for a call cancelled before its turn starts at once. `done` of the command is called when those
 *         calls are over, or run again.
 * BATCH8. A call that writes starts when its intent is stored. When the intent cannot be stored, neither that call nor
 *         another call that writes starts, and the batch ends with that error. The deadline of a call does not run
 *         meanwhile.
 * BATCH9. A call that may have run before and does not run again is `unknown`, for any reason that it does not run.
 */
import { type Pid, Process, StateMachine } from "@troupe/otp"
import type { ActorLogic, Snapshot } from "xstate"
import { closestName, quoted, type SessionError } from "../errors/index.ts"
import type * as HandlerResult from "../values/HandlerResult.ts"
import type { ToolCall } from "../model/index.ts"
import {
  type CallCommand,
  endedEarly,
  haltedOutcome,
  outcomeOf,
  refusedOutcome,
  toolCallMachine,
  toolFailure,
  type ToolOutcome,
  toolOutcome
} from "../call/index.ts"
import { CallSlots, isMeant, isOver, isRunning, type Slot } from "./callTable.ts"
import type { ToolBatchEvent, ToolBatchInput, ToolBatchResult, IntentJournal } from "./batchContract.ts"
import { type BatchGate, batchGateOf } from "./batchGate.ts"
import { type GateVerdict, type ModeWish, ModeRequests } from "../gate/index.ts"
import { type BatchPlan, planOfBatch, planWithout } from "./batchPlan.ts"
import type { SlotLine } from "../async/index.ts"
import type { Mode } from "../record/index.ts"
import type { Tool } from "../tool/index.ts"
import { describe } from "../toolResult/index.ts"
import type { Schedule } from "../options/index.ts"

type BatchSnapshot = Snapshot<ToolBatchResult> & { readonly batch?: ToolBatch }

/** The batch as actor logic. */
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
      case "calls.cancel":
        batch.cancelCalls(event)
        return snapshot
      case "calls.restart":
        batch.restartCalls(event)
        return snapshot
      case "batch.slot":
        batch.slotGranted()
        return snapshot
      case "batch.gated":
        batch.gated(event.verdicts)
        return snapshot
      case "batch.followed":
        batch.followed(event.index, event.outcome)
        return snapshot
      case "batch.intended":
        batch.intended(event.index, event.failure)
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
  readonly #notify: (event: ToolBatchEvent) => void
  #gate: BatchGate | undefined
  #host: Pid<ToolBatchEvent> | undefined
  readonly #calls: CallSlots
  readonly #limit: number
  readonly #schedule: Schedule
  #order: BatchPlan | undefined
  /** The place of this batch in the queue for slots; `undefined` when slots are unlimited. */
  #line: SlotLine | undefined
  readonly #byPid = new Map<Pid, Slot>()
  #running = 0
  #cancelled = false
  #error: SessionError | undefined
  #wishes: ModeRequests | undefined

  constructor(input: ToolBatchInput, notify: (event: ToolBatchEvent) => void) {
    this.#input = input
    this.#notify = notify
    this.#schedule = input.options.schedule ?? "concurrent"
    this.#calls = new CallSlots(input, this.#schedule, () => notify({ type: "batch.exhausted" }))
    this.#limit = input.options.maxConcurrency ?? defaultConcurrency()
  }

  start(host: Pid<ToolBatchEvent>): void {
    this.#host = host
    this.#calls.begin(host)
    this.#line = this.#input.options.toolSlots?.line(host, () => this.#notify({ type: "batch.slot" }))
    this.#input.outlet.attach(this.#calls.source)
    if (this.#input.settled !== undefined) this.#calls.settleAll(this.#input.settled)
    this.#gate = batchGateOf(this.#input.options, Process.systemOf(host))
    if (this.#gate?.judges === true) return this.#judge(this.#gate)
    this.#fill()
    this.#finishIfOver()
  }

  /** Applies the verdicts of the gate (BATCH6). */
  gated(verdicts: ReadonlyArray<GateVerdict>): void {
    if (this.#cancelled) return
    const judged = this.#calls.judged()
    const halted = verdicts.some(({ type }) => type === "halt")
    verdicts.forEach((verdict, at) => {
      const slot = judged[at]
      if (slot === undefined || isOver(slot)) return
      slot.status = "queued"
      if (verdict.type === "allow")
        Object.assign(slot, { toolCall: verdict.toolCall, edited: slot.edited || verdict.edited })
      else if (verdict.type === "deny") this.#calls.record(slot, refusedOutcome(verdict))
      else if (verdict.type === "halt") this.#calls.record(slot, haltedOutcome(verdict))
      else if (verdict.type === "suspend" && !halted) this.#calls.suspend(slot, verdict)
    })
    if (halted) this.#calls.endQueued(0, "not_started")
    this.#fill()
    this.#finishIfOver()
  }

  /** Records the final outcome of a call after its hooks. */
  followed(index: number, outcome: ToolOutcome): void {
    const slot = this.#calls.all[index]
    if (slot !== undefined) this.#ended(slot, outcome)
  }

  /** Uses a granted slot; the batch may no longer need it. */
  slotGranted(): void {
    this.#fill()
    this.#finishIfOver()
  }

  exited(pid: Pid, reason: unknown): void {
    const slot = this.#byPid.get(pid)
    if (slot?.pid === undefined || slot.outcome !== undefined) return
    const end = StateMachine.output(slot.pid)
    const { toolCall } = slot
    const tool = this.#input.toolsByName.get(toolCall.name)
    const { options } = this.#input
    const outcome =
      end === undefined || tool === undefined
        ? toolOutcome(toolCall, died(toolCall, reason), options)
        : outcomeOf({ tool, toolCall, options }, end)
    if (this.#gate?.follows(outcome) !== true) return this.#ended(slot, outcome)
    const { index } = slot
    const { ledger } = this.#input
    if (ledger !== undefined) ledger.following[index] = outcome
    void this.#gate
      .follow(index, outcome)
      .then((last) => this.#notify({ type: "batch.followed", index, outcome: last }))
  }

  /** Records the outcome of a running call and releases its slot. */
  #ended(slot: Slot, outcome: ToolOutcome): void {
    this.#calls.record(slot, outcome)
    this.#release(slot)
  }

  cancel(): void {
    if (this.#cancelled) return
    this.#cancelled = true
    this.#gate?.leave()
    this.#calls.endQueued(0, "cancelled")
    for (const slot of this.#calls.all) this.#end(slot)
    this.#changed()
    this.#finishIfOver()
  }

  /** Cancels these calls only (BATCH7). */
  cancelCalls({ toolCallId, done }: CallCommand): void {
    const slots = this.#calls.all.filter((slot) => !isOver(slot) && isMeant(slot, toolCallId))
    this.#calls.waiters.add(slots, "over", done)
    for (const slot of slots) {
      this.#gate?.skip(slot.index)
      if (slot.status !== "queued" && slot.status !== "gating") this.#end(slot)
      else this.#calls.record(slot, endedEarly(slot.toolCall, "cancelled", this.#input.options))
    }
    if (this.#order !== undefined) {
      if (slots.some((slot) => !slot.taken))
        this.#order = planWithout(this.#order, this.#calls.isOverAt, this.#schedule)
      this.#fill()
    }
    this.#finishIfOver()
    this.#calls.waiters.answer()
  }

  /** Restarts the running calls; not the calls that are being cancelled (BATCH7). */
  restartCalls({ toolCallId, done }: CallCommand): void {
    const slots = this.#calls.all.filter((slot) => isRunning(slot) && isMeant(slot, toolCallId))
    this.#calls.waiters.add(slots, "begun", done)
    for (const slot of slots) {
      if (slot.pid === undefined) continue
      slot.status = "restarting"
      Process.send(slot.pid, { type: "call.restart" })
    }
    this.#changed()
    this.#calls.waiters.answer()
  }

  #end(slot: Slot): void {
    if (slot.pid === undefined || !(slot.status === "restarting" || isRunning(slot))) return
    slot.status = "cancelling"
    Process.send(slot.pid, { type: "call.cancel" })
  }

  /** Handles a call's request for another permission mode. */
  #requestMode(slot: Slot, mode: Mode, signal: AbortSignal): ModeWish | Promise<ModeWish> {
    const { options, toolsByName } = this.#input
    const system = this.#host === undefined ? undefined : Process.systemOf(this.#host)
    this.#wishes ??= new ModeRequests(options, system)
    return this.#wishes.request(mode, slot.toolCall, toolsByName.get(slot.toolCall.name), signal)
  }

  /** Starts or ends a call after its intent was stored or failed (BATCH8). The call may be over already. */
  intended(index: number, failure: SessionError | undefined): void {
    const host = this.#host
    const slot = this.#calls.all[index]
    const tool = slot === undefined ? undefined : this.#input.toolsByName.get(slot.toolCall.name)
    if (host === undefined || slot === undefined || tool === undefined) return
    this.#heedSignal()
    if (failure === undefined && slot.outcome === undefined) {
      this.#start(host, slot, tool)
      return this.#changed()
    }
    if (failure !== undefined) this.#error ??= failure
    if (slot.outcome === undefined && failure !== undefined) {
      const message = `not started: ${failure.reason}: ${failure.message}`
      this.#calls.record(slot, endedEarly(slot.toolCall, "not_started", this.#input.options, message))
    }
    this.#release(slot)
  }

  /** Releases the slot of a call, and starts the calls that waited for its end. */
  #release({ index }: Slot): void {
    this.#running--
    this.#line?.release()
    this.#order?.plan.ended(index)
    this.#fill()
    this.#finishIfOver()
  }

  leave(): void {
    this.#gate?.leave()
    this.#wishes?.leave()
    this.#input.outlet.detach(this.#calls.source)
  }

  result(): ToolBatchResult {
    return this.#calls.result(this.#cancelled, this.#error)
  }

  /** Judges the calls that could run (BGATE1). */
  #judge(gate: BatchGate): void {
    const judged = this.#calls.judged()
    const calls = judged.map(({ index, toolCall }) => ({
      index,
      toolCall,
      tool: this.#input.toolsByName.get(toolCall.name)
    }))
    let last: Slot | undefined
    const judging = (index: number): void => {
      if (last?.status === "gating") last.status = "queued"
      last = this.#calls.all[index]
      if (last?.status === "queued") last.status = "gating"
      this.#changed()
    }
    void gate.judge(calls, judging).then((verdicts) => this.#notify({ type: "batch.gated", verdicts }))
  }

  /** Starts the calls that may start, while there are slots. */
  #fill(): void {
    const host = this.#host
    if (host === undefined) return
    const { plan, faults } = (this.#order ??= this.#planned())
    while (this.#running < this.#limit) {
      this.#heedSignal()
      const position = plan.take()
      const slot = position === undefined ? undefined : this.#calls.all[position]
      if (slot === undefined) {
        this.#line?.rest()
        break
      }
      if (slot.taken) continue
      const tool = this.#input.toolsByName.get(slot.toolCall.name)
      const fault = faults.get(slot.index)
      if (isOver(slot) || tool === undefined || fault !== undefined) {
        if (!isOver(slot)) {
          this.#calls.settle(slot, fault ?? notFound(slot.toolCall, this.#input.toolsByName))
        }
        plan.ended(slot.index)
        continue
      }
      const { journal } = this.#input
      const writes = journal !== undefined && tool.effect !== "read"
      if (writes && this.#error !== undefined) {
        this.#calls.record(
          slot,
          endedEarly(slot.toolCall, "not_started", this.#input.options, "not started: store_failed")
        )
        plan.ended(slot.index)
        continue
      }
      if (this.#line?.take() === false) {
        plan.putBack(slot.index)
        break
      }
      this.#running++
      slot.taken = true
      if (writes) this.#intend(host, slot, journal)
      else this.#start(host, slot, tool)
    }
    this.#changed()
  }

  /**
   * Cancels the batch if the signal of the run is aborted: a handler can abort it before the next call starts (BATCH4).
   */
  #heedSignal(): void {
    if (this.#input.options.signal?.aborted === true) this.cancel()
  }

  /** Stores the intent of a call that has its slot already (BATCH8). */
  #intend(host: Pid<ToolBatchEvent>, slot: Slot, journal: IntentJournal): void {
    const { index } = slot
    journal.intend(slot.position, (failure) => Process.send(host, { type: "batch.intended", index, failure }))
  }

  #start(host: Pid, slot: Slot, tool: Tool): void {
    slot.status = "running"
    slot.traced = this.#input.options.trace?.tool(slot.toolCall, tool)
    slot.startedAt = this.#calls.now()
    const call = this.#calls.callInput(slot, tool, {
      changed: () => this.#changed(),
      wants: (mode, signal) => this.#requestMode(slot, mode, signal)
    })
    const pid = StateMachine.startLink(host, toolCallMachine, {
      input: { index: slot.index, drainMs: this.#input.options.drainMs, startAtOnce: true },
      env: { call: () => call },
      label: `ToolCall ${slot.toolCall.name}`
    })
    slot.pid = pid
    this.#byPid.set(pid, slot)
  }

  #planned(): BatchPlan {
    const { toolsByName } = this.#input
    const calls = this.#calls.all.map(({ toolCall }) => toolCall)
    return planOfBatch(calls, toolsByName, this.#calls.isOverAt, this.#schedule)
  }

  #finishIfOver(): void {
    if (!this.#calls.areOver) return
    this.#gate?.leave()
    this.#wishes?.leave()
    this.#calls.source.end()
  }

  #changed(): void {
    this.#input.watcher?.toolCallsChanged(this.#calls.view, this.#host)
  }
}

const died = (toolCall: ToolCall, reason: unknown): HandlerResult.Failed =>
  toolFailure(toolCall, "handler_exit", `the process of ${toolCall.name} exited: ${describe(reason)}`, reason)

/** The failure of an unknown tool; its text lists the tools and suggests the closest name. */
export const notFound = (toolCall: ToolCall, tools: ReadonlyMap<string, Tool>): HandlerResult.Failed => {
  const meant = closestName(toolCall.name, tools.keys())
  const known = tools.size === 0 ? "there are no tools" : `the tools are ${[...tools.keys()].join(", ")}`
  const hint = meant === undefined ? "" : `; did you mean ${meant}?`
  return toolFailure(toolCall, "not_found", `there is no tool ${quoted(toolCall.name)}; ${known}${hint}`)
}

const defaultConcurrency = (): number => 2 * (globalThis.navigator?.hardwareConcurrency ?? 4)
