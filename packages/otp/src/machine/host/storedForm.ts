/**
 * What a host reads from a persisted snapshot.
 *
 * PERSIST2. A restored delayed event waits for the time that was left. A snapshot without delayed events schedules those
 *           of its active states again.
 * PERSIST3. A child that has ended reports its end again after a restore if its machine had not handled it.
 * PERSIST4. A machine may refuse a stored snapshot. Then nothing starts, and its error is thrown where the snapshot is restored.
 */
import type { EventObject } from "xstate"
import { Chart, type ChartData, type ChartTable, checkStored } from "../chart/index.ts"

/** A child in a persisted snapshot. */
export interface PersistedChild {
  readonly src: string
  readonly snapshot: PersistedChart
  readonly syncSnapshot: boolean
  /** Whether it has ended, and its machine has not handled its end (PERSIST3). */
  readonly unhandled?: true
}

/** A delayed event in a persisted snapshot. */
export interface PersistedTimer {
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

/** A chart in its stored state, or before its first transition. */
export const chartOf = (table: ChartTable, stored: PersistedChart | undefined): Chart => {
  if (stored === undefined) return Chart.make(table)
  checkStored(table.machine, stored)
  const { status, value = {}, context = {}, output, error } = stored
  return Chart.restore(table, { status, value, context, output, error })
}

/** The children in a persisted snapshot. */
export const childrenIn = ({ children = {} }: PersistedChart) =>
  Object.entries(children).map(([id, { src, snapshot, unhandled }]) => ({
    id,
    src,
    snapshot,
    isHandled: unhandled !== true
  }))

/** The delayed events of a restored chart (PERSIST2). */
export const timersIn = ({ timers }: PersistedChart, chart: Chart, now: number) =>
  timers === undefined
    ? chart.table.timersOf(chart.leaf).flatMap(({ id, delay }) => {
        const event = { type: id }
        const ms = delay({ context: chart.context, event }, undefined)
        return typeof ms === "number" ? [{ id, event, at: now + ms }] : []
      })
    : Object.entries(timers).map(([id, { event, at }]) => ({ id, event, at }))
