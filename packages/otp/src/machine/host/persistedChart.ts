/**
 * The stored form of a running chart: XState's persisted snapshot, with the delayed events that XState leaves out.
 *
 * PERSIST1. XState restores the same machine from it. The host restores a snapshot that XState persisted.
 * PERSIST2. A restored delayed event waits for the time that was left. A snapshot without delayed events schedules those
 *           of its active states again.
 */
import type { EventObject } from "xstate"
import type { Chart, ChartData } from "../chart/index.ts"
import type { ChartRun, Child } from "./chartRun.ts"

/** A child in a persisted snapshot. */
interface PersistedChild {
  readonly src: string
  readonly snapshot: PersistedChart
  readonly syncSnapshot: boolean
}

interface PersistedTimer {
  readonly event: EventObject
  /** When it is due, on the system's clock. */
  readonly at: number
}

/** A persisted snapshot: of a machine, or of another actor with its `input`. */
export interface PersistedChart extends Partial<ChartData> {
  readonly status: ChartData["status"]
  readonly input?: unknown
  readonly children?: Readonly<Record<string, PersistedChild>>
  readonly timers?: Readonly<Record<string, PersistedTimer>>
}

/** The chart's own data in a persisted snapshot. */
export const dataIn = ({ status, value, context, output, error }: PersistedChart): ChartData => ({
  status,
  value: value ?? {},
  context: context ?? {},
  output,
  error
})

/** The children in a persisted snapshot. */
export const childrenIn = ({ children = {} }: PersistedChart) =>
  Object.entries(children).map(([id, { src, snapshot }]) => ({ id, src, snapshot }))

/** The delayed events of a restored chart (PERSIST2). */
export const timersIn = ({ timers }: PersistedChart, chart: Chart, now: number) =>
  timers === undefined
    ? chart.table.timersOf(chart.leaf).flatMap(({ id, delay }) => {
        const event = { type: id }
        const ms = delay({ context: chart.context, event }, undefined)
        return typeof ms === "number" ? [{ id, event, at: now + ms }] : []
      })
    : Object.entries(timers).map(([id, { event, at }]) => ({ id, event, at }))

/** The snapshot of a child that is no chart. */
export const childSnapshot = ({ end, input }: Child): PersistedChart => {
  if (end === undefined) return { status: "active", output: undefined, error: undefined, input }
  return "error" in end
    ? { status: "error", output: undefined, error: end.error, input: undefined }
    : { status: "done", output: end.output, error: undefined, input: undefined }
}

/** The persisted snapshot of a running chart and its children. */
export const persistedOf = (run: ChartRun): PersistedChart => {
  const { status, value, context, output, error } = run.chart
  const children: Record<string, PersistedChild> = {}
  for (const [id, child] of run.children) {
    const { src, chart } = child
    children[id] = {
      src,
      snapshot: chart === undefined ? childSnapshot(child) : persistedOf(chart),
      syncSnapshot: false
    }
  }
  const timers: Record<string, PersistedTimer> = {}
  for (const [id, { event, at }] of run.timers) timers[id] = { event, at }
  return {
    status,
    value,
    context,
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
    children,
    timers
  }
}
