/**
 * One batch of a dispatcher.
 *
 * Owns: the running calls, their timers and signals, the results. Does not own the order of starts (`nextCalls`), the
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
import {
  emit,
  emitResults,
  type DispatchResult,
  type DispatchState,
  type Failure,
  type Halt,
  type Runner
} from "./dispatchState.ts"
import { EffectsLedger, type Ledger, ReferenceLedger } from "./stateLedger.ts"
import {
  beyondBound,
  deniedCall,
  failedWith,
  failureOf,
  haltedCall,
  notStarted,
  suspendedCall
} from "./dispatchFailure.ts"
import { toolsByName } from "./dispatchChecks.ts"
import type { GateVerdict } from "../gate/index.ts"
import { callUser, type UserAnswer } from "../async/index.ts"
import type { HaltOrder } from "../options/index.ts"
import {
  accessesOf,
  type CallAccesses,
  CallMoves,
  defaultLimit,
  inHaltOrder,
  type MovesOwner,
  type OrderedCall
} from "./nextCalls.ts"
import { defaultMaxCalls } from "./batchCalls.ts"
import type { Tool } from "../tool/index.ts"
import { describe } from "../values/index.ts"

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

/** A call of the batch. */
interface DispatchCall<Result> extends OrderedCall {
  state: "new" | "waiting" | "done"
  mark: "running" | undefined
  halts: "halt" | undefined
  readonly position: number
  /** The call as it runs: the gate may have edited its arguments. */
  readonly toolCall: ToolCall
  /** The signal of its runner, and its timer. */
  abort: AbortController | undefined
  timer: unknown
  /** The time of the call's deadline on the system's clock. */
  due: number
  result: Result | Failure | typeof none
}

const defaultTimeoutMs = 60_000

