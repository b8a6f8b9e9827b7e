/**
 * The observers of a system: the telemetry handlers, and the probes of single processes.
 *
 * Owns both. The kernel has an observer only while there is one of them, so that each event costs a check for `undefined`
 * when nothing is attached. It makes no decisions: a system runs the same with and without it.
 *
 * WATCH1. A kernel's `observer` is set exactly while a handler is attached or a probe is in use.
 * WATCH2. A handler that throws is detached at once; its error does not reach any process.
 * WATCH3. An event without a handler is not created.
 * WATCH4. A handler is not called for events that it causes itself.
 * WATCH5. The data about a process is deleted when it dies.
 */
import type * as Effect from "effect/Effect"
import { type CrashReport, type ExitReason, isAbnormal } from "../core/index.ts"
import { Cell, MailboxTask, type Kernel, type KernelObserver, type KernelReports, SysMessage } from "../kernel/index.ts"
import {
  isSelected,
  selected,
  type Event,
  type EventName,
  type Events,
  type Selector,
  type DroppedMessage,
  type Subject
} from "./Events.ts"
import { timeFibers } from "./fiberTimer.ts"
import { Probe, type TraceEvent } from "./processProbe.ts"
import { isSensitive, withheld } from "../process/index.ts"
import { recordUndelivered } from "./deadLetterLog.ts"
import { messageSummary, shownContent } from "./messageSummary.ts"
import { crashReport } from "./crashReportOf.ts"
import { ThreadTimes } from "./threadTime.ts"

interface Handler {
  readonly selector: Selector
  readonly run: (event: Event) => void
  running: boolean
}

/** A message whose result is pending. */
interface Waiting {
  readonly message: unknown
  readonly began: number
  readonly blocking: number
}

const subjectOf = (cell: Cell): Subject => ({ pid: cell, label: cell.label, kind: cell.behaviour.kind })

/** The parts of a kernel that its watch reads, and the `observer` that it sets. */
type WatchedKernel = Pick<Kernel, "clock" | "observer" | "processes" | "root" | "current" | "blockedAfter" | "report">

export class Watch implements KernelObserver {
  readonly #kernel: WatchedKernel
  readonly #handlers = new Map<EventName, ReadonlyArray<Handler>>()
  /** All handlers, for events with names not listed here. */
  readonly #all = new Set<Handler>()
  readonly #probes = new Map<Cell, Probe>()
  readonly #waiting = new Map<Cell, Waiting>()
  readonly #threadTimes = new ThreadTimes()

  constructor(kernel: WatchedKernel) {
    this.#kernel = kernel
  }

  attach(selector: Selector, run: (event: Event) => void): () => void {
    const handler: Handler = { selector, run, running: false }
    for (const name of selected(selector)) this.#handlers.set(name, [...this.#of(name), handler])
    this.#all.add(handler)
    return () => this.#detach(handler)
  }

