/**
 * One batch of a dispatcher.
 *
 * Owns: the calls that run, their timers and signals, the results. Does not own the order of starts (`schedule`), the state
 * (`dispatchLedger`), nor what a call does (the runner).
 *
 * DISP1. Every call has exactly one result, in its own position, whatever its id.
 * DISP2. No runner's fault escapes, except under `reference` that of a call that is no read: it ends the batch.
 * DISP3. A call's deadline counts from its start. A late call is told, and not waited for; what it returns then is nothing.
 * DISP4. After a halt no call starts. Under `effects` those that run are waited for, under `reference` they are told, and not.
 * DISP5. When the batch is over nothing of it is left: no timer, no listener, no call that was not told.
 */
import { Process, type System } from "@troupe/otp"
import { ToolError, type ToolErrorReason } from "../ChatError.ts"
import type { DispatchResult, DispatchState, DispatchTool, Failure, Halt, Runner } from "../Dispatch.ts"
import { ofError, type Outcome } from "../Outcome.ts"
import type { ToolCall } from "../ToolCall.ts"
import { describe, errorText } from "../ToolResultEncoder.ts"
import { emitResults } from "./dispatchEvents.ts"
import { EffectsLedger, type Ledger, ReferenceLedger } from "./dispatchLedger.ts"
import { hear, type Heard } from "./hearing.ts"
import { type Access, type Plan, planOf } from "./schedule.ts"

/** How a batch is run; all of it is decided. */
export interface DispatchRunOptions {
  readonly schedule: "effects" | "reference"
  readonly system: System.System
  readonly signal: AbortSignal | undefined
}

interface Running {
  readonly abort: AbortController
  readonly timer: unknown
}

/** Stands where there is no result yet; any value can be one. */
const none: unique symbol = Symbol("none")

const defaultConcurrency = 4
const defaultTimeoutMs = 60_000

/** A running batch. */
export class DispatchRun<State extends DispatchState, Result> {
  readonly #calls: ReadonlyArray<ToolCall>
  readonly #start: State
  readonly #runner: Runner<State, Result>
  readonly #options: DispatchRunOptions
  readonly #tools = new Map<string, DispatchTool>()
  readonly #accesses: ReadonlyArray<Access>
  readonly #plan: Plan
  readonly #ledger: Ledger<State>
  readonly #limit: number
  readonly #running = new Map<number, Running>()
  readonly #results: Array<Result | Failure | typeof none>
  readonly #ended = Promise.withResolvers<DispatchResult<State, Result>>()
  #halted = false
  #over = false

  constructor(
    calls: ReadonlyArray<ToolCall>,
    state: State,
    runner: Runner<State, Result>,
    options: DispatchRunOptions
  ) {
    this.#calls = calls
    this.#start = state
    this.#runner = runner
    this.#options = options
    for (const tool of state.tools ?? []) if (!this.#tools.has(tool.name)) this.#tools.set(tool.name, tool)
    this.#accesses = calls.map((call) => this.#accessOf(call))
    this.#plan = planOf(this.#accesses, (access) => access, options.schedule)
    this.#limit = Math.max(1, state.maxConcurrency ?? defaultConcurrency)
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
    this.#fill()
    return this.#ended.promise
  }

  readonly #leave = (): void => {
    const { signal } = this.#options
    this.#close()
    this.#ended.reject(signal?.reason)
  }

  /** Starts calls while there are slots; when none runs, the batch is over. */
  #fill(): void {
    while (!this.#over && !this.#halted && this.#running.size < this.#limit) {
      const position = this.#plan.take()
      if (position === undefined) break
      this.#begin(position)
    }
    if (!this.#over && this.#running.size === 0) this.#finish()
  }

