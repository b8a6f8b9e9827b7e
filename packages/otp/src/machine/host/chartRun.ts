/**
 * One chart that runs in a process: the chart's data, and the live things its effects started.
 *
 * Owns: the running children, the delayed events and the observers of one chart. Does not own the order of events, which
 * is the process's.
 *
 * CRUN1. Each child is stopped once, and each delayed event is cancelled, when its chart ends. A child that fails to stop
 *        is reported, and the rest are stopped.
 * CRUN2. An observer is called with each new snapshot, then once with the end. Its error is reported and changes nothing.
 * CPROC5. A child machine runs in a process of its own, linked to this one, unless it is registered to run inside. The
 *         end of that process is an event of the chart that started it: done, or error with its exit reason.
 */
import type { AnyMachineSnapshot, EventObject, Observer } from "xstate"
import { type ExitReason, ProcessExit } from "../../core/index.ts"
import type { ActorScope, Chart, ChartData, ChildStart, LiveChild, RunningCallback } from "../chart/index.ts"
import { type Cell, deliver, die, MailboxTask, SmallSet, Timer } from "../../kernel/index.ts"
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
}

/** The present state of a chart. A context that was read does not change. */
export type ChartState = Pick<ChartData, "status" | "value" | "context"> & Pick<Chart, "current">

/** A watcher is called with the chart itself: no snapshot is made. An observer gets snapshots. */
type Reader = ((state: ChartState) => void) | Observer<unknown>

interface DoneEvent extends EventObject {
  readonly output: unknown
  readonly actorId: string
}

interface FailedEvent extends EventObject {
  readonly error: unknown
  readonly actorId: string
}

const nothing = (): void => {}

/** A child of a chart: an actor, or another chart. It is also the scope of the actor's code. */
export class Child implements ActorScope, LiveChild {
  readonly run: ChartRun
  readonly id: string
  readonly src: string
  readonly input: unknown
  readonly env: unknown
  readonly send: (event: EventObject) => void
  /** Its own chart, if it is one; in the process of its parent, or in a process of its own. */
  chart: ChartRun | undefined = undefined
  running: RunningCallback | undefined = undefined
  isStopped = false
  /** Its output or error, once it has ended; `report` is the event about it, until its chart handles the event. */
  end:
    | (({ readonly output: unknown } | { readonly error: unknown }) & { report: EventObject | undefined })
    | undefined = undefined

  constructor(run: ChartRun, start: ChildStart) {
    const { id, src, input } = start
    this.run = run
    this.id = id
    this.src = src
    this.input = input
    this.env = run.process.env
    // Only the code of a callback actor sends: another child needs no function of its own.
    this.send = start.actor.kind === "callback" ? (event) => this.report(event) : nothing
    start.live = this
  }

  /** Sends an event to the chart that started it. */
  report(event: EventObject): void {
    if (!this.isStopped) this.run.process.send(this.run, event, this)
  }

  get host(): Cell {
    return this.run.host
  }

  get turn(): (task: () => void) => void {
    return (task) =>
      this.run.turn(() => {
        if (!this.isStopped) task()
      })
  }

  /** An error of an actor's code is its end: an event of the chart that started it. */
  receive(event: EventObject): void {
    const { chart, running } = this
    if (chart !== undefined) return chart.process.send(chart, event)
    try {
      running?.receive?.(event)
    } catch (error) {
      this.running = undefined
      this.failed(error)
      this.run.guarded(() => running?.close?.())
    }
  }

  stop(): void {
    if (this.isStopped) return
    this.isStopped = true
    const { chart } = this
    try {
      if (chart === undefined) this.running?.close?.()
      else if (chart.parent === undefined) die(chart.host, "shutdown", "signal")
      else {
        chart.close()
        chart.finish()
      }
    } catch (error) {
      const { host } = this
      host.kernel.report(host, error)
    }
  }

  /** Takes over the end that it had when its chart was stored, and reports an end that was not handled (PERSIST3). */
  endAgain({ status, output, error }: PersistedChart, isHandled: boolean): void {
    if (isHandled) this.end = status === "error" ? { error, report: undefined } : { output, report: undefined }
    else if (status === "error") this.failed(error)
    else this.done(output)
  }

  /** Reports the end of its chart, or of its process with the exit reason (CPROC5). */
  ended(reason?: ExitReason): void {
    const { chart } = this
    if (chart === undefined) return
    const { status, output, error } = chart.chart
    if (status === "done") this.done(output)
    else if (status === "error") this.failed(error)
    else if (reason === "normal") this.done(undefined)
    else if (chart.parent === undefined) this.failed(new ProcessExit({ pid: chart.host, reason }))
  }

  /** Reports its output to the chart that started it. */
  done(output: unknown): void {
    const event: DoneEvent = { type: `xstate.done.actor.${this.id}`, output, actorId: this.id }
    this.end = { output, report: event }
    this.report(event)
  }

