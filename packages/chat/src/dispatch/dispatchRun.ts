/**
 * One batch of a dispatcher.
 *
 * Owns: the running calls, their timers and signals, the results. Does not own the order of starts (`Scheduler`), the
 * state (`stateLedger`), nor the execution of a call (the runner).
 *
 * DISP1. Every call has exactly one result, in its own position, whatever its id.
 * DISP2. Exceptions of a runner become failures. Exception: under `reference` an exception of a call that is not a read
 *        ends the batch.
 * DISP3. A call's deadline counts from its start. When it passes, the call's signal is aborted, and the batch stops waiting
 *        for the call. A result that comes after the deadline is discarded, also when the runner blocked the thread.
 * DISP4. After a halt no later call starts. Under `effects` earlier calls still start, and all running calls are awaited.
 *        Under `reference` the signals of running calls are aborted, and the batch does not wait for them.
 * DISP6. When the batch is over, there is no timer and no listener, and the signals of running calls are aborted.
 */
import { Process, type System } from "@troupe/otp"
import type { ToolErrorReason } from "../errors/index.ts"
import * as Hooks from "../gate/Hooks.ts"
import type { ToolCall } from "../model/index.ts"
import { copied } from "../json/index.ts"
import { emit, emitResults } from "./dispatchEvents.ts"
import { EffectsLedger, type Ledger, ReferenceLedger } from "./stateLedger.ts"
import { deniedCall, failedWith, failureOf, haltedCall, notStarted, suspendedCall } from "./dispatchFailure.ts"
import { toolsByName } from "./dispatchGate.ts"
import type { GateVerdict } from "../gate/index.ts"
import { callUser, type UserAnswer } from "../async/index.ts"
import type { HaltOrder } from "../options/index.ts"
import { accessesOf, type CallAccesses, defaultLimit, Scheduler } from "../batch/index.ts"
import type { Tool } from "../tool/index.ts"
import { describe } from "../values/index.ts"
import type { DispatchResult, DispatchState, Failure, Halt, Runner } from "./dispatchState.ts"

/** The complete options of a batch. */
export interface DispatchRunOptions {
  /** The order in which calls start and end. */
  readonly schedule: "effects" | "reference"
  /** Which of several halts counts; the first in call order if it is `undefined`. */
  readonly haltOrder: HaltOrder | undefined
  /** Has the processes of the calls, and the clock of their timeouts. */
  readonly system: System.System
  /** Ends the batch when it is aborted. */
  readonly signal: AbortSignal | undefined
  /** The verdicts of the gate; calls after a halt have none. */
  readonly verdicts: ReadonlyArray<GateVerdict>
}

/** Marks a missing result; any other value can be a result. */
const none: unique symbol = Symbol("none")

const defaultTimeoutMs = 60_000

/** A running batch. */
export class DispatchRun<State extends DispatchState, Result> {
  /** The calls as they run: the gate may have edited their arguments. */
  readonly #calls: ReadonlyArray<ToolCall>
  readonly #start: State
  readonly #runner: Runner<State, Result>
  readonly #options: DispatchRunOptions
  readonly #tools: ReadonlyMap<string, Tool>
  readonly #planned: CallAccesses
  readonly #scheduler: Scheduler
  readonly #ledger: Ledger<State>
  readonly #running = new Map<
    number,
    {
      readonly abort: AbortController
      readonly timer: unknown
      /** The time of the call's deadline on the system's clock. */
      readonly due: number
    }
  >()
  readonly #results: Array<Result | Failure | typeof none>
  readonly #ended = Promise.withResolvers<DispatchResult<State, Result>>()
  #haltedByGate: Halt | undefined
  #over = false
  /** The running hooks; the batch waits for them. */
  readonly #notifying: Array<Promise<void>> = []

