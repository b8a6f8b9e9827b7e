/**
 * One chart that runs in a process: the chart's data, and the live things its effects started.
 *
 * Owns: the running children and the timers of one chart. Does not own the order of events, which is the process's.
 */
import type { AnyMachineSnapshot, EventObject } from "xstate"
import type { Chart } from "../chart/index.ts"

/** A running child of a chart. */
export interface Child {
  readonly src: string
  readonly input: unknown
  readonly receive: (event: EventObject) => void
  readonly stop: () => void
  /** The child's own chart, if it has one. */
  readonly chart: () => ChartRun | undefined
  readonly process: () => unknown
}

/** A delayed event. */
export interface Delayed {
  readonly event: EventObject
  /** When it is due, on the system's clock. */
  readonly at: number
  readonly cancel: () => void
}

export class ChartRun {
  readonly chart: Chart
  readonly id: string
  readonly parent: ChartRun | undefined
  readonly children = new Map<string, Child>()
  timers: Map<string, Delayed> | undefined = undefined
  /** Whether the chart has ended, and everything it started is stopped. */
  isOver = false
  /** XState's snapshot of the present state, once somebody asked for it. */
  snapshot: AnyMachineSnapshot | undefined = undefined

  constructor(chart: Chart, id: string, parent: ChartRun | undefined) {
    this.chart = chart
    this.id = id
    this.parent = parent
  }

  /** Stops the children and the timers. */
  close(): void {
    this.isOver = true
    for (const timer of this.timers?.values() ?? []) timer.cancel()
    this.timers = undefined
    for (const child of this.children.values()) child.stop()
    this.children.clear()
  }
}
