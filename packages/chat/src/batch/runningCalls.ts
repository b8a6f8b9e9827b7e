/**
 * The running tool calls of one assistant message.
 *
 * Owns: the live side of the calls, and the scope of their handlers. The processes of the calls are children of the
 * batch's chart. Does not own the order in which calls start, their places and slots (`Scheduler`), which calls cannot
 * start (`callStarts`), their outcomes so far (`callTable`), nor a call's phases (`ToolCallMachine`).
 *
 * BATCH4. After a cancel, or after the signal of the run is aborted, no call starts. Running calls are cancelled, and the
 *         batch waits for them until their drain deadline. A question that was already asked is kept.
 * BATCH5. The batch is done when every call is over and the reader has pulled past the last event.
 * BATCH7. One call, or all calls, can be cancelled without the batch: the other calls and the turn go on. A call that
 *         waited only for a call cancelled before its turn starts at once. `done` of the command is called when those
 *         calls are over, or run again.
 * BATCH8. A call that writes starts when its intent is stored. When the intent cannot be stored, neither that call nor
 *         another call that writes starts, and the batch ends with that error. The deadline of a call does not run
 *         meanwhile.
 * BATCH10. A batch that is restored keeps its outcomes, its halts and its cancel. Calls that have not begun are judged
 *          again. The handler of a running call runs again, but not after the call was cancelled: then the call is
 *          `abandoned` at its drain deadline.
 */
import { OtpError, type Pid, Process, System } from "@troupe/otp"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { SessionError } from "../errors/index.ts"
import type * as HandlerResult from "../values/HandlerResult.ts"
import type { ToolCall } from "../model/index.ts"
import {
  type CallCommand,
  type CallEnd as EndOfCall,
  outcomeOf,
  type RunnableCall,
  toolFailure,
  type ToolOutcome,
  toolOutcome
} from "../call/index.ts"
import { CallSlots, endOf, isMeant, isOver, isRunning, type Slot, type SlotOwner } from "./callTable.ts"
import type { ToolBatchInput, ToolBatchResult } from "./batchContract.ts"
import type { BatchEvent, BatchState, CallsEvent, CallState } from "./batchEvents.ts"
import { held, original } from "../values/index.ts"
import { type BatchGate, batchGateOf } from "./batchGate.ts"
import { type GateVerdict, type ModeWish, ModeRequests } from "../gate/index.ts"
import { accessesOf } from "./callAccesses.ts"
import { type CallEnd, type CallOwner, type CallPhase, defaultLimit, Scheduler } from "./Scheduler.ts"
import type { ChildWait, Mode } from "../record/index.ts"
import { type Tool, toolFor } from "../tool/index.ts"
import { describe } from "../values/index.ts"
import { CallStarts } from "./callStarts.ts"
import { defaultSystem } from "../async/index.ts"

/** The actor that has the running calls. */
export interface BatchHost {
  /** The process of the batch; `undefined` under a bare `createActor`. */
  readonly pid: Pid<BatchEvent> | undefined
  readonly send: (event: CallsEvent) => void
  /** Runs a function in a turn of the process. */
  readonly turn: (run: () => void) => void
}

/** The running calls of a batch. */
export class RunningCalls implements SlotOwner, CallOwner {
  readonly #input: ToolBatchInput
  readonly #host: BatchHost
  readonly #system: System.System
  #gate: BatchGate | undefined
  readonly #calls: CallSlots
  #scheduler: Scheduler
  /** Closing it interrupts the handlers of all calls, in parallel. */
  readonly scope = Scope.makeUnsafe("parallel")
  readonly #starts: CallStarts
  #wishes: ModeRequests | undefined
  #isDraining = false

  constructor(input: ToolBatchInput, host: BatchHost) {
    this.#input = input
    this.#host = host
    this.#system = host.pid === undefined ? (input.options.system ?? defaultSystem()) : Process.systemOf(host.pid)
    this.#calls = new CallSlots(input, this.#system.clock, () => this.#exhausted())
    this.#starts = new CallStarts(input, this.#calls)
    this.#scheduler = this.#schedule(input.toolCalls.length)
  }

