/**
 * Runs a batch of scripted calls through the dispatcher on a stopped clock, by default under the reference's schedule.
 *
 * @module
 */
import { Dispatch } from "@troupe/chat/dispatch"
import { Clock, System } from "@troupe/otp"
import type { BatchState, ScriptedCall } from "./batchScript.ts"

/** A batch to run. */
export interface Batch {
  readonly state: BatchState
  readonly calls: ReadonlyArray<ScriptedCall>
  /** The initial value of the shared cell. */
  readonly cell?: unknown
  /** Default: the schedule `reference`. */
  readonly options?: Pick<NonNullable<Parameters<typeof Dispatch.run>[3]>, "schedule" | "haltOrder"> | undefined
}

/** The observations of a batch. */
export type BatchSeen = Awaited<ReturnType<typeof runBatch>>

/** Sleepers that are due together wake together, before anything else runs. */
const sleeping = (clock: Clock.Clock) => {
  const due = new Map<number, Promise<void>>()
  return (ms: number): Promise<void> => {
    const at = clock.now() + ms
    const over = due.get(at) ?? new Promise<void>((resolve) => void clock.setTimeout(resolve, ms))
    due.set(at, over)
    return over
  }
}

/** Runs the batch, and returns the observations; `given` has the state that each runner got. */
export const runBatch = async ({ state: initial, calls, cell: first, options }: Batch) => {
  const clock = Clock.test()
  const sleep = sleeping(clock)
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
    await sleep(script.delayMs)
    if (signal.aborted) return [undefined, start]
    inFlight--
    script.crash()
    if (script.writes !== undefined) cell = script.writes
    trace.push(`end:${script.key}`)
    return [script.result(cell), script.edit(start)]
  }
  const system = System.make({ clock })
  const running = Dispatch.run(toolCalls, initial, runner, { schedule: "reference", ...options, system })
  const ended = running.then(
    ({ type: kind, state, ...run }) => ({
      kind,
      state,
      reason: "reason" in run ? run.reason : undefined,
      results: kind === "halt" ? run.results : run.results?.map(written)
    }),
    (reason: unknown) => ({ kind: "raised-in-caller" as const, reason, state: undefined, results: undefined })
  )
  return { ...(await clock.run(ended)), trace, maxInFlight, given }
}

const written = (result: unknown): unknown => {
  if (!Dispatch.isFailure(result)) return result
  const { toolCall, message } = result
  return { callId: toolCall.id, content: message.content, isError: true }
}
