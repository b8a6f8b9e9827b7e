/**
 * The tool calls of one assistant message: a process that supervises one process for each call.
 *
 * Owns: the processes of the calls, and their outcomes. Does not own the order in which calls start, their places and slots
 * (`Scheduler`), a call's phases (`ToolCallMachine`), nor the content of an outcome (`toolOutcome`).
 *
 * BATCH1. Every call ends with exactly one outcome, in its own position. When its process dies without an outcome, the
 *         outcome is a `handler_exit` error.
 * BATCH2. A halt never cancels running siblings. Under the schedule `concurrent` it skips no call; under the others,
 *         later calls that have not started are not started, unless the halt is a question. Of several halts the first
 *         in call order counts, or with `haltOrder: "observed"` the first in time (SCHED8, SCHED13).
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
import { closestName, quoted, type SessionError, type ToolError } from "../errors/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"
import type { ToolCall } from "../model/index.ts"
import {
  type CallCommand,
  haltedOutcome,
  outcomeOf,
  refusedOutcome,
  toolCallMachine,
  toolFailure,
  type ToolOutcome,
  toolOutcome
} from "../call/index.ts"
import { CallSlots, endOf, isMeant, isOver, isRunning, type Slot } from "./callTable.ts"
import type { ToolBatchEvent, ToolBatchInput, ToolBatchResult, IntentJournal } from "./batchContract.ts"
import { type BatchGate, batchGateOf } from "./batchGate.ts"
import { type GateVerdict, type ModeWish, ModeRequests } from "../gate/index.ts"
import { accessesOf, type CallEnd, type CallOwner, Scheduler } from "../schedule/index.ts"
import type { Mode } from "../record/index.ts"
import type { Tool } from "../tool/index.ts"
import { describe } from "../toolResult/index.ts"

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
  readonly #scheduler: Scheduler
  /** The errors of the tools' `key` functions, by the places of their calls. Such a call does not run. */
  #faults: ReadonlyMap<number, ToolError> = new Map()
  readonly #byPid = new Map<Pid, Slot>()
  #error: SessionError | undefined
  #wishes: ModeRequests | undefined

  constructor(input: ToolBatchInput, notify: (event: ToolBatchEvent) => void) {
    this.#input = input
    this.#notify = notify
    this.#calls = new CallSlots(input, () => notify({ type: "batch.exhausted" }))
    const { schedule = "concurrent", haltOrder, maxConcurrency: limit = defaultConcurrency() } = input.options
    this.#scheduler = new Scheduler(input.toolCalls.length, { schedule, haltOrder, limit }, this.#owner())
  }

  /** What the scheduler does with a call, by its place. */
  #owner(): CallOwner {
    const of =
      <Result>(act: (slot: Slot) => Result) =>
      (index: number): Result | undefined => {
        const slot = this.#calls.all[index]
        return slot === undefined ? undefined : act(slot)
      }
    return {
      refuse: of((slot) => this.#refuse(slot)),
      run: of((slot) => this.#run(slot)),
      skip: (index, reason) => of((slot) => this.#calls.endEarly(slot, reason))(index),
      cancel: of((slot) => this.#cancelRunning(slot)),
      restart: of((slot) => this.#restartRunning(slot)),
      over: () => this.#over()
    }
  }

  start(host: Pid<ToolBatchEvent>): void {
    this.#host = host
    this.#calls.begin(host)
    this.#input.outlet.attach(this.#calls.source)
    this.#gate = batchGateOf(this.#input.options, Process.systemOf(host))
    for (const [index, outcome] of this.#input.settled ?? []) this.followed(index, outcome)
    if (this.#gate?.judges === true && !this.#calls.areOver) return this.#judge(this.#gate)
    this.#begin()
  }

  /** Applies the verdicts of the gate (BATCH6). */
  gated(verdicts: ReadonlyArray<GateVerdict>): void {
    if (this.#scheduler.isCancelled) return
    const judged = this.#calls.judged()
    const halted = verdicts.some(({ type }) => type === "halt")
    verdicts.forEach((verdict, at) => {
      const slot = judged[at]
      if (slot === undefined || isOver(slot)) return
      slot.status = "queued"
      if (verdict.type === "allow")
        Object.assign(slot, { toolCall: verdict.toolCall, edited: slot.edited || verdict.edited })
      else if (verdict.type === "deny") this.#ended(slot, refusedOutcome(verdict))
      else if (verdict.type === "halt") this.#ended(slot, haltedOutcome(verdict))
      else if (verdict.type === "suspend" && !halted) {
        this.#calls.suspend(slot, verdict)
        this.#scheduler.suspend(slot.index)
      }
    })
    if (halted) this.#scheduler.skipAll()
    this.#begin()
  }

  /** Starts the calls, in the order of what they touch. */
  #begin(): void {
    const host = this.#host
    if (host === undefined) return
    const { toolsByName: tools, options } = this.#input
    const { schedule = "concurrent", toolSlots } = options
    const calls = this.#calls.all.map(({ toolCall }) => toolCall)
    const unknown = schedule === "reference" ? ({ effect: "write" } as const) : undefined
    const { accesses, faults } = accessesOf(calls, { tools, schedule, unknown, isOver: this.#scheduler.isOver })
    this.#faults = faults
    const slots = toolSlots?.line(host, () => this.#notify({ type: "batch.slot" }))
    this.#scheduler.begin(accesses, slots)
    this.#changed()
  }

  /** Records the final outcome of a call after its hooks. */
  followed(index: number, outcome: ToolOutcome): void {
    const slot = this.#calls.all[index]
    if (slot !== undefined) this.#ended(slot, outcome)
  }

  /** Uses a granted slot; the batch may no longer need it. */
  slotGranted(): void {
    this.#scheduler.slotGranted()
    this.#changed()
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

  /** Records the outcome of a call; other calls may start. */
  #ended(slot: Slot, outcome: ToolOutcome): void {
    this.#calls.record(slot, outcome)
    this.#scheduler.ended(slot.index, endOf(slot))
    this.#changed()
  }

  cancel(): void {
    this.#gate?.leave()
    this.#scheduler.cancel()
    this.#changed()
  }

  /** Cancels these calls only (BATCH7). */
  cancelCalls({ toolCallId, done }: CallCommand): void {
    const slots = this.#calls.all.filter((slot) => !isOver(slot) && isMeant(slot, toolCallId))
    this.#calls.waiters.add(slots, "over", done)
    for (const { index } of slots) this.#gate?.skip(index)
    this.#scheduler.cancelCalls(slots.map(({ index }) => index))
    this.#changed()
    this.#calls.waiters.answer()
  }

  /** Restarts the running calls; not the calls that are being cancelled (BATCH7). */
  restartCalls({ toolCallId, done }: CallCommand): void {
    const slots = this.#calls.all.filter((slot) => isRunning(slot) && isMeant(slot, toolCallId))
    this.#calls.waiters.add(slots, "begun", done)
    this.#scheduler.restart(slots.map(({ index }) => index))
    this.#changed()
    this.#calls.waiters.answer()
  }

  #restartRunning(slot: Slot): void {
    if (slot.pid === undefined) return
    slot.status = "restarting"
    Process.send(slot.pid, { type: "call.restart" })
  }

  #cancelRunning(slot: Slot): void {
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
    const slot = this.#calls.all[index]
    if (slot === undefined) return
    this.#heedSignal()
    if (failure !== undefined) {
      this.#error ??= failure
      if (slot.outcome === undefined) this.#endUnstored(slot, `${failure.reason}: ${failure.message}`)
    } else if (this.#scheduler.begun(index)) {
      this.#start(slot)
      return this.#changed()
    }
    this.#scheduler.ended(index)
    this.#changed()
  }

  leave(): void {
    this.#gate?.leave()
    this.#wishes?.leave()
    this.#input.outlet.detach(this.#calls.source)
  }

  result(): ToolBatchResult {
    return this.#calls.result(this.#scheduler, this.#error)
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

  /** The end of a call that cannot run: its tool is unknown, its key failed, or no intent can be stored. */
  #refuse(slot: Slot): CallEnd | undefined {
    this.#heedSignal()
    if (isOver(slot)) return undefined
    const { toolsByName } = this.#input
    const fault = this.#faults.get(slot.index)
    if (fault !== undefined) this.#calls.settle(slot, HandlerResult.error(fault))
    else if (!toolsByName.has(slot.toolCall.name)) this.#calls.settle(slot, notFound(slot.toolCall, toolsByName))
    else if (this.#error !== undefined && this.#journalOf(slot) !== undefined) this.#endUnstored(slot, "store_failed")
    return isOver(slot) ? endOf(slot) : undefined
  }

  /** Ends a call that writes and whose intent is not stored. */
  #endUnstored(slot: Slot, reason: string): void {
    this.#calls.endEarly(slot, "not_started", `not started: ${reason}`)
  }

  /** The journal, if it records this call. */
  #journalOf({ toolCall }: Slot): IntentJournal | undefined {
    const { journal, toolsByName } = this.#input
    return toolsByName.get(toolCall.name)?.effect === "read" ? undefined : journal
  }

  /**
   * Cancels the batch if the signal of the run is aborted: a handler can abort it before the next call starts (BATCH4).
   */
  #heedSignal(): void {
    if (this.#input.options.signal?.aborted === true && !this.#scheduler.isCancelled) this.cancel()
  }

  /** Starts a call, or first stores its intent (BATCH8). The call has its place and its slot already. */
  #run(slot: Slot): void {
    const { index, position } = slot
    const host = this.#host
    const journal = this.#journalOf(slot)
    if (journal === undefined || host === undefined) {
      this.#scheduler.begun(index)
      this.#start(slot)
    } else {
      journal.intend(position, (failure) => Process.send(host, { type: "batch.intended", index, failure }))
    }
  }

  #start(slot: Slot): void {
    const host = this.#host
    const tool = this.#input.toolsByName.get(slot.toolCall.name)
    if (host === undefined || tool === undefined) return
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

  /** Every call is over: the reader gets the last events. */
  #over(): void {
    this.#heedSignal()
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