  constructor(
    calls: ReadonlyArray<ToolCall>,
    state: State,
    runner: Runner<State, Result>,
    options: DispatchRunOptions
  ) {
    this.#calls = calls.map((call, position) => {
      const verdict = options.verdicts[position]
      return verdict?.type === "allow" ? verdict.toolCall : call
    })
    this.#start = state
    this.#runner = runner
    this.#options = options
    this.#tools = toolsByName(state)
    this.#planned = accessesOf(this.#calls, {
      tools: this.#tools,
      schedule: options.schedule,
      isOver: (position) => (options.verdicts[position]?.type ?? "allow") !== "allow",
      unknown: { effect: "write" }
    })
    this.#scheduler = new Scheduler(
      calls.length,
      { ...options, limit: Math.max(1, state.maxConcurrency ?? defaultLimit(options.schedule)) },
      {
        run: (position) => this.#begin(position),
        cancel: (position) => this.#stop(position),
        skip: () => undefined,
        over: () => this.#finish()
      }
    )
    this.#results = calls.map(() => none)
    this.#ledger =
      options.schedule === "effects"
        ? new EffectsLedger(state, calls.length)
        : new ReferenceLedger(state, (position) => this.#isRead(position))
  }

  /** Runs the batch. */
  result(): Promise<DispatchResult<State, Result>> {
    const { signal } = this.#options
    signal?.addEventListener("abort", this.#leave)
    for (const [position, verdict] of this.#options.verdicts.entries()) this.#heed(position, verdict)
    const { accesses, faults } = this.#planned
    for (const [position, error] of faults) this.#refuse(position, failedWith(this.#callAt(position), error))
    if (this.#haltedByGate !== undefined) this.#scheduler.skipAll()
    this.#scheduler.begin(accesses)
    return this.#ended.promise
  }

  /** Applies a verdict of the gate (DISP5). */
  #heed(position: number, verdict: GateVerdict): void {
    if (verdict.type === "deny") {
      this.#refuse(position, deniedCall(verdict.toolCall, verdict.reason, verdict.denial))
    } else if (verdict.type === "suspend") {
      this.#results[position] = suspendedCall(verdict.toolCall)
      this.#scheduler.suspend(position)
    } else if (verdict.type === "halt") {
      this.#haltedByGate = { type: "halt", reason: verdict.reason }
      this.#refuse(position, haltedCall(verdict.toolCall, verdict.reason))
    }
  }

  readonly #leave = (): void => this.#end(this.#options.signal?.reason)

  /** Ends the batch with a rejection. */
  #end(reason: unknown): void {
    this.#close()
    this.#ended.reject(reason)
  }

  #begin(position: number): void {
    this.#scheduler.begun(position)
    const toolCall = this.#callAt(position)
    const initial = this.#ledger.given(position)
    const { system } = this.#options
    const abort = new AbortController()
    const timeoutMs = this.#timeoutOf(position)
    const timer = timeoutMs < Infinity ? system.clock.setTimeout(() => abort.abort(), timeoutMs) : undefined
    this.#running.set(position, { abort, timer, due: system.clock.now() + timeoutMs })
    callUser((signal) => this.#runner(copied(toolCall), initial, { signal }), { signal: abort.signal, system })
      .then((userAnswer) => this.#runnerEnded(position, initial, userAnswer))
      .catch((thrown: unknown) => this.#end(thrown))
  }

  #runnerEnded(position: number, initial: State, userAnswer: UserAnswer): void {
    if (this.#over) return
    const { clock } = this.#options.system
    const { timer, due = Infinity } = this.#running.get(position) ?? {}
    clock.clearTimeout(timer)
    this.#running.delete(position)
    const halted = this.#settle(position, initial, clock.now() > due ? { type: "aborted" } : userAnswer)
    if (this.#over) return
    this.#scheduler.ended(position, halted ? { halt: "halt" } : {})
    if (halted && this.#isReference) this.#finish()
  }

  /** Records the result of a call that ran. Returns whether the call halts the batch. */
  #settle(position: number, initial: State, userAnswer: UserAnswer): boolean {
    if (userAnswer.type === "value") return this.#returned(position, initial, userAnswer.value)
    if (userAnswer.type === "fault") this.#crashed(position, userAnswer.cause)
    else this.#without(position, "timeout", `no result within ${this.#timeoutOf(position)} ms; nobody waits for it`)
    return false
  }

  #returned(position: number, initial: State, value: unknown): boolean {
    let halted: boolean
    try {
      if (!isPair(value)) {
        const message = `the runner returned ${describe(value)}; return a pair of the result and the state`
        this.#without(position, "invalid_return", message, value)
        return false
      }
      halted = endsBatch(value[0])
    } catch (thrown) {
      this.#crashed(position, thrown)
      return false
    }
    const [result, state] = value as unknown as readonly [Result, State]
    this.#ledger.ended(position, initial, state, halted)
    if (this.#isReference && isMissing(result)) {
      this.#without(position, "invalid_return", `the runner returned ${describe(result)} as the result`, result)
    } else {
      this.#results[position] = result
    }
    return halted
  }

  #crashed(position: number, cause: unknown): void {
    if (this.#isReference && !this.#isRead(position)) {
      this.#end(cause)
    } else if (Process.isSelfExit(cause)) {
      this.#without(position, "handler_exit", `the runner exited: ${describe(cause.reason)}`, cause.reason)
    } else {
      this.#without(position, "handler_raised", `the runner raised: ${describe(cause)}`, cause)
    }
  }

  /** Fails a call that ran and has no result. */
  #without(position: number, reason: ToolErrorReason, message: string, cause?: unknown): void {
    const failure = failureOf(this.#callAt(position), reason, message, { cause })
    this.#fail(position, failure)
    const { hooks, context } = this.#start
    if (this.#isReference || hooks === undefined) return
    const { system, signal = new AbortController().signal } = this.#options
    const { toolCall, error, outcome } = failure
    const payload = { ...Hooks.toolUse(toolCall), reason: error, outcome }
    const run = { system, signal, context, timeoutMs: this.#timeoutOf(position) }
    this.#notifying.push(Hooks.notify(hooks, "PostToolUseFailure", payload, run))
  }

  /** Fails a call that never runs, and emits its `tool_call`, since its runner does not. */
  #refuse(position: number, failure: Failure): void {
    emit(this.#start, { type: "tool_call", toolCall: failure.toolCall })
    this.#fail(position, failure)
    this.#scheduler.ended(position)
  }

  /** Records a failure. Except under `reference`, it is also counted as a mistake and emitted to the listener. */
  #fail(position: number, failure: Failure): void {
    this.#results[position] = failure
    if (this.#isReference) return
    this.#ledger.failed(position)
    emitResults(this.#start, failure.toolCall, failure.message)
  }

  #finish(): void {
    if (this.#over) return
    this.#close()
    this.#ledger.close()
    const { state } = this.#ledger
    const [halting = -1] = this.#scheduler.halts
    const halt: unknown = this.#haltedByGate ?? this.#results[halting]
    const results = this.#results.map((result, position) =>
      result === none ? notStarted(this.#callAt(position)) : result
    )
    const over = (run: DispatchResult<State, Result>) =>
      this.#ended.resolve(this.#notifying.length === 0 ? run : Promise.all(this.#notifying).then(() => run))
    if (!endsBatch(halt)) {
      over({ type: "ok", results: results as ReadonlyArray<Exclude<Result, Halt> | Failure>, state })
    } else {
      const { reason } = halt
      over({ type: "halt", reason, state, ...(this.#isReference ? {} : { results }) })
    }
  }

  /** Removes timers and listeners, and aborts the running calls (DISP6). No call starts afterwards. */
  #close(): void {
    this.#over = true
    this.#options.signal?.removeEventListener("abort", this.#leave)
    this.#scheduler.cancel()
  }

  #stop(position: number): void {
    const { abort, timer } = this.#running.get(position) ?? {}
    this.#options.system.clock.clearTimeout(timer)
    abort?.abort()
    this.#running.delete(position)
  }

  get #isReference(): boolean {
    return this.#options.schedule === "reference"
  }

  #isRead(position: number): boolean {
    return this.#planned.accesses[position]?.effect === "read"
  }

  #callAt(position: number): ToolCall {
    return this.#calls[position] as ToolCall
  }

  #timeoutOf(position: number): number {
    if (this.#isReference && !this.#isRead(position)) return Infinity
    const tool = this.#tools.get(this.#callAt(position).name)
    return Math.max(0, tool?.timeoutMs ?? this.#start.toolTimeoutMs ?? defaultTimeoutMs)
  }
}

/**
 * Whether a value is a pair of a result and a state. Reads all fields of the state, so accessors that throw do so here.
 */
const isPair = (value: unknown): value is readonly [unknown, object] => {
  if (!Array.isArray(value) || value.length !== 2) return false
  const state: unknown = value[1]
  return typeof state === "object" && state !== null && Object.values(state).length >= 0
}

/** Whether a result ends its batch. */
const endsBatch = (result: unknown): result is Halt =>
  typeof result === "object" && result !== null && "type" in result && result.type === "halt" && "reason" in result

const isMissing = (result: unknown): boolean => result === undefined || result === null || result === false
