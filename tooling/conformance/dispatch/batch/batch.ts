/**
 * Runs a batch of scripted calls through the dispatcher on a stopped clock, by default under the reference's schedule.
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

/** One call, and the script of its runner. */
export interface ScriptedCall {
  /** Its name in the trace; two calls can have one id. */
  readonly key: string
  readonly id: string
  readonly tool: string
  readonly delayMs: number
  readonly edits: ReadonlyArray<(state: BatchState) => BatchState>
  /** The runner's result, from the shared cell; by default a plain success. */
  readonly result?: ((cell: unknown) => unknown) | undefined
  /** The new value of the cell. */
  readonly writes?: unknown
  /** Throws, instead of returning. */
  readonly crash?: (() => never) | undefined
}

/** A batch to run. */
export interface Batch {
  readonly state: BatchState
  readonly calls: ReadonlyArray<ScriptedCall>
  /** The initial value of the shared cell. */
  readonly cell?: unknown
  /** Default: the schedule `reference`. */
  readonly options?: Pick<NonNullable<Parameters<typeof Dispatch.run>[3]>, "schedule" | "haltOrder"> | undefined
}

/** The result of one call, in the cases' form. */
export interface CallResult {
  readonly callId: string
  readonly content: unknown
  readonly isError: boolean
}

/** The observations of a batch. */
export interface BatchSeen {
  readonly kind: "ok" | "halt" | "raised-in-caller"
  readonly reason: unknown
  readonly results: ReadonlyArray<unknown> | undefined
  readonly state: BatchState | undefined
  readonly trace: ReadonlyArray<string>
  readonly maxInFlight: number
  /** The state that each runner got. */
  readonly given: Readonly<Record<string, BatchState>>
}

/** Sleepers that are due together wake together, before anything else runs. */
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

/** Runs the batch, and returns the observations. */
export const runBatch = async ({ state, calls, cell: first, options }: Batch): Promise<BatchSeen> => {
  const clock = Clock.test()
  const sleep = new Sleep(clock)
  const trace: Array<string> = []
  const given: Record<string, BatchState> = {}
  let cell = first
  let inFlight = 0
  let maxInFlight = 0
  // Ids may repeat, and a runner gets a copy of its call: its place identifies its script.
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
  const work = Dispatch.run(toolCalls, state, runner, { schedule: "reference", ...options, system }).then(
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
  run: Awaited<ReturnType<typeof Dispatch.run<BatchState, unknown>>>
): { readonly results: ReadonlyArray<unknown> | undefined } => ({
  results: run.type === "halt" ? run.results : run.results.map(written)
})

const written = (result: unknown): unknown => {
  if (!Dispatch.isFailure(result)) return result
  const { toolCall, message } = result
  return { callId: toolCall.id, content: message.content, isError: true } satisfies CallResult
}