  /** Reports its error to the chart that started it. */
  failed(error: unknown): void {
    const event: FailedEvent = { type: `xstate.error.actor.${this.id}`, error, actorId: this.id }
    this.end = { error, report: event }
    this.report(event)
  }
}

/** A delayed event. */
interface Delayed {
  id: string
  readonly event: EventObject
  /** When it is due, on the system's clock. */
  readonly at: number
  timer: Timer | undefined
}

/** A running chart. It is also the scope of its effects. */
export class ChartRun implements ActorScope {
  readonly process: RunHost
  readonly chart: Chart
  readonly id: string
  /** The chart around it, in the same process. */
  readonly parent: ChartRun | undefined
  /** The child of another chart that it is. */
  readonly above: Child | undefined
  #timers: Map<string, Delayed> | undefined = undefined
  /** Its one reader, or several. */
  readers: Reader | SmallSet<Reader> | undefined = undefined
  #send: ((event: EventObject) => void) | undefined = undefined
  /** Whether the chart has ended, and everything it started is stopped. */
  isOver = false
  /** XState's snapshot of the present state, once somebody asked for it. */
  snapshot: AnyMachineSnapshot | undefined = undefined

  constructor(process: RunHost, chart: Chart, id: string, parent: ChartRun | undefined, above: Child | undefined) {
    this.process = process
    this.chart = chart
    this.id = id
    this.parent = parent
    this.above = above
  }

  get env(): unknown {
    return this.process.env
  }

  get host(): Cell {
    return this.process.cell
  }

  get send(): (event: EventObject) => void {
    return (this.#send ??= (event) => this.process.send(this, event))
  }

  get turn(): (task: () => void) => void {
    return (task) => this.process.turn(task)
  }

  get children(): ReadonlyArray<Child> {
    return Array.from(this.chart.children, ({ live }) => live).filter((child) => child instanceof Child)
  }

  get timers(): Iterable<Delayed> {
    return this.#timers?.values() ?? []
  }

  /** Delays an event. As under XState, a waiting event with the same id stays, and `cancel` finds only the new one. */
  schedule(timerId: string | undefined, event: EventObject, ms: number): void {
    const timers = (this.#timers ??= new Map())
    const id = timerId ?? freeId(timers, event.type)
    const waiting = timers.get(id)
    if (waiting !== undefined) {
      timers.delete(id)
      waiting.id = freeId(timers, id)
      timers.set(waiting.id, waiting)
    }
    const { process, host } = this
    const delayed: Delayed = { id, event, at: host.kernel.clock.now() + ms, timer: undefined }
    timers.set(id, delayed)
    const due = (): void => {
      if (timers.get(delayed.id) !== delayed) return
      timers.delete(delayed.id)
      process.take(this, event)
    }
    delayed.timer = new Timer(host.kernel, host, ms, () => deliver(host, new MailboxTask(due)))
  }

  cancel(id: string): void {
    this.#timers?.get(id)?.timer?.close()
    this.#timers?.delete(id)
  }

  /** Calls the watcher with the present state, and after each change. */
  watch(watcher: (state: ChartState) => void): () => void {
    this.guarded(() => watcher(this.chart))
    return this.#add(watcher)
  }

  /** Calls the observer with each new snapshot, or with the end if the chart has ended. */
  subscribe(observer: Observer<unknown>): () => void {
    if (this.chart.status === "active" || !this.isOver) return this.#add(observer)
    this.#finish(observer)
    return () => {}
  }

  #add(reader: Reader): () => void {
    const { readers } = this
    if (readers instanceof SmallSet) readers.add(reader)
    else if (readers === undefined) this.readers = reader
    else {
      this.readers = new SmallSet()
      this.readers.add(readers)
      this.readers.add(reader)
    }
    return () => {
      if (this.readers instanceof SmallSet) this.readers.delete(reader)
      else if (this.readers === reader) this.readers = undefined
    }
  }

  /** Stops the children and the timers (CRUN1). */
  close(): void {
    if (this.isOver) return
    this.isOver = true
    const { chart } = this
    const { children } = chart
    chart.stop()
    this.snapshot = undefined
    for (const { timer } of this.timers) timer?.close()
    this.#timers = undefined
    for (const { live } of children) live?.stop()
  }

  /** Calls the observers with the end. */
  finish(): void {
    const { readers } = this
    this.readers = undefined
    const all = readers instanceof SmallSet ? readers.all : [readers]
    for (const reader of all) if (typeof reader === "object") this.#finish(reader)
  }

  #finish(observer: Observer<unknown>): void {
    const { status, error } = this.chart
    this.guarded(() => (status === "error" ? observer.error?.(error) : observer.complete?.()))
  }

  /** Calls code of an observer: its error is reported, and changes nothing. */
  guarded(call: () => void): void {
    const { host } = this
    try {
      call()
    } catch (error) {
      host.kernel.report(host, error)
    }
  }
}

const freeId = (timers: ReadonlyMap<string, unknown>, type: string): string => {
  for (let index = 0; ; index++) if (!timers.has(`${type}.${index}`)) return `${type}.${index}`
}
