/**
 * The running tool calls of one assistant message.
 *
 * Owns: the live side of the calls, their places and slots, and the scope of their handlers. The processes of the calls are
 * children of the chart that has them. Does not own the order in which calls start (`nextCalls`), their outcomes so far
 * (`batchCalls`), nor a call's phases (`ToolCallMachine`).
 *
 * BATCH4. After a cancel, or after the signal of the run is aborted, no call starts. Running calls are cancelled, and the
 *         batch waits for them until their drain deadline. A question that was already asked is kept.
 * BATCH5. The batch is done when every call is over and the reader has pulled past the last event.
 * BATCH6. With a gate, no call starts before all are judged. A refused call is `denied`. When the gate ends the turn, the
 *         other calls that were not refused are `not_started`. A suspended call has no outcome: the result lists it.
 *         So does a call whose sub-agent waits for a person; only a cancel of the batch ends that call.
 * BATCH7. One call, or all calls, can be cancelled without the batch: the other calls and the turn go on. A call that
 *         waited only for a call cancelled before its turn starts at once. `done` of the command is called when those
 *         calls are over, or run again.
 * BATCH8. A call that writes starts when its intent is stored. When the intent cannot be stored, neither that call nor
 *         another call that writes starts, and the batch ends with that error. The deadline of a call does not run
 *         meanwhile.
 */
import { OtpError, type Pid, Process, StateMachine, System } from "@troupe/otp"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { defaultSystem, type SlotLine } from "../async/index.ts"
import {
  type CallCommand,
  endedEarly,
  haltedOutcome,
  outcomeOf,
  refusedOutcome,
  type RunnableCall,
  toolFailure,
  type ToolOutcome,
  toolOutcome,
  unknownIn
} from "../call/index.ts"
import { boundEnvironment, type SessionError, type ToolError } from "../errors/index.ts"
import type { GateVerdict } from "../gate/index.ts"
import type { ToolCall } from "../model/index.ts"
import type { ChildWait } from "../record/index.ts"
import { isProviderApproval, type Tool, toolFor } from "../tool/index.ts"
import { describe, held, original } from "../values/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"
import type {
  BatchCall,
  BatchCalls,
  BatchEnv,
  IntentJournal,
  ToolBatchInput,
  BatchHost,
  CallsCommand,
  CallsEvent,
  EndOfCall
} from "./batchCalls.ts"
import { type BatchGate, batchGateOf } from "./batchGate.ts"
import { accessesOf, notFound, CallMoves, defaultLimit, type MovesOwner } from "./nextCalls.ts"
import { CallEnds, type EndsOwner, CallRuns, type RunsOwner } from "./callEnds.ts"

/** The running calls of a batch. */
class RunningCalls implements MovesOwner<BatchCall>, EndsOwner, RunsOwner {
  readonly #input: ToolBatchInput
  readonly #host: BatchHost
  readonly #system: System.System
  readonly #calls: BatchCalls
  readonly #ends: CallEnds
  readonly #runs: CallRuns
  readonly #moves: CallMoves<BatchCall>
  /** Closing it interrupts the handlers of all calls, in parallel. */
  readonly scope = Scope.makeUnsafe("parallel")
  #gate: BatchGate | undefined
  #slots: SlotLine | undefined
  /** The errors of the tools' `key` functions, by the positions of their calls. Such a call does not run. */
  #faults: ReadonlyMap<number, ToolError> | undefined
  /** The first failure to store an intent; it ends the batch (BATCH8). */
  #error: SessionError | undefined

  constructor(input: ToolBatchInput, host: BatchHost) {
    const { schedule, maxConcurrency: limit = defaultLimit(schedule), system } = input.options
    this.#input = input
    this.#host = host
    this.#system = host.pid === undefined ? (system ?? defaultSystem()) : Process.systemOf(host.pid)
    this.#calls = input.calls
    this.#ends = new CallEnds(input, host, this.#system.clock, this)
    this.#runs = new CallRuns(input, this.#ends, this.#system, this)
    this.#moves = new CallMoves(input.calls.all, { schedule, limit }, this)
  }

