/**
 * One chart that runs in a process: the chart's data, and the live things its effects started.
 *
 * Owns: the running children, the delayed events and the observers of one chart. Does not own the order of events, which
 * is the process's.
 *
 * CRUN1. Each child is stopped once, and each delayed event is cancelled, when its chart ends. A child that fails to stop
 *        is reported, and the rest are stopped.
 * CRUN2. An observer is called with each new snapshot, then once with the end. Its error is reported and changes nothing.
 */
import type { ExitReason } from "../../core/index.ts"
import type { AnyMachineSnapshot, EventObject, Observer } from "xstate"
import {
  type ActorScope,
  allEntries,
  type Chart,
  type ChartData,
  type ChartTable,
  type Entries,
  type Entry,
  entryOf,
  withEntry,
  withoutEntry
} from "../chart/index.ts"
import { type Cell, deliver, MailboxTask, SmallSet, Timer } from "../../kernel/index.ts"
import type { PersistedChart } from "./storedForm.ts"

/** The process that runs a chart. */
export interface RunHost {
  readonly cell: Cell
  readonly env: unknown
  /** Sends an event to one of its charts; from a child, or from anywhere. */
  readonly send: (run: ChartRun, event: EventObject, from?: Child) => void
  /** Runs a function in a turn of the process; the events that it sends are handled in that turn. */
  readonly turn: (run: () => void) => void
  /** Handles an event in the present turn. */
  readonly take: (run: ChartRun, event: EventObject) => void
  /** Starts a chart in the same process. */
  readonly enter: (run: ChartRun, input: unknown, from: PersistedChart | undefined) => void
  /** Starts a chart in another process, whose parent is this one. */
  readonly open: (cell: Cell, table: ChartTable, start: ChartStart, above: ProcessAbove) => void
}

/** What is above a chart: the child of another chart that it is. */
export interface Above {
  /** The chart sends an event to its parent. */
  readonly sent: (event: EventObject) => void
}

/** What is above a process that runs a chart. */
export interface ProcessAbove extends Above {
  /** The chart is about to start. */
  readonly opened: (run: ChartRun) => void
  readonly ended: (reason: ExitReason) => void
}

/** The present state of a chart. A context that was read does not change. */
export type ChartState = Pick<ChartData, "status" | "value" | "context"> & Pick<Chart, "current">

/** How a chart is started. */
export interface ChartStart {
  readonly input?: unknown
  readonly snapshot?: PersistedChart | undefined
  readonly env?: unknown
}

interface DoneEvent extends EventObject {
  readonly output: unknown
  readonly actorId: string
}

interface FailedEvent extends EventObject {
  readonly error: unknown
  readonly actorId: string
}

/** A running child of a chart. */
export abstract class Child implements Entry<Child> {
  readonly run: ChartRun
  readonly id: string
  readonly src: string
  readonly input: unknown
  next: Child | undefined = undefined
  isStopped = false
  /** Its output or error, once it has ended; `report` is the event about it, until its chart handles the event. */
  end:
    | (({ readonly output: unknown } | { readonly error: unknown }) & { report: EventObject | undefined })
    | undefined = undefined

  constructor(run: ChartRun, id: string, src: string, input: unknown) {
    this.run = run
    this.id = id
    this.src = src
    this.input = input
  }

  /** Starts it, or starts it again from its stored form. Throws what its code throws. */
  abstract begin(from: PersistedChart | undefined): void
  abstract receive(event: EventObject): void
  protected abstract close(): void

  /** The child's own chart, if it has one. */
  get chart(): ChartRun | undefined {
    return undefined
  }

  stop(): void {
    if (this.isStopped) return
    this.isStopped = true
    try {
      this.close()
    } catch (error) {
      const { cell } = this.run.host
      cell.kernel.report(cell, error)
    }
  }

  /** Sends an event to the chart that started it. */
  protected sendUp(event: EventObject): void {
    if (!this.isStopped) this.run.host.send(this.run, event, this)
  }