  #begin(position: number): void {
    const toolCall = this.#callAt(position)
    const given = this.#ledger.given(position)
    const { system } = this.#options
    const abort = new AbortController()
    const timeoutMs = this.#timeoutOf(position)
    const timer = timeoutMs < Infinity ? system.clock.setTimeout(() => abort.abort(), timeoutMs) : undefined
    this.#running.set(position, { abort, timer })
    void hear((signal) => this.#runner(toolCall, given, { signal }), { signal: abort.signal, system }).then((heard) =>
      this.#heard(position, given, heard)
    )
  }

  #heard(position: number, given: State, heard: Heard): void {
    if (this.#over) return
    this.#options.system.clock.clearTimeout(this.#running.get(position)?.timer)
    this.#running.delete(position)
    this.#plan.ended(position)
    this.#settle(position, given, heard)
    this.#fill()
  }

  #settle(position: number, given: State, heard: Heard): void {
    switch (heard.type) {
      case "aborted":
        return this.#fail(position, "timeout", `no result within ${this.#timeoutOf(position)} ms; it is not waited for`)
      case "fault":
        return this.#crashed(position, heard.cause)
      case "value":
        return this.#returned(position, given, heard.value)
    }
  }

  #returned(position: number, given: State, value: unknown): void {
    if (!isPair(value)) {
      const message = `the runner returned ${describe(value)}; return a pair of the result and the state`
      return this.#fail(position, "invalid_return", message, value)
    }
    const [result, state] = value as unknown as readonly [Result, State]
    const halted = endsBatch(result)
    this.#ledger.ended(position, given, state, halted)
    if (!halted && this.#isReference && isMissing(result)) {
      return this.#fail(position, "invalid_return", `the runner returned ${describe(result)} as the result`, result)
    }
    this.#results[position] = result
    if (!halted) return
    this.#halted = true
    if (this.#isReference) this.#finish()
  }

  #crashed(position: number, cause: unknown): void {
    if (this.#isReference && !this.#isRead(position)) {
      this.#close()
      this.#ended.reject(cause)
    } else if (Process.isSelfExit(cause)) {
      this.#fail(position, "handler_exit", `the runner exited: ${describe(cause.reason)}`, cause.reason)
    } else {
      this.#fail(position, "handler_raised", `the runner raised: ${describe(cause)}`, cause)
    }
  }

  /** The call has no result of its own; except under `reference` that is told and counted as any other failure. */
  #fail(position: number, reason: ToolErrorReason, message: string, cause?: unknown): void {
    const failure = failureOf(this.#callAt(position), reason, message, { cause })
    this.#results[position] = failure
    if (this.#isReference) return
    this.#ledger.failed(position)
    emitResults(this.#start, failure.toolCall, failure.message)
  }

  #finish(): void {
    this.#close()
    this.#ledger.close()
    const { state } = this.#ledger
    const halt: unknown = this.#results.find(endsBatch)
    const results = this.#results.map((result, position) =>
      result === none ? notStarted(this.#callAt(position)) : result
    )
    if (!endsBatch(halt)) {
      this.#ended.resolve({ type: "ok", results: results as ReadonlyArray<Exclude<Result, Halt> | Failure>, state })
    } else {
      const { reason } = halt
      this.#ended.resolve({ type: "halt", reason, state, ...(this.#isReference ? {} : { results }) })
    }
  }

  /** Nothing is waited for any more (DISP5). */
  #close(): void {
    this.#over = true
    this.#options.signal?.removeEventListener("abort", this.#leave)
    for (const { abort, timer } of this.#running.values()) {
      this.#options.system.clock.clearTimeout(timer)
      abort.abort()
    }
    this.#running.clear()
  }

  get #isReference(): boolean {
    return this.#options.schedule === "reference"
  }

  #isRead(position: number): boolean {
    return this.#accesses[position]?.effect === "read"
  }

  #callAt(position: number): ToolCall {
    return this.#calls[position] as ToolCall
  }

  #timeoutOf(position: number): number {
    if (this.#isReference && !this.#isRead(position)) return Infinity
    const tool = this.#tools.get(this.#callAt(position).name)
    return Math.max(0, tool?.timeoutMs ?? this.#start.toolTimeoutMs ?? defaultTimeoutMs)
  }

  #accessOf({ name, arguments: args }: ToolCall): Access {
    const tool = this.#tools.get(name)
    return { effect: tool?.effect ?? "write", key: keyOf(tool, args) }
  }
}

/** A key that cannot be told is none: the call may touch everything. */
const keyOf = (tool: DispatchTool | undefined, args: Record<string, unknown> | null): string | undefined => {
  if (tool?.key === undefined || args === null) return undefined
  try {
    const key: unknown = tool.key(args)
    return typeof key === "string" ? key : undefined
  } catch {
    return undefined
  }
}

const isPair = (value: unknown): value is readonly [unknown, object] =>
  Array.isArray(value) && value.length === 2 && typeof value[1] === "object" && value[1] !== null

/** Whether a result ends its batch. */
export const endsBatch = (result: unknown): result is Halt =>
  typeof result === "object" && result !== null && "type" in result && result.type === "halt" && "reason" in result

const isMissing = (result: unknown): boolean => result === undefined || result === null || result === false

const notStarted = (toolCall: ToolCall): Failure =>
  failureOf(toolCall, "cancelled", "not started: another call ended the batch", { outcome: "not_started" })

const failureOf = (
  toolCall: ToolCall,
  reason: ToolErrorReason,
  message: string,
  { cause, outcome }: { readonly cause?: unknown; readonly outcome?: Outcome } = {}
): Failure => {
  const { id, name } = toolCall
  const error = new ToolError(reason, {
    message: `${name}: ${message}`,
    toolName: name,
    toolCallId: id,
    ...(cause === undefined ? {} : { cause })
  })
  const ended = outcome ?? ofError(error)
  const content = errorText(error)
  return {
    type: "failure",
    toolCall,
    outcome: ended,
    error,
    message: { role: "tool", toolCallId: id, content, outcome: ended }
  }
}