  #schedule(state: ConstructorParameters<typeof Scheduler>[0]): Scheduler {
    const { schedule, haltOrder, maxConcurrency: limit = defaultLimit(schedule) } = this.#input.options
    return new Scheduler(state, { schedule, haltOrder, limit }, this)
  }

  /** Starts the calls, or goes on with those that a stored batch has. */
  begin(state: BatchState): void {
    this.#input.outlet.attach(this.#calls.source)
    this.#gate = batchGateOf(this.#input.options, this.#system, this.#input.toolCalls)
    for (const [index, outcome] of this.#input.settled ?? []) this.followed(index, outcome)
    if (state.cancelled || state.calls.some(({ begun }) => begun)) this.#restore(state)
    if (this.#gate?.judges === true && !state.cancelled && this.#calls.judged().length > 0) {
      const { turn } = this.#host
      const judged = this.#starts.judge(this.#gate, () => this.changed())
      return void judged.then((verdicts) => turn(() => this.gated(verdicts)))
    }
    this.#host.send({ type: "calls.judged" })
    this.#begin()
  }

  /** Takes over the calls of a stored batch: their charts are restored by the process (BATCH10). */
  #restore({ calls: states, halts, cancelled: isCancelled }: BatchState): void {
    this.#scheduler = this.#schedule({ phases: states.map(phaseOf), halts, isCancelled })
    this.#isDraining = isCancelled || halts.length > 0
    this.#calls.restore(states, {
      follows: (slot, outcome) => this.#follow(slot, outcome),
      cancelled: ({ index }) => this.#host.send({ type: "call.cancel", index })
    })
  }

  /** A call, as its chart finds it. */
  call(index: number): RunnableCall {
    const slot = this.#calls.all[index]
    const tool = this.#toolOf(slot)
    if (slot === undefined || tool === undefined) throw new Error(`the batch has no call ${index}`)
    return this.#calls.runnable(slot, tool, this)
  }

  #toolOf(slot: Slot | undefined): Tool | undefined {
    return slot === undefined ? undefined : toolFor(this.#input.toolsByName, slot.toolCall)
  }

  /** Applies the verdicts of the gate (BATCH6). */
  gated(verdicts: ReadonlyArray<GateVerdict>): void {
    if (this.#scheduler.isCancelled) return
    const isHalted = this.#starts.apply(verdicts, {
      ended: (slot, outcome) => this.#ended(slot, outcome),
      suspended: ({ index }) => this.#scheduler.suspend(index)
    })
    if (isHalted) this.#scheduler.skipAll()
    this.#host.send({ type: "calls.judged" })
    this.#begin()
  }

  /** Starts the calls, in the order of what they touch. */
  #begin(): void {
    const { pid, turn } = this.#host
    const { toolsByName: tools, options } = this.#input
    const { schedule, toolSlots } = options
    const calls = this.#calls.all.map(({ toolCall }) => toolCall)
    const unknown = schedule === "reference" ? ({ effect: "write" } as const) : undefined
    const { accesses, faults } = accessesOf(calls, { tools, schedule, unknown, isOver: this.#scheduler.isOver })
    this.#starts.faults = faults
    const slots = pid === undefined ? undefined : toolSlots?.line(pid, () => turn(() => this.slotGranted()))
    this.#scheduler.begin(accesses, slots)
    this.changed()
  }

  /** Records the final outcome of a call after its hooks. */
  followed(index: number, outcome: ToolOutcome): void {
    const slot = this.#calls.all[index]
    if (slot !== undefined) this.#ended(slot, outcome)
  }

  /** Uses a granted slot; the batch may no longer need it. */
  slotGranted(): void {
    this.#scheduler.slotGranted()
    this.changed()
  }

  /** The chart of a call has ended. */
  ended(index: number, end: EndOfCall): void {
    const slot = this.#calls.all[index]
    const tool = this.#toolOf(slot)
    if (slot === undefined || tool === undefined || slot.outcome !== undefined) return
    const result = end.type === "returned" ? original(end.result) : undefined
    if (result?.type === "child_waits" && this.#scheduler.isRunning(index)) return this.#asks(slot, result.child)
    this.#follow(slot, outcomeOf({ tool, toolCall: slot.toolCall, options: this.#input.options }, end))
  }

  /** The sub-agent of a call waits for a person: the call is suspended (BATCH6). */
  #asks(slot: Slot, child: ChildWait): void {
    this.#calls.suspend(slot, { child })
    this.#host.send({ type: "call.asks", index: slot.index, child })
    this.#scheduler.asks(slot.index)
    this.changed()
  }

  /** The process of a call died before its chart had ended. */
  died(index: number, reason: unknown): void {
    const slot = this.#calls.all[index]
    if (slot === undefined || slot.outcome !== undefined) return
    const { toolCall } = slot
    const why = reason instanceof OtpError.ProcessExit ? reason.reason : reason
    this.#follow(slot, toolOutcome(toolCall, died(toolCall, why), this.#input.options))
  }

  /** Runs the hooks after a call, if there are any, before its outcome is recorded. */
  #follow(slot: Slot, outcome: ToolOutcome): void {
    slot.hasEnded = true
    if (this.#gate?.follows(outcome) !== true) return this.#ended(slot, outcome)
    const { index } = slot
    const { ledger } = this.#input
    const { send, turn } = this.#host
    if (ledger !== undefined) ledger.following[index] = outcome
    send({ type: "call.follows", index, outcome: held(outcome) })
    void this.#gate.follow(index, outcome).then((last) => turn(() => this.followed(index, last)))
  }

  /** Records the outcome of a call; other calls may start. */
  #ended(slot: Slot, outcome: ToolOutcome): void {
    this.#calls.record(slot, outcome)
    this.#reportOver(slot)
    const end = endOf(slot)
    this.#scheduler.ended(slot.index, end)
    if (end.halt === "halt") this.#drain()
    this.changed()
  }

  #reportOver({ index, outcome }: Slot): void {
    if (outcome === undefined) return
    this.#host.send({ type: "call.over", index, outcome: held(outcome), halts: outcome.halt !== undefined })
  }

  /** No further call starts: closes the scope of the calls, which interrupts their handlers in parallel (BATCH4). */
  cancelAll(): void {
    this.#gate?.leave()
    this.#scheduler.cancel()
    this.#host.send({ type: "calls.draining", cancelled: true })
    this.#isDraining = true
    this.changed()
    const closing = Scope.closeUnsafe(this.scope, Exit.interrupt())
    if (closing !== undefined) System.runFork(this.#system, closing)
  }

  #drain(): void {
    if (this.#isDraining) return
    this.#isDraining = true
    this.#host.send({ type: "calls.draining", cancelled: false })
  }

  /** Cancels these calls only (BATCH7). */
  cancelCalls({ toolCallId, done }: CallCommand): void {
    const slots = this.#calls.all.filter((slot) => !isOver(slot) && isMeant(slot, toolCallId))
    this.#calls.waiters.add(slots, "over", done)
    for (const { index } of slots) this.#gate?.skip(index)
    this.#scheduler.cancelCalls(slots.map(({ index }) => index))
    this.changed()
    this.#calls.waiters.answer()
  }

  /** Restarts the running calls; not the calls that are being cancelled (BATCH7). */
  restartCalls({ toolCallId, done }: CallCommand): void {
    const slots = this.#calls.all.filter((slot) => isRunning(slot) && isMeant(slot, toolCallId))
    this.#calls.waiters.add(slots, "begun", done)
    this.#scheduler.restart(slots.map(({ index }) => index))
    this.changed()
    this.#calls.waiters.answer()
  }

  restart(index: number): void {
    const slot = this.#calls.all[index]
    if (slot === undefined) return
    slot.status = "restarting"
    this.#host.send({ type: "call.restart", index })
  }

  cancel(index: number): void {
    const slot = this.#calls.all[index]
    if (slot === undefined || !(slot.status === "restarting" || isRunning(slot))) return
    slot.status = "cancelling"
    this.#host.send({ type: "call.cancel", index })
  }

  skip(index: number, reason: "cancelled" | "not_started"): void {
    const slot = this.#calls.all[index]
    if (slot === undefined) return
    this.#calls.endEarly(slot, reason)
    this.#reportOver(slot)
  }

  /** Handles a call's request for another permission mode. */
  requestMode(slot: Slot, mode: Mode, signal: AbortSignal): ModeWish | Promise<ModeWish> {
    const { options } = this.#input
    this.#wishes ??= new ModeRequests(options, this.#system)
    return this.#wishes.request(mode, slot.toolCall, this.#toolOf(slot), signal)
  }

  /** Starts or ends a call after its intent was stored or failed (BATCH8). The call may be over already. */
  intended(index: number, failure: SessionError | undefined): void {
    const slot = this.#calls.all[index]
    if (slot === undefined) return
    this.#heedSignal()
    if (failure !== undefined) this.#starts.unstored(slot, failure)
    else if (this.#scheduler.begun(index)) {
      this.#start(slot)
      return this.changed()
    }
    this.#scheduler.ended(index)
    this.changed()
  }

  leave(): void {
    this.#gate?.leave()
    this.#wishes?.leave()
    this.#input.outlet.detach(this.#calls.source)
  }

  result(): ToolBatchResult {
    return this.#calls.result(this.#scheduler, this.#starts.error)
  }

  /** The end of a call that cannot run. */
  refuse(index: number): CallEnd | undefined {
    const slot = this.#calls.all[index]
    if (slot === undefined) return undefined
    this.#heedSignal()
    const end = this.#starts.refuse(slot)
    if (end !== undefined) this.#reportOver(slot)
    return end
  }

  /**
   * Cancels the batch if the signal of the run is aborted: a handler can abort it before the next call starts (BATCH4).
   */
  #heedSignal(): void {
    if (this.#input.options.signal?.aborted === true && !this.#scheduler.isCancelled) this.cancelAll()
  }

  /** Whether a handler may start: the batch is not cancelled, and neither is the run (BATCH4). */
  get mayStart(): boolean {
    this.#heedSignal()
    return !this.#scheduler.isCancelled
  }

  /** Starts a call, or first stores its intent (BATCH8). The call has its place and its slot already. */
  run(index: number): void {
    const slot = this.#calls.all[index]
    if (slot === undefined) return
    const { position } = slot
    const journal = this.#starts.journalOf(slot)
    if (journal === undefined) {
      this.#scheduler.begun(index)
      this.#start(slot)
    } else {
      const { turn } = this.#host
      journal.intend(position, (failure) => turn(() => this.intended(index, failure)), slot.given)
    }
  }

  #start(slot: Slot): void {
    const { index, toolCall } = slot
    const tool = toolFor(this.#input.toolsByName, toolCall)
    if (tool === undefined) return
    slot.status = "running"
    slot.hasStarted = true
    slot.traced = this.#input.options.trace?.tool(toolCall, tool)
    slot.startedAt = this.#calls.now()
    const { drainMs } = this.#input.options
    this.#host.send({ type: "call.begin", index, drainMs, startAtOnce: true, name: toolCall.name })
  }

  /** Every call is over: the reader gets the last events. */
  over(): void {
    this.#heedSignal()
    this.#gate?.leave()
    this.#wishes?.leave()
    this.#calls.source.end()
  }

  changed(reported?: string): void {
    this.#input.watcher?.toolCallsChanged(this.#calls.view, this.#host.pid, reported)
  }

  #exhausted(): void {
    this.#host.turn(() => this.#host.send({ type: "calls.exhausted", result: held(this.result()) }))
  }
}

const phaseOf = ({ begun, cancelled, outcome, child }: CallState): CallPhase => {
  if (outcome !== undefined) return "over"
  if (child !== undefined) return "asking"
  if (!begun) return "queued"
  return cancelled === true ? "cancelling" : "running"
}

const died = (toolCall: ToolCall, reason: unknown): HandlerResult.Failed =>
  toolFailure(toolCall, "handler_exit", `the process of ${toolCall.name} exited: ${describe(reason)}`, reason)