  #of(name: EventName): ReadonlyArray<Handler> {
    return this.#handlers.get(name) ?? []
  }

  #detach(handler: Handler): void {
    this.#all.delete(handler)
    for (const [name, handlers] of this.#handlers) {
      const left = handlers.filter((other) => other !== handler)
      if (left.length === 0) this.#handlers.delete(name)
      else this.#handlers.set(name, left)
    }
    this.#leave()
  }

  #leave(): void {
    if (this.#all.size > 0 || this.#probes.size > 0) return
    this.#waiting.clear()
    if (this.#kernel.observer === this) this.#kernel.observer = undefined
  }

  #hasHandler(name: EventName): boolean {
    return this.#handlers.has(name)
  }

  #emit<N extends EventName>(name: N, measurements: Events[N]["measurements"], metadata: Events[N]["metadata"]): void {
    this.#notify(this.#of(name), { name, at: this.#kernel.clock.now(), measurements, metadata } as unknown as Event)
  }

  /** Publishes an event of code that builds on processes. */
  publish(name: EventName, measurements: unknown, metadata: unknown): void {
    const handlers = [...this.#all].filter(({ selector }) => isSelected(selector, name))
    if (handlers.length === 0) return
    this.#notify(handlers, { name, at: this.#kernel.clock.now(), measurements, metadata } as unknown as Event)
  }

  #notify(handlers: ReadonlyArray<Handler>, event: Event): void {
    for (const handler of handlers) {
      if (handler.running) continue
      handler.running = true
      try {
        handler.run(event)
      } catch (error) {
        this.#detach(handler)
        this.#failed(handler.selector, error)
      } finally {
        handler.running = false
      }
    }
  }

  #failed(selector: string, error: unknown): void {
    this.#emit("telemetry.failure", { handlers: this.#of("telemetry.failure").length }, { selector, error })
    this.#kernel.report(this.#kernel.root, error)
  }

  spawned(cell: Cell): void {
    if (!this.#hasHandler("process.spawn")) return
    const { parent } = cell
    this.#emit("process.spawn", { processes: this.#kernel.processes.size }, { ...subjectOf(cell), parent })
  }

  ended(cell: Cell, reason: ExitReason, dropped: number): void {
    const probe = this.#probes.get(cell)
    this.#waiting.delete(cell)
    if (probe !== undefined) {
      probe.trace({ _tag: "Ended", reason })
      this.#probes.delete(cell)
      this.#leave()
    }
    if (!this.#hasHandler("process.exit")) return
    const metadata = { ...subjectOf(cell), reason, abnormal: isAbnormal(reason) }
    this.#emit("process.exit", { processes: this.#kernel.processes.size, dropped }, metadata)
  }

  crashed(report: CrashReport): void {
    if (!report.ended || !this.#hasHandler("process.crash")) return
    const { pid, label, kind, queueLength } = report
    this.#emit("process.crash", { queueLength }, { pid, label, kind, report })
  }

  /** A message was delivered to a process: to its mailbox, or to a waiting receive. */
  delivered(cell: Cell, message: unknown): void {
    if (message instanceof MailboxTask) return
    const content = shownContent(cell, message)
    const { current } = this.#kernel
    if (current !== undefined) this.#sent(current, cell, content)
    const probe = this.#probes.get(cell)
    if (probe?.counts !== undefined) probe.counts.received++
    probe?.trace({ _tag: "Received", message: content, from: current })
    if (!this.#hasHandler("process.message")) return
    const queueLength = cell.mailbox?.size ?? 0
    this.#emit("process.message", { queueLength }, { ...subjectOf(cell), message: content })
  }

  /** The current process replied to a call. */
  replied(to: Cell | undefined, value: unknown): void {
    const { current } = this.#kernel
    if (current !== undefined) this.#sent(current, to, value)
  }

  #sent(from: Cell, to: Cell | undefined, message: unknown): void {
    const probe = this.#probes.get(from)
    if (probe?.counts !== undefined) probe.counts.sent++
    probe?.trace({ _tag: "Sent", message: isSensitive(from) ? undefined : message, to })
  }

  /** Calls `take` with a message, and measures its time if a handler or a probe needs it. */
  handle(cell: Cell, message: unknown, take: (cell: Cell, message: unknown) => void): void {
    const timed = this.#hasHandler("process.handled") || this.#hasHandler("process.blocked") || this.#probes.has(cell)
    if (!timed || message instanceof SysMessage) return take(cell, message)
    const threadTime = this.#threadTimes.open(cell)
    const { began } = threadTime
    try {
      take(cell, message)
    } finally {
      const blocking = this.#threadTimes.close(threadTime)
      const content = shownContent(cell, message)
      if (blocking >= this.#kernel.blockedAfter) this.#blocked(cell, content, blocking)
      if (cell.busy && !cell.dead) this.#waiting.set(cell, { message: content, began, blocking })
      else this.#handled(cell, { message: content, began, blocking }, performance.now() - began)
    }
  }

  /** The result that a process was busy with has arrived. */
  settled(cell: Cell): void {
    const waiting = this.#waiting.get(cell)
    if (waiting === undefined) return
    this.#waiting.delete(cell)
    this.#handled(cell, waiting, performance.now() - waiting.began)
  }

  /** An effect of a process, timed after its first wait too if `process.blocked` has a handler. */
  timed<A, E>(cell: Cell, effect: Effect.Effect<A, E>): Effect.Effect<A, E> {
    if (!this.#hasHandler("process.blocked")) return effect
    const began = cell.handling
    return timeFibers(effect, {
      cell,
      threadTimes: this.#threadTimes,
      threshold: this.#kernel.blockedAfter,
      isEnabled: () => this.#hasHandler("process.blocked"),
      message: () => (cell.behaviour.handle === undefined ? cell.handling : began),
      notify: (ms, at) => this.#blocked(cell, shownContent(cell, at), ms)
    })
  }

  #blocked(cell: Cell, message: unknown, blocking: number): void {
    if (!this.#hasHandler("process.blocked")) return
    const threshold = this.#kernel.blockedAfter
    this.#emit("process.blocked", { blocking, threshold }, { ...subjectOf(cell), message })
  }

  #handled(cell: Cell, { message, blocking }: Waiting, duration: number): void {
    const probe = this.#probes.get(cell)
    if (probe?.counts !== undefined) {
      probe.counts.handled++
      probe.counts.busyFor += duration
    }
    probe?.trace({ _tag: "Handled", message, duration, blocking })
    if (!this.#hasHandler("process.handled")) return
    const queueLength = cell.mailbox?.size ?? 0
    this.#emit("process.handled", { duration, blocking, queueLength }, { ...subjectOf(cell), message })
  }

  restarted(supervisor: Cell, id: string, restarts: number): void {
    if (!this.#hasHandler("supervisor.restart")) return
    this.#emit("supervisor.restart", { restarts }, { ...subjectOf(supervisor), id })
  }

  escalated(supervisor: Cell, id: string, restarts: number, limit: number): void {
    if (!this.#hasHandler("supervisor.escalation")) return
    this.#emit("supervisor.escalation", { restarts, limit }, { ...subjectOf(supervisor), id })
  }

  undelivered(name: "message.dead" | "message.unexpected", dropped: DroppedMessage, count: number): void {
    if (this.#hasHandler(name)) this.#emit(name, { count }, dropped)
  }

  /** Traces a process; returns a function that stops the trace. */
  trace(cell: Cell, tracer: (event: TraceEvent) => void): () => void {
    const probe = this.#probe(cell)
    probe.tracers.add(tracer)
    return () => {
      probe.tracers.delete(tracer)
      this.#release(cell, probe)
    }
  }

  /** Starts or continues counting; with `false` stops it. */
  count(cell: Cell, on: boolean): void {
    const probe = this.#probe(cell)
    const fresh = { since: this.#kernel.clock.now(), received: 0, sent: 0, handled: 0, busyFor: 0 }
    probe.counts = on ? (probe.counts ?? fresh) : undefined
    this.#release(cell, probe)
  }

  countsOf(cell: Cell): Probe["counts"] {
    return this.#probes.get(cell)?.counts
  }

  #probe(cell: Cell): Probe {
    const existing = this.#probes.get(cell)
    if (existing !== undefined) return existing
    const probe = new Probe((error) => {
      this.#kernel.report(cell, error)
      this.#release(cell, probe)
    })
    if (!cell.dead) this.#probes.set(cell, probe)
    return probe
  }

  #release(cell: Cell, probe: Probe): void {
    if (!probe.needed && this.#probes.get(cell) === probe) this.#probes.delete(cell)
    this.#leave()
  }
}

/** The watch of a system that has one. */
export const currentWatch = ({ observer }: Pick<Kernel, "observer">): Watch | undefined =>
  observer instanceof Watch ? observer : undefined

/** The watch of a system, made at its first use. */
export const watchOf = (kernel: WatchedKernel): Watch => {
  const watch = currentWatch(kernel) ?? new Watch(kernel)
  kernel.observer = watch
  return watch
}

/** The reports of every system. */
export const reports: KernelReports = {
  crash: crashReport,
  undelivered: (kernel, kind, target, message) => {
    const { undelivered, count } = recordUndelivered(kernel, kind, target, message)
    currentWatch(kernel)?.undelivered(`message.${kind}`, undelivered, count)
    if (kind !== "unexpected" || !(target instanceof Cell)) return
    kernel.log?.report(() => ({
      subject: `${target.label} ${target} got an unexpected message`,
      error: isSensitive(target) ? withheld : messageSummary(undelivered.message),
      attributes: { process: target.label, pid: String(target), kind: target.behaviour.kind }
    }))
  }
}
