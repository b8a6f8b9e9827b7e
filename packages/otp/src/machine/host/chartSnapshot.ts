/**
 * XState's view of a hosted chart: snapshots and actor references, made when somebody asks for them.
 *
 * Owns: the references made so far. Does not own the charts.
 */
import { type AnyActorRef, type AnyMachineSnapshot, toObserver } from "xstate"
import { type Cell, die } from "../../kernel/index.ts"
import type { ChartRun, Child } from "./chartRun.ts"
import { childSnapshot, persistedOf } from "./persistedChart.ts"

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
  for (const child of run.children) children[child.id] = childFacade(child)
  run.snapshot = Object.assign(snapshot, { children })
  return run.snapshot
}

/** An actor reference of a child. */
const childFacade = (child: Child): unknown => {
  const { id, src, chart } = child
  if (chart !== undefined) return facadeOf(chart, id)
  return {
    id,
    src,
    send: (event: { readonly type: string }) => child.receive(event),
    getSnapshot: () => childSnapshot(child)
  }
}

/** An actor reference of a chart. */
export const facadeOf = (run: ChartRun, id = run.id): AnyActorRef => {
  const known = facades.get(run)
  if (known !== undefined) return known
  const { machine } = run.chart.table
  const { process, host: cell, parent } = run
  const facade = {
    id: id === "" ? machine.id : id,
    logic: machine,
    src: machine,
    sessionId: `${cell}`,
    send: (event: { readonly type: string }) => process.send(run, event),
    getSnapshot: () => snapshotOf(run),
    getPersistedSnapshot: () => persistedOf(run),
    subscribe: (...listeners: Parameters<typeof toObserver>) => ({
      unsubscribe: run.subscribe(toObserver(...listeners))
    }),
    start: () => facade,
    stop: () => {
      if (parent === undefined) die(cell, "shutdown", "own")
      return facade
    }
  }
  const ref = facade as unknown as AnyActorRef
  facades.set(run, ref)
  if (parent === undefined) cells.set(ref, cell)
  return ref
}