  /** Its chart handles an event of it. */
  handled(event: EventObject): void {
    if (this.end?.report === event) this.end.report = undefined
  }

  /** Takes over the end that it had when its chart was stored, and reports an end that was not handled (PERSIST3). */
  endAgain({ status, output, error }: PersistedChart, isHandled: boolean): void {
    if (isHandled) this.end = status === "error" ? { error, report: undefined } : { output, report: undefined }
    else if (status === "error") this.failed(error)
    else this.done(output)
  }

  /** Reports its output to the chart that started it. */
  protected done(output: unknown): void {
    const event: DoneEvent = { type: `xstate.done.actor.${this.id}`, output, actorId: this.id }
    this.end = { output, report: event }
    this.sendUp(event)
  }

  /** Reports its error to the chart that started it. */
  failed(error: unknown): void {
    const event: FailedEvent = { type: `xstate.error.actor.${this.id}`, error, actorId: this.id }
    this.end = { error, report: event }
    this.sendUp(event)
  }
}

/** A delayed event. */
class Delayed implements Entry<Delayed> {
  id: string
  next: Delayed | undefined = undefined
  readonly event: EventObject
  /** When it is due, on the system's clock. */
  readonly at: number
  timer: Timer | undefined = undefined
  constructor(id: string, event: EventObject, at: number) {
    this.id = id
    this.event = event
    this.at = at
  }
}

/** What the effects of a chart can reach. */
class RunScope implements ActorScope {
  readonly #run: ChartRun
  #send: ((event: EventObject) => void) | undefined = undefined

  constructor(run: ChartRun) {
    this.#run = run
  }

  get env(): unknown {
    return this.#run.host.env
  }

  get host(): Cell {
    return this.#run.host.cell
  }

  get send(): (event: EventObject) => void {
    return (this.#send ??= (event) => this.#run.host.send(this.#run, event))
  }

  get turn(): (task: () => void) => void {
    return (task) => this.#run.host.turn(task)
  }
}

export class ChartRun {
  readonly host: RunHost
  readonly chart: Chart
  readonly id: string
  readonly parent: ChartRun | undefined
  readonly above: Above | undefined
  #children: Entries<Child> = undefined
  #timers: Entries<Delayed> = undefined
  #observers: Set<Observer<unknown>> | undefined = undefined
  /** The first watcher, and the others: most charts have at most one. */
  #watcher: ((state: ChartState) => void) | undefined = undefined
  #watchers: SmallSet<(state: ChartState) => void> | undefined = undefined
  #scope: ActorScope | undefined = undefined
  /** Whether the chart has ended, and everything it started is stopped. */
  isOver = false
  /** XState's snapshot of the present state, once somebody asked for it. */
  snapshot: AnyMachineSnapshot | undefined = undefined

  constructor(host: RunHost, chart: Chart, id: string, parent: ChartRun | undefined, above: Above | undefined) {
    this.host = host
    this.chart = chart
    this.id = id
    this.parent = parent
    this.above = above
  }