/** A running batch. */
export class DispatchRun<State extends DispatchState, Result> implements MovesOwner<DispatchCall<Result>> {
  readonly #calls: ReadonlyArray<DispatchCall<Result>>
  readonly #moves: CallMoves<DispatchCall<Result>>
  readonly #start: State
  readonly #runner: Runner<State, Result>
  readonly #options: DispatchRunOptions
  readonly #tools: ReadonlyMap<string, Tool>
  readonly #planned: CallAccesses
  /** The positions of halting calls, in the order of their ends. */
  readonly #halts: Array<number> = []
  readonly #ledger: Ledger<State>
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
      const toolCall = verdict?.type === "allow" ? verdict.toolCall : call
      const times = { abort: undefined, timer: undefined, due: Infinity }
      return { position, toolCall, state: "new", mark: undefined, halts: undefined, ...times, result: none }
    })
    this.#start = state
    this.#runner = runner
    this.#options = options
    this.#tools = toolsByName(state)
    this.#planned = accessesOf(
      this.#calls.map(({ toolCall }) => toolCall),
      {
        tools: this.#tools,
        schedule: options.schedule,
        isOver: (position) => position >= mostOf(state) || (options.verdicts[position]?.type ?? "allow") !== "allow",
        unknown: { effect: "write" }
      }
    )
    const { schedule } = options
    const limit = Math.max(1, state.maxConcurrency ?? defaultLimit(schedule))
    this.#moves = new CallMoves(this.#calls, { schedule, limit }, this)
    this.#ledger =
      options.schedule === "effects"
        ? new EffectsLedger(state, calls.length)
        : new ReferenceLedger(state, (position) => this.#isRead(position))
  }

  /** Runs the batch. */
  result(): Promise<DispatchResult<State, Result>> {
    const { signal } = this.#options
    signal?.addEventListener("abort", this.#leave)
    for (const call of this.#calls) this.#heed(call, this.#options.verdicts[call.position])
    this.#moves.begin(this.#planned.accesses)
    return this.#ended.promise
  }

  skip(call: DispatchCall<Result>): void {
    this.#endOf(call)
  }

  over(): void {
    this.#finish()
  }

  #endOf(call: DispatchCall<Result>, halts?: "halt"): void {
    call.state = "done"
    call.mark = undefined
    call.halts = halts
    if (halts !== undefined) this.#halts.push(call.position)
  }

  /** Applies a verdict of the gate (DISP5), and refuses a call whose key failed. */
  #heed(call: DispatchCall<Result>, verdict: GateVerdict | undefined): void {
    const fault = this.#planned.faults.get(call.position)
    const most = mostOf(this.#start)
    if (call.position >= most) this.#refuse(call, beyondBound(call.toolCall, most))
    else if (fault !== undefined) this.#refuse(call, failedWith(call.toolCall, fault))
    else if (verdict?.type === "deny") {
      this.#refuse(call, deniedCall(verdict.toolCall, verdict.reason, verdict.denial))
    } else if (verdict?.type === "suspend") {
      call.result = suspendedCall(verdict.toolCall)
      call.state = "waiting"
    } else if (verdict?.type === "halt") {
      this.#haltedByGate = { type: "halt", reason: verdict.reason }
      this.#moves.stop("not_started")
      this.#refuse(call, haltedCall(verdict.toolCall, verdict.reason))
    }
  }

  readonly #leave = (): void => this.#end(this.#options.signal?.reason)

  /** Ends the batch with a rejection. */
  #end(reason: unknown): void {
    this.#close()
    this.#ended.reject(reason)
  }

  start(call: DispatchCall<Result>): boolean {
    if (this.#over) return false
    const initial = this.#ledger.given(call.position)
    const { system } = this.#options
    const { clock } = system
    const abort = new AbortController()
    const timeoutMs = this.#timeoutOf(call)
    call.mark = "running"
    call.abort = abort
    call.timer = timeoutMs < Infinity ? clock.setTimeout(() => abort.abort(), timeoutMs) : undefined
    call.due = clock.now() + timeoutMs
    callUser((signal) => this.#runner(copied(call.toolCall), initial, { signal }), { signal: abort.signal, system })
      .then((userAnswer) => this.#runnerEnded(call, initial, userAnswer))
      .catch((thrown: unknown) => this.#end(thrown))
    return true
  }

  #runnerEnded(call: DispatchCall<Result>, initial: State, userAnswer: UserAnswer): void {
    if (this.#over) return
    const { clock } = this.#options.system
    clock.clearTimeout(call.timer)
    const halted = this.#settle(call, initial, clock.now() > call.due ? { type: "aborted" } : userAnswer)
    if (this.#over) return
    this.#endOf(call, halted ? "halt" : undefined)
    if (halted && this.#isReference) this.#finish()
    else this.#moves.proceed()
  }

  /** Records the result of a call that ran. Returns whether the call halts the batch. */
  #settle(call: DispatchCall<Result>, initial: State, userAnswer: UserAnswer): boolean {
    if (userAnswer.type === "value") return this.#returned(call, initial, userAnswer.value)
    if (userAnswer.type === "fault") this.#crashed(call, userAnswer.cause)
    else this.#without(call, "timeout", `no result within ${this.#timeoutOf(call)} ms; nobody waits for it`)
    return false
  }

  #returned(call: DispatchCall<Result>, initial: State, value: unknown): boolean {
    let halted: boolean
    try {
      if (!isPair(value)) {
        const message = `the runner returned ${describe(value)}; return a pair of the result and the state`
        this.#without(call, "invalid_return", message, value)
        return false
      }
      halted = endsBatch(value[0])
    } catch (thrown) {
      this.#crashed(call, thrown)
      return false
    }
    const [result, state] = value as unknown as readonly [Result, State]
    this.#ledger.ended(call.position, initial, state, halted)
    if (this.#isReference && isMissing(result)) {
      this.#without(call, "invalid_return", `the runner returned ${describe(result)} as the result`, result)
    } else {
      call.result = result
    }
    return halted
  }

  #crashed(call: DispatchCall<Result>, cause: unknown): void {
    if (this.#isReference && !this.#isRead(call.position)) {
      this.#end(cause)
    } else if (Process.isSelfExit(cause)) {
      this.#without(call, "handler_exit", `the runner exited: ${describe(cause.reason)}`, cause.reason)
    } else {
      this.#without(call, "handler_raised", `the runner raised: ${describe(cause)}`, cause)
    }
  }

  /** Fails a call that ran and has no result. */
  #without(call: DispatchCall<Result>, reason: ToolErrorReason, message: string, cause?: unknown): void {
    const failure = failureOf(call.toolCall, reason, message, { cause })
    this.#fail(call, failure)
    const { hooks, context } = this.#start
    if (this.#isReference || hooks === undefined) return
    const { system, signal = new AbortController().signal } = this.#options
    const { toolCall, error, outcome } = failure
    const payload = { ...Hooks.toolUse(toolCall), reason: error, outcome }
    const run = { system, signal, context, timeoutMs: this.#timeoutOf(call) }
    this.#notifying.push(Hooks.notify(hooks, "PostToolUseFailure", payload, run))
  }

  /** Fails a call that never runs, and emits its `tool_call`, since its runner does not. */
  #refuse(call: DispatchCall<Result>, failure: Failure): void {
    emit(this.#start, { type: "tool_call", toolCall: failure.toolCall })
    this.#fail(call, failure)
    this.#endOf(call)
  }

  /** Records a failure. Except under `reference`, it is also counted as a mistake and emitted to the listener. */
  #fail(call: DispatchCall<Result>, failure: Failure): void {
    call.result = failure
    if (this.#isReference) return
    this.#ledger.failed(call.position)
    emitResults(this.#start, failure.toolCall, failure.message)
  }

  #finish(): void {
    if (this.#over) return
    this.#close()
    this.#ledger.close()
    const { state } = this.#ledger
    const [halting = -1] = inHaltOrder(this.#halts, this.#options.haltOrder)
    const halt: unknown = this.#haltedByGate ?? this.#calls[halting]?.result
    const results = this.#calls.map(({ result, toolCall }) => (result === none ? notStarted(toolCall) : result))
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
    const { signal, system } = this.#options
    this.#over = true
    signal?.removeEventListener("abort", this.#leave)
    for (const { mark, timer, abort } of this.#calls) {
      if (mark === undefined) continue
      system.clock.clearTimeout(timer)
      abort?.abort()
    }
  }

  get #isReference(): boolean {
    return this.#options.schedule === "reference"
  }

  #isRead(position: number): boolean {
    return this.#planned.accesses[position]?.effect === "read"
  }

  #timeoutOf({ position, toolCall }: DispatchCall<Result>): number {
    if (this.#isReference && !this.#isRead(position)) return Infinity
    const tool = this.#tools.get(toolCall.name)
    return Math.max(0, tool?.timeoutMs ?? this.#start.toolTimeoutMs ?? defaultTimeoutMs)
  }
}

/** How many calls of a batch run (BATCH11). */
export const mostOf = ({ maxCallsPerReply }: DispatchState): number => maxCallsPerReply ?? defaultMaxCalls

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
