/**
 * The stored form of a running chart: XState's persisted snapshot, with the delayed events that XState leaves out.
 *
 * PERSIST1. XState restores the same machine from it. The host restores a snapshot that XState persisted.
 */
import type { ChartRun, Child } from "./chartRun.ts"
import type { PersistedChart, PersistedChild, PersistedTimer } from "./storedForm.ts"

/** The snapshot of a child that is no chart. */
export const childSnapshot = ({ end, input }: Child): PersistedChart => {
  if (end === undefined) return { status: "active", output: undefined, error: undefined, input }
  return "error" in end
    ? { status: "error", output: undefined, error: end.error, input: undefined }
    : { status: "done", output: end.output, error: undefined, input: undefined }
}

/** The snapshot of a child that is a chart; its process may have failed before its chart ended. */
const chartSnapshot = (chart: ChartRun, { end }: Child): PersistedChart => {
  const snapshot = persistedOf(chart)
  return end !== undefined && "error" in end ? { ...snapshot, status: "error", error: end.error } : snapshot
}

/** The persisted snapshot of a running chart and its children. */
export const persistedOf = (run: ChartRun): PersistedChart => {
  const { status, value, context, output, error } = run.chart
  const children: Record<string, PersistedChild> = {}
  for (const child of run.children) {
    const { id, src, chart, end } = child
    children[id] = {
      src,
      snapshot: chart === undefined ? childSnapshot(child) : chartSnapshot(chart, child),
      syncSnapshot: false,
      ...(end?.report !== undefined && { unhandled: true })
    }
  }
  const timers: Record<string, PersistedTimer> = {}
  for (const { id, event, at } of run.timers) timers[id] = { event, at }
  return {
    status,
    value,
    context,
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error }),
    children,
    timers
  }
}