  /** The running child with this id. */
  child(id: string): Child | undefined {
    return entryOf(this.#children, id)
  }

  get children(): ReadonlyArray<Child> {
    return allEntries(this.#children)
  }

  get timers(): ReadonlyArray<Delayed> {
    return allEntries(this.#timers)
  }

  /** What an effect can reach. */
  get scope(): ActorScope {
    return (this.#scope ??= new RunScope(this))
  }

  /** Starts a child; it replaces a child with the same id. */
  add(child: Child, from?: PersistedChart): void {
    const replaced = entryOf(this.#children, child.id)
    replaced?.stop()
    this.#children = withEntry(this.#children, child)
    try {
      child.begin(from)
    } catch (error) {
      child.failed(error)
    }
  }

  /** Keeps a child that had ended when the chart was stored. */
  keep(child: Child, end: PersistedChart, isHandled: boolean): void {
    this.#children = withEntry(this.#children, child)
    child.endAgain(end, isHandled)
  }

  stopChild(id: string): void {
    const child = entryOf(this.#children, id)
    if (child === undefined) return
    this.#children = withoutEntry(this.#children, id)
    child.stop()
  }

  /** Delays an event. As under XState, a waiting event with the same id stays, and `cancel` finds only the new one. */
  schedule(timerId: string | undefined, event: EventObject, ms: number): void {
    const id = timerId ?? freeId(this.#timers, event.type)
    const waiting = entryOf(this.#timers, id)
    if (waiting !== undefined) {
      const free = freeId(this.#timers, id)
      this.#timers = withoutEntry(this.#timers, id)
      waiting.id = free
      this.#timers = withEntry(this.#timers, waiting)
    }
    const { host } = this
    const { cell } = host
    const delayed = new Delayed(id, event, cell.kernel.clock.now() + ms)
    this.#timers = withEntry(this.#timers, delayed)
    const due = (): void => {
      if (entryOf(this.#timers, delayed.id) !== delayed) return
      this.#timers = withoutEntry(this.#timers, delayed.id)
      host.take(this, event)
    }
    delayed.timer = new Timer(cell.kernel, cell, ms, () => deliver(cell, new MailboxTask(due)))
  }

  cancel(id: string): void {
    const delayed = entryOf(this.#timers, id)
    if (delayed === undefined) return
    this.#timers = withoutEntry(this.#timers, id)
    delayed.timer?.close()
  }

  /** The state changed: snapshots of it and of the charts around it are old. */
  changed(): void {
    this.snapshot = undefined
    this.parent?.changed()
  }

  get isObserved(): boolean {
    return this.#observers !== undefined && this.#observers.size > 0
  }

  notify(snapshot: unknown): void {
    for (const observer of Array.from(this.#observers ?? [])) this.guarded(() => observer.next?.(snapshot))
  }

  /** Calls the watcher after each change of the state, with the chart itself: no snapshot is made. */
  watch(watcher: (state: ChartState) => void): () => void {
    if (this.#watcher === undefined) this.#watcher = watcher
    else (this.#watchers ??= new SmallSet()).add(watcher)
    return () => {
      if (this.#watcher === watcher) this.#watcher = undefined
      else this.#watchers?.delete(watcher)
    }
  }

  showState(): void {
    const watcher = this.#watcher
    if (watcher !== undefined) this.guarded(() => watcher(this.chart))
    for (const other of this.#watchers?.all ?? none) this.guarded(() => other(this.chart))
  }

  /** Calls the observer with each new snapshot, or with the end if the chart has ended. */
  subscribe(observer: Observer<unknown>): () => void {
    if (this.chart.status !== "active" && this.isOver) {
      this.#finish(observer)
      return () => {}
    }
    const observers = (this.#observers ??= new Set())
    observers.add(observer)
    return () => void observers.delete(observer)
  }

  /** Stops the children and the timers (CRUN1). */
  close(): void {
    if (this.isOver) return
    this.isOver = true
    this.chart.stop()
    this.changed()
    for (const { timer } of this.timers) timer?.close()
    this.#timers = undefined
    for (const child of this.children) child.stop()
    this.#children = undefined
  }

  /** Calls the observers with the end. */
  finish(): void {
    const observers = this.#observers
    this.#observers = undefined
    for (const observer of observers ?? []) this.#finish(observer)
  }

  #finish(observer: Observer<unknown>): void {
    const { status, error } = this.chart
    this.guarded(() => (status === "error" ? observer.error?.(error) : observer.complete?.()))
  }

  /** Calls code of an observer: its error is reported, and changes nothing. */
  guarded(call: () => void): void {
    const { cell } = this.host
    try {
      call()
    } catch (error) {
      cell.kernel.report(cell, error)
    }
  }
}

const none: ReadonlyArray<(state: ChartState) => void> = []

const freeId = (timers: Entries<Delayed>, type: string): string => {
  for (let index = 0; ; index++) {
    const id = `${type}.${index}`
    if (entryOf(timers, id) === undefined) return id
  }
}
