/**
 * Runs a batch of scripted calls through the dispatcher, under the reference's schedule, on a clock that stands still.
 *
 * @module
 */
import { Dispatch } from "@troupe/chat/dispatch"
import type { Permissions } from "@troupe/chat/tools"
import { Clock, System } from "@troupe/otp"

/** The state of a case's batch. */
export interface BatchState extends Dispatch.DispatchState {
  readonly phase: Permissions.Mode
  readonly budget: { readonly tokens: number } | null
  readonly consecutiveMistakes: number
  readonly toolCallsMade: number
  readonly messages: number
}

/** One call, and what its runner does. */
export interface ScriptedCall {
  /** What the trace calls it; two calls can have one id. */
  readonly key: string
  readonly id: string
  readonly tool: string
  readonly delayMs: number
  readonly edits: ReadonlyArray<(state: BatchState) => BatchState>
  /** What the runner returns as its result, seeing the shared cell; a plain success where it is left out. */
  readonly result?: ((cell: unknown) => unknown) | undefined
  /** What the cell is set to. */
  readonly writes?: unknown
  /** Throws, instead of returning. */
  readonly crash?: (() => never) | undefined
}

/** A batch to run. */
export interface Batch {
  readonly state: BatchState
  readonly calls: ReadonlyArray<ScriptedCall>
  /** What the shared cell holds at first. */
  readonly cell?: unknown
}

/** The result of one call, as cases write it. */
export interface CallResult {
  readonly callId: string
  readonly content: unknown
  readonly isError: boolean
}

/** What was seen of a batch. */
export interface BatchSeen {
  readonly kind: "ok" | "halt" | "raised-in-caller"
  readonly reason: unknown
  readonly results: ReadonlyArray<unknown> | undefined
  readonly state: BatchState | undefined
  readonly trace: ReadonlyArray<string>
  readonly maxInFlight: number
  /** What each runner was given. */
  readonly given: Readonly<Record<string, BatchState>>
}

/** Sleepers that are due together wake up together, before anything else happens. */
class Sleep {
  readonly #clock: Clock.TestClock
  readonly #due = new Map<number, Promise<void>>()

  constructor(clock: Clock.TestClock) {
    this.#clock = clock
  }

  until(ms: number): Promise<void> {
    const due = this.#clock.now() + ms
    const waiting = this.#due.get(due)
    if (waiting !== undefined) return waiting
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#due.set(due, promise)
    this.#clock.setTimeout(() => {
      this.#due.delete(due)
      resolve()
    }, ms)
    return promise
  }
}

/** Runs the batch, and tells what was seen. */
export const runBatch = async ({ state, calls, cell: first }: Batch): Promise<BatchSeen> => {
  const clock = Clock.test()
  const sleep = new Sleep(clock)
  const trace: Array<string> = []
  const given: Record<string, BatchState> = {}
  let cell = first
  let inFlight = 0
  let maxInFlight = 0
  // Ids occur twice, and a runner is handed a call of its own: its place says which script it follows.
  const toolCalls = calls.map(({ id, tool }, place) => ({ id, name: tool, arguments: {}, metadata: { place } }))
  const runner: Dispatch.Runner<BatchState, unknown> = async (toolCall, start, { signal }) => {
    const script = calls[Number(toolCall.metadata?.["place"])] as ScriptedCall
    trace.push(`start:${script.key}`)
    given[script.key] = start
    maxInFlight = Math.max(maxInFlight, ++inFlight)
    signal.addEventListener("abort", () => inFlight--)
    await sleep.until(script.delayMs)
    if (signal.aborted) return [undefined, start]
    inFlight--
    script.crash?.()
    if (script.writes !== undefined) cell = script.writes
    trace.push(`end:${script.key}`)
    const success: CallResult = { callId: script.id, content: `ok:${script.key}`, isError: false }
    const ended = script.edits.reduce((edited, edit) => edit(edited), start)
    return [script.result === undefined ? success : script.result(cell), ended]
  }
  const system = System.make({ clock })
  const work = Dispatch.run(toolCalls, state, runner, { schedule: "reference", system }).then(
    (run) => ({
      kind: run.type,
      reason: run.type === "halt" ? run.reason : undefined,
      state: run.state,
      ...resultsOf(run)
    }),
    (thrown: unknown) => ({ kind: "raised-in-caller" as const, reason: thrown, state: undefined, results: undefined })
  )
  return { ...(await clock.run(work)), trace, maxInFlight, given }
}

const resultsOf = (
  run: Dispatch.DispatchResult<BatchState, unknown>
): { readonly results: ReadonlyArray<unknown> | undefined } => ({
  results: run.type === "halt" ? run.results : run.results.map(written)
})

const written = (result: unknown): unknown => {
  if (!Dispatch.isFailure(result)) return result
  const { toolCall, message } = result
  return { callId: toolCall.id, content: message.content, isError: true } satisfies CallResult
}