  /** Starts the calls, or goes on with those that a stored batch has. */
  begin(state: Extract<CallsCommand, { readonly type: "begin" }>): void {
    const { outlet } = this.#input
    const { own } = this.#calls
    outlet.attach(this.#ends.source)
    this.#ends.gate = this.#gate = batchGateOf(this.#input, this.#system, own)
    this.#restore(state)
    for (const call of own) if (call.settled !== undefined && !call.isOver) this.#ends.record(call, call.settled)
    const judged = this.#gate?.judges === true && !state.cancelled ? own.filter((call) => this.#isToJudge(call)) : []
    if (this.#gate === undefined || judged.length === 0) return this.#start()
    const verdicts = this.#gate.judge(judged, this.#input.toolsByName, () => this.changed())
    void verdicts.then((given) => this.#host.turn(() => this.#gated(judged, given)))
  }

  /** Takes over the calls of a stored chart: the process restores their charts, and runs their handlers again. */
  #restore({ calls: states, cancelled }: Extract<CallsCommand, { readonly type: "begin" }>): void {
    if (cancelled) this.#moves.stop("cancelled")
    for (const call of this.#calls.own) {
      const state = states[call.index]
      if (state === undefined || state === null) continue
      this.#ends.restore(call, state)
      if (state.end !== undefined) this.ended(call.index, state.end)
    }
    this.#runs.restore()
  }

  /** Whether the gate judges a call: it can run, and has neither begun nor ended (BGATE1). */
  #isToJudge(call: BatchCall): boolean {
    return call.toolCall.arguments !== null && this.#toolOf(call) !== undefined && !call.hasStarted && !call.isOver
  }

  /** Applies the verdicts of the gate (BATCH6). */
  #gated(judged: ReadonlyArray<BatchCall>, verdicts: ReadonlyArray<GateVerdict>): void {
    if (this.#isCancelled) return
    const isHalted = verdicts.some(({ type }) => type === "halt")
    verdicts.forEach((verdict, at) => {
      const call = judged[at]
      if (call === undefined || call.isOver) return
      call.mark = undefined
      if (verdict.type === "allow") {
        call.toolCall = verdict.toolCall
        call.edited ||= verdict.edited
        call.given = verdict.given ?? call.given
      } else if (verdict.type === "deny") this.#ends.settle(call, refusedOutcome(verdict))
      else if (verdict.type === "halt") this.#ends.settle(call, haltedOutcome(verdict))
      else if (verdict.type === "suspend" && !isHalted) call.suspended = verdict
    })
    if (isHalted) this.#moves.stop("not_started")
    this.#start()
  }

  /** Starts the calls, in the order of what they touch. */
  #start(): void {
    const { turn } = this.#host
    const { toolsByName: tools, options } = this.#input
    const { schedule, toolSlots } = options
    const { all } = this.#calls
    const unknown = schedule === "reference" ? ({ effect: "write" } as const) : undefined
    const { accesses, faults } = accessesOf(
      all.map(({ toolCall }) => toolCall),
      { tools, schedule, unknown, isOver: (index) => all[index]?.isOwn !== true || all[index].isOver }
    )
    this.#faults = faults
    this.#slots = toolSlots?.line(() => turn(() => this.#proceed()))
    this.#moves.begin(accesses)
    this.changed()
  }

