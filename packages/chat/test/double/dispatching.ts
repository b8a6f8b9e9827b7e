/** Batches for a dispatcher: calls that say in their arguments what their runner does, on a clock that stands still. */
import { Clock, System } from "@troupe/otp"
import * as Dispatch from "../../src/batch/Dispatch.ts"
import type { ToolCall } from "../../src/model/ToolCall.ts"

/** A state with a counter, a budget and a phase. */
export interface BatchState extends Dispatch.DispatchState {
  readonly budget?: number | null
  readonly notes?: ReadonlyArray<string>
}

/** What the runner of one call does. */
export interface Act {
  readonly ms?: number
  readonly change?: (state: BatchState) => BatchState
  readonly result?: unknown
  readonly throws?: unknown
  /** Returned as it is, in place of a result and a state. */
  readonly returns?: unknown
}

/** `r` reads, `w` writes; what follows a dot is the key: `w.a` writes `a`. */
export const tools: ReadonlyArray<Dispatch.DispatchTool> = [
  { name: "r", effect: "read", key: (args) => args["key"] as string | undefined },
  { name: "w", effect: "write", key: (args) => args["key"] as string | undefined },
  { name: "plain" },
  { name: "twice", effect: "read" },
  { name: "twice", effect: "write" }
]

const calledBy = (label: string, index: number): ToolCall => {
  const [name = "", key] = label.replace(/\d+$/, "").split(".")
  return { id: `c${index}`, name, arguments: key === undefined ? {} : { key } }
}

/** What was seen of a batch. */
export interface Seen {
  readonly run: Awaited<ReturnType<typeof Dispatch.run<BatchState, unknown>>>
  readonly trace: ReadonlyArray<string>
  readonly given: Readonly<Record<string, BatchState>>
  readonly signals: Readonly<Record<string, AbortSignal>>
  readonly clock: Clock.TestClock
}

/** Runs calls by their labels (`r1`, `w.a2`), each as its act says, and returns the observed events. */
export const dispatched = async (
  acts: Readonly<Record<string, Act>>,
  state: BatchState = {},
  options: Parameters<typeof Dispatch.run>[3] = {}
): Promise<Seen> => {
  const clock = Clock.test()
  const labels = Object.keys(acts)
  const calls = labels.map(calledBy)
  const trace: Array<string> = []
  const given: Record<string, BatchState> = {}
  const signals: Record<string, AbortSignal> = {}
  const runner: Dispatch.Runner<BatchState, unknown> = async (call, start, { signal }) => {
    const label = labels[Number(call.id.slice(1))] ?? ""
    const { ms = 0, change, result = `${label} done`, throws, returns } = acts[label] ?? {}
    trace.push(`start ${label}`)
    given[label] = start
    signals[label] = signal
    await new Promise<void>((resolve) => clock.setTimeout(resolve, ms))
    trace.push(`end ${label}`)
    if (throws !== undefined) throw throws
    if (returns !== undefined) return returns as [unknown, BatchState]
    return [result, change === undefined ? start : change(start)]
  }
  const system = System.make({ clock })
  const work = Dispatch.run(calls, { tools, ...state }, runner, { system, ...options })
  return { run: await clock.run(work), trace, given, signals, clock }
}

/** What the results of a batch come to, in words. */
export const resultsOf = ({ run }: Seen): ReadonlyArray<unknown> =>
  (run.results ?? []).map((result) => (Dispatch.isFailure(result) ? `${result.toolCall.id} ${result.outcome}` : result))
