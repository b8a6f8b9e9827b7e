/**
 * The kernel of one system, and the turn of a process: its first run, or a slice of its messages.
 *
 * Owns the process table, the names, the run queue, the queue of posted signals, and the counts of timers and fibers. It
 * does not handle links or behaviours.
 *
 * KERN1. A cell is in `processes` exactly while it is alive; a name belongs to a living cell.
 * KERN2. Signals are delivered one after another, in the order they were posted: an exit that causes exits does not
 *        recurse.
 * KERN3. `current` is the process that has its turn, and `undefined` between turns.
 * KTURN1. A dead or busy process takes no message.
 * KTURN2. An unexpected error thrown by a behaviour is the exit reason of its process, never of the next one.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { type Chances, chancesOf, type Clock } from "../time/index.ts"
import {
  type CrashReport,
  type ExitReason,
  inspected,
  type Name,
  type Pid,
  type System,
  SystemStopped
} from "../core/index.ts"
import {
  type Behaviour,
  Cell,
  type Kernel,
  type KernelLog,
  type KernelObserver,
  type KernelReports,
  type Signal,
  ProcessTable
} from "./cell.ts"
import { RunQueue, slice } from "./runQueue.ts"
import { MailboxTask } from "./mailbox.ts"
import { die } from "./exit.ts"
import { wake } from "./delivery.ts"

const passive: Behaviour = { kind: "system" }

export class SystemKernel implements Kernel {
  readonly name: string
  readonly clock: Clock
  readonly processes = new ProcessTable<Cell>()
  readonly names = new Map<string, Cell>()
  /** The seed of the random numbers; `undefined` if they come from the host. */
  readonly seed: number | undefined
  readonly chances: Chances
  readonly queue: RunQueue<Cell>
  /** Represents the system itself: the parent of every root. */
  readonly root: Cell
  /** Represents callers that are not a process. */
  readonly outside: Cell
  readonly fork: <A, E>(effect: Effect.Effect<A, E, System>) => ReturnType<typeof Effect.runFork<A, E>>
  readonly #reports: KernelReports | undefined
  readonly #onCrash: ((report: CrashReport) => void) | undefined
  readonly log: KernelLog | undefined
  #first: Signal | undefined = undefined
  #last: Signal | undefined = undefined
  readonly #quiet: Array<() => void> = []
  #delivering = false
  lastId = 0
  current: Cell | undefined = undefined
  timers = 0
  /** The number of running fibers, including those that are closing. */
  fibers = 0
  closing = 0
  stopped = false
  observer: KernelObserver | undefined = undefined
  /** The number of abnormal ends of processes, and of restarts by supervisors. */
  crashes = 0
  restarts = 0
  /** The duration in milliseconds from which a callback is reported to block the thread. */
  readonly blockedAfter: number

  constructor(
    name: string,
    clock: Clock,
    services: (system: System) => Context.Context<System>,
    reports: KernelReports | undefined,
    onCrash: ((report: CrashReport) => void) | undefined,
    log: KernelLog | undefined,
    blockedAfter = 50,
    seed?: number
  ) {
    this.seed = seed
    this.chances = chancesOf(seed)
    this.queue = new RunQueue(turn, seed !== undefined)
    this.blockedAfter = blockedAfter
    this.name = name
    this.clock = clock
    this.fork = Effect.runForkWith(services(this))
    this.#reports = reports
    this.#onCrash = onCrash
    this.log = log
    this.root = new Cell(this, 0, passive, undefined, name)
    this.outside = new Cell(this, 0, passive, undefined, "outside")
  }

  /** Makes a process and adds it to the table; its first turn comes later. */
  make(behaviour: Behaviour, parent: Cell | undefined, label: string): Cell {
    if (this.stopped) throw new SystemStopped({ name: this.name })
    const cell = new Cell(this, ++this.lastId, behaviour, parent, label)
    this.processes.add(cell)
    if (this.observer !== undefined) this.observer.spawned(cell)
    return cell
  }

  /** Removes a dead process from the tables. */
  forget(cell: Cell): void {
    this.processes.remove(cell)
    if (cell.name !== undefined && this.names.get(cell.name) === cell) this.names.delete(cell.name)
  }

  /** Prints a system as one line. */
  [inspected](): string {
    return `System(${this.name}, processes: ${this.processes.size}${this.stopped ? ", stopped" : ""})`
  }

  post(signal: Signal): void {
    if (this.#last === undefined) this.#first = signal
    else this.#last.next = signal
    this.#last = signal
  }

  deliver(): void {
    if (this.#delivering) return
    this.#delivering = true
    try {
      for (let signal = this.#first; signal !== undefined; signal = signal.next) {
        while (!signal.over) {
          try {
            signal.step()
          } catch (error) {
            this.report(this.root, error)
          }
        }
      }
    } finally {
      this.#first = undefined
      this.#last = undefined
      this.#delivering = false
    }
  }

  /** Counts the end of a fiber; after the last one, runs the callbacks of `whenQuiet`. */
  fiberDone(): void {
    this.fibers--
    if (this.fibers === 0) for (const run of this.#quiet.splice(0)) run()
  }

  /** Runs a function when no fiber is left. */
  whenQuiet(run: () => void): void {
    if (this.fibers === 0) run()
    else this.#quiet.push(run)
  }

  /** Runs code of a process, so that processes it spawns become its children. */
  as<A>(cell: Cell, run: () => A): A {
    const before = this.current
    this.current = cell
    try {
      return run()
    } finally {
      this.current = before
    }
  }

  /** Whether something reads the next crash report. If only the log would, the log counts a report that it omits. */
  get #isReported(): boolean {
    return this.#onCrash !== undefined || this.observer !== undefined || this.log?.takes() === true
  }

  /** Makes the report of a crash before it happens; `undefined` if nothing reads it. */
  crashOf(cell: Cell, reason: ExitReason): CrashReport | undefined {
    this.crashes++
    return this.#isReported ? this.#reports?.crash(cell, reason, true) : undefined
  }

  /** Passes a report to `onCrash`, or else to the log, and to the observer. The log gets an exception of `onCrash`. */
  publish(report: CrashReport): void {
    if (this.#onCrash === undefined) {
      if (this.observer === undefined || this.log?.takes() === true) this.log?.crashed(report)
    } else {
      try {
        this.#onCrash(report)
      } catch (error) {
        this.log?.report({ subject: `onCrash failed with the report "${report.message}"`, error })
      }
    }
    this.observer?.crashed(report)
  }

  /** Reports a fault that a process survives, or, if `ends`, a fault for which it is about to end in order. */
  report(cell: Cell, reason: ExitReason, ends = false): void {
    if (ends) this.crashes++
    if (!this.#isReported) return
    const report = this.#reports?.crash(cell, reason, ends)
    if (report !== undefined) this.publish(report)
  }

  /** Records a message that no process took. */
  undelivered(kind: "dead" | "unexpected", target: Pid | Name, message: unknown): void {
    if (!(message instanceof MailboxTask)) this.#reports?.undelivered(this, kind, target, message)
  }
}

const begin = (cell: Cell): void => cell.behaviour.begin?.(cell)

const take = (cell: Cell, message: unknown): void => {
  if (message instanceof MailboxTask) message.run()
  else cell.behaviour.handle?.(cell, message)
}

/** Records that a busy process may have finished its message. */
export const settled = (cell: Cell): void => {
  if (cell.busy) return
  cell.handling = undefined
  cell.kernel.observer?.settled(cell)
}

/** Gives a process its turn; returns how many messages it took. */
export const turn = (cell: Cell): number => {
  if (cell.dead || cell.busy) return 0
  const { kernel } = cell
  const before = kernel.current
  kernel.current = cell
  let count = 0
  try {
    if (!cell.begun) {
      cell.begun = true
      if (kernel.observer === undefined) begin(cell)
      else kernel.observer.handle(cell, undefined, begin)
    }
    if (cell.behaviour.handle === undefined) return count
    while (count < slice && !cell.dead && !cell.busy && cell.mailbox !== undefined && cell.mailbox.size > 0) {
      count++
      const message = cell.mailbox.shift()
      cell.handling = message
      const { observer } = kernel
      if (observer === undefined) take(cell, message)
      else observer.handle(cell, message, take)
      if (!cell.busy) cell.handling = undefined
    }
    return count
  } catch (error) {
    die(cell, error, "own")
    return 1
  } finally {
    kernel.current = before
    if (cell.mailbox !== undefined && cell.mailbox.size > 0) wake(cell)
  }
}