  #proceed(): void {
    this.#moves.proceed()
    this.changed()
  }

  /** Starts a call, or ends it if it cannot run. The call needs a slot, where they are bounded. */
  start(call: BatchCall): boolean {
    this.#heedSignal()
    if (call.isOver || this.#isCancelled) return false
    const fault = this.#faults?.get(call.index)
    const refusal = refusalOf(this.#input, call, fault, this.#error)
    if (refusal !== undefined) {
      this.#ends.settle(call, refusal)
      return true
    }
    if (this.#slots?.take() === false) return false
    this.#run(call)
    return true
  }

  rest(): void {
    this.#slots?.rest()
  }

  /** Starts a call, or first stores its intent (BATCH8). */
  #run(call: BatchCall): void {
    const journal = journalOf(this.#input, call)
    if (journal === undefined) return this.#begun(call)
    call.mark = "starting"
    call.intend()
    journal.intend((failure) => this.#host.turn(() => this.#intended(call, failure)))
  }

  /** Starts or ends a call after its intent was stored or failed (BATCH8). The call may be over already. */
  #intended(call: BatchCall, failure: SessionError | undefined): void {
    this.#heedSignal()
    if (failure === undefined && call.outcome === undefined) {
      this.#begun(call)
      return this.changed()
    }
    this.#leavePlace(call)
    this.#error ??= failure
    if (failure === undefined || call.outcome !== undefined) return this.#proceed()
    this.#ends.settle(call, this.#ends.early(call, "not_started", `not started: ${failure.reason}: ${failure.message}`))
  }

  #begun(call: BatchCall): void {
    const { index, toolCall } = call
    const { drainMs, trace } = this.#input.options
    call.mark = "running"
    call.traced = trace?.tool(toolCall, this.#toolOf(call) as Tool)
    call.startedAt = this.#system.clock.now()
    this.#host.send({ type: "call.begin", index, drainMs, startAtOnce: true, name: toolCall.name })
  }

  #leavePlace(call: BatchCall): void {
    call.mark = undefined
    this.#slots?.release()
  }

  /** A call, as its chart finds it. */
  call(index: number): RunnableCall {
    const call = this.#calls.all[index]
    const tool = call === undefined ? undefined : this.#toolOf(call)
    if (call === undefined || tool === undefined) throw new Error(`the batch has no call ${index}`)
    return this.#runs.runnable(call, tool)
  }

  #toolOf({ toolCall }: BatchCall): Tool | undefined {
    return toolFor(this.#input.toolsByName, toolCall)
  }

  /** The chart of a call has ended, or its process died before. */
  ended(index: number, end: EndOfCall): void {
    const call = this.#calls.all[index]
    const tool = call === undefined ? undefined : this.#toolOf(call)
    if (call === undefined || tool === undefined || call.outcome !== undefined) return
    const { options } = this.#input
    const { toolCall } = call
    const result = end.type === "returned" ? original(end.result) : undefined
    const unknown = result && unknownIn(result)
    if (result?.type === "child_waits" && call.isRunning) this.#asks(call, { child: result.child })
    else if (unknown !== undefined && call.isRunning && decides(tool, options)) this.#asks(call, { unknown })
    else if (end.type === "died")
      this.#ends.follow(call, toolOutcome(toolCall, diedWith(toolCall, original(end.reason)), options))
    else this.#ends.follow(call, outcomeOf({ tool, toolCall, options }, end))
  }

  /** A call has its outcome, and other calls may start. */
  settled(hadPlace: boolean): void {
    if (hadPlace) this.#slots?.release()
    this.#proceed()
  }

  /** A call or its sub-agent waits for a person: the call is suspended, and releases its place (BATCH6). */
  #asks(call: BatchCall, why: { readonly child: ChildWait } | { readonly unknown: string }): void {
    this.#leavePlace(call)
    call.mark = "asking"
    call.suspended = why
    call.pid = undefined
    call.traced?.(this.#ends.early(call, "cancelled"))
    this.#ends.changed(call, why)
    this.#proceed()
  }

  /** Ends a call that has not begun, or is suspended. What was decided about it stays in effect (DEC2). */
  skip(call: BatchCall, ended: "cancelled" | "not_started"): void {
    if (!call.isOwn) return
    this.#ends.record(call, call.settled ?? this.#ends.early(call, ended))
  }

  /** No further call starts: closes the scope of the calls, which interrupts their handlers in parallel (BATCH4). */
  cancelAll(): void {
    this.#gate?.leave()
    if (!this.#isCancelled) {
      this.#moves.stop("cancelled")
      this.#moves.proceed()
      for (const call of this.#calls.own) this.#cancel(call)
    }
    this.changed()
    const closing = Scope.closeUnsafe(this.scope, Exit.interrupt())
    if (closing !== undefined) System.runFork(this.#system, closing)
  }

  #cancel(call: BatchCall): void {
    if (!call.isRunning) return
    call.mark = "cancelling"
    this.#host.send({ type: "call.command", index: call.index, command: "call.cancel", state: { cancelled: true } })
  }

  /** Cancels or restarts calls, in a turn of the process (BATCH7). */
  readonly #control = (command: CallCommand): void =>
    this.#host.turn(() => (command.type === "calls.cancel" ? this.#cancelCalls(command) : this.#restartCalls(command)))

  /** Cancels these calls only (BATCH7). */
  #cancelCalls({ toolCallId, done }: CallCommand): void {
    const calls = this.#calls.own.filter((call) => !call.isOver && isMeant(call, toolCallId))
    for (const { index } of calls) this.#gate?.skip(index)
    this.#ends.await(calls, "over", done)
    for (const call of calls) {
      this.#cancel(call)
      if (!call.hasStarted && !call.isOver) this.skip(call, "cancelled")
    }
    this.#proceed()
    this.#ends.answer()
  }

  /** Restarts the running calls; not the calls that are being cancelled (BATCH7). */
  #restartCalls({ toolCallId, done }: CallCommand): void {
    const calls = this.#calls.own.filter((call) => call.mark === "running" && isMeant(call, toolCallId))
    this.#ends.await(calls, "begun", done)
    for (const call of calls) {
      call.mark = "restarting"
      this.#host.send({ type: "call.command", index: call.index, command: "call.restart" })
    }
    this.changed()
    this.#ends.answer()
  }

  leave(): void {
    this.#slots?.leave()
    this.#gate?.leave()
    this.#runs.leave()
    this.#input.outlet.detach(this.#ends.source)
  }

  /**
   * Cancels the batch if the signal of the run is aborted: a handler can abort it before the next call starts (BATCH4).
   */
  #heedSignal(): void {
    if (this.#input.options.signal?.aborted === true && !this.#isCancelled) this.cancelAll()
  }

  get #isCancelled(): boolean {
    return this.#moves.stopped === "cancelled"
  }

  /** Whether a handler may start: the batch is not cancelled, and neither is the run (BATCH4). */
  get mayStart(): boolean {
    this.#heedSignal()
    return !this.#isCancelled
  }

  /** Every call is over: the reader gets the last events. */
  over(): void {
    this.#heedSignal()
    this.#gate?.leave()
    this.#runs.leave()
    this.#ends.source.end()
  }

  changed(reported?: string): void {
    this.#input.watcher?.toolCallsChanged(this.#ends.view, this.#control, reported)
  }

  exhausted(): void {
    const { send, turn } = this.#host
    turn(() => send({ type: "calls.exhausted", result: held(this.#ends.result(this.#isCancelled, this.#error)) }))
  }
}

/** Whether a command is about this call: its id matches, or the command has no id. */
const isMeant = ({ toolCall }: BatchCall, id: string | undefined): boolean => id === undefined || toolCall.id === id

/** The journal, if it records this call. */
const journalOf = ({ journal, toolsByName }: ToolBatchInput, { toolCall }: BatchCall): IntentJournal | undefined =>
  isProviderApproval(toolCall) || toolsByName.get(toolCall.name)?.effect === "read" ? undefined : journal

/** Whether a person decides about a call with an unknown outcome: a call of a live chat, as after a restart (REVIVE2). */
const decides = ({ effect, onUnknown }: Tool, { chat }: ToolBatchInput["options"]): boolean =>
  chat !== undefined && effect === "write" && onUnknown === "ask"

const diedWith = (toolCall: ToolCall, reason: unknown): HandlerResult.Failed => {
  const why = reason instanceof OtpError.ProcessExit ? reason.reason : reason
  return toolFailure(toolCall, "handler_exit", `the process of ${toolCall.name} exited: ${describe(why)}`, why)
}

/** The outcome of a call that cannot run: its tool is unknown, its key failed, or no intent can be stored. */
const refusalOf = (
  input: ToolBatchInput,
  call: BatchCall,
  fault: ToolError | undefined,
  error: SessionError | undefined
): ToolOutcome | undefined => {
  const { toolsByName, options } = input
  const { toolCall } = call
  if (fault !== undefined) return toolOutcome(toolCall, HandlerResult.error(fault), options)
  if (toolFor(toolsByName, toolCall) === undefined)
    return toolOutcome(toolCall, notFound(toolCall, toolsByName), options)
  return error === undefined || journalOf(input, call) === undefined
    ? undefined
    : endedEarly(toolCall, "not_started", options, "not started: store_failed")
}

/** The actor that runs the calls of a message, for the chart that has them. */
export const calls = StateMachine.fromCallback<undefined, BatchEnv, CallsCommand, CallsEvent>(
  ({ env, send, turn, host }) => {
    const running = new RunningCalls(boundEnvironment(env).batch(), { pid: host as Pid | undefined, send, turn })
    env.runs(running, running.scope)
    send({ type: "calls.ready" })
    return {
      receive: (command) => {
        switch (command.type) {
          case "begin":
            return running.begin(command)
          case "calls.cancel":
            return running.cancelAll()
          case "call.ended":
            return running.ended(command.index, command.end)
        }
      },
      close: () => running.leave()
    }
  }
)
