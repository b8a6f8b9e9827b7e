/**
 * XState's view of a hosted chart: snapshots and actor references, made when somebody asks for them.
 *
 * Owns: the references made so far. Does not own the charts.
 */
import type { AnyActorRef, AnyMachineSnapshot, Observer } from "xstate"
import type { Cell } from "../../kernel/index.ts"
import type { ChartProcess } from "./chartProcess.ts"
import type { ChartRun } from "./chartRun.ts"
import { persistedOf } from "./persistedChart.ts"

const facades = new WeakMap<ChartRun, AnyActorRef>()
const cells = new WeakMap<object, Cell>()

/** The process that a reference stands for. */
export const cellOfFacade = (ref: object): Cell | undefined => cells.get(ref)

/** XState's snapshot of a chart. */
export const snapshotOf = (run: ChartRun): AnyMachineSnapshot => {
  if (run.snapshot !== undefined) return run.snapshot
  const { status, value, context, output, error, table } = run.chart
  const resolve = table.machine.resolveState.bind(table.machine) as (config: object) => AnyMachineSnapshot
  const snapshot = resolve({ value, context, status, output, error })
  const children: Record<string, unknown> = {}
  for (const [id, child] of run.children) {
    const inner = child.chart()
    const cell = child.process() as Cell | undefined
    if (cell !== undefined && isChartProcess(cell)) children[id] = facadeOf(cell.behaviour, cell.behaviour.root, id)
    else if (inner !== undefined) children[id] = { id, getSnapshot: () => snapshotOf(inner) }
    else children[id] = { id, src: child.src, getSnapshot: () => ({ status: "active", input: child.input }) }
  }
  run.snapshot = Object.assign(snapshot, { children })
  return run.snapshot
}

const isChartProcess = (cell: Cell): cell is Cell & { readonly behaviour: ChartProcess } => "root" in cell.behaviour

/** An actor reference of a chart in a process. */
export const facadeOf = (process: ChartProcess, run: ChartRun, id = run.id): AnyActorRef => {
  const known = facades.get(run)
  if (known !== undefined) return known
  const { machine } = run.chart.table
  const facade = {
    id: id === "" ? machine.id : id,
    logic: machine,
    src: machine,
    sessionId: `${process.cell}`,
    send: (event: { readonly type: string }) => process.send(run, event),
    getSnapshot: () => snapshotOf(run),
    getPersistedSnapshot: () => persistedOf(run),
    subscribe: (observer: Observer<unknown> | ((snapshot: unknown) => void)) => {
      const full = typeof observer === "function" ? { next: observer } : observer
      return { unsubscribe: process.subscribe(full) }
    },
    start: () => facade,
    stop: () => facade
  }
  const ref = facade as unknown as AnyActorRef
  facades.set(run, ref)
  if (run.parent === undefined) cells.set(ref, process.cell)
  return ref
}
