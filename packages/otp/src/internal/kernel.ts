/**
 * One system, as its processes see it.
 *
 * Owns the process table, the names, the run queue, the queue of signals on their way, and the counts of timers and
 * fibers. It does not know links or behaviours.
 *
 * KERN1. A cell is in `processes` exactly while it is alive; a name leads to a living cell.
 * KERN2. Signals are delivered in the order they were posted, one after another: a death that causes deaths does not
 *        recurse.
 * KERN3. `current` is the process whose turn it is, and nobody between turns.
 */
import type { Context } from "effect"
import { Effect } from "effect"
import type { Clock } from "../Clock.ts"
import { format } from "../ExitReason.ts"
import { SystemStopped } from "../OtpError.ts"
import type { CrashReport, System } from "../System.ts"
import { Cell } from "./cell.ts"
import type { Behaviour } from "./cell.ts"
import { RunQueue } from "./runQueue.ts"
import { turn } from "./turn.ts"

const passive: Behaviour = { kind: "system" }

export class Kernel implements System {
  readonly name: string
  readonly clock: Clock
  readonly processes = new Map<number, Cell>()
  readonly names = new Map<string, Cell>()
  readonly queue = new RunQueue(turn)
  /** Stands for the system itself: the parent of every root. */
  readonly root: Cell
  /** Stands for callers that are no process. */
  readonly outside: Cell
  readonly fork: <A, E>(effect: Effect.Effect<A, E>) => ReturnType<typeof Effect.runFork<A, E>>
  readonly #onCrash: ((report: CrashReport) => void) | undefined
  readonly #signals: Array<() => void> = []
  readonly #quiet: Array<() => void> = []
  #delivering = false
  lastId = 0
  current: Cell | undefined = undefined
  timers = 0
  /** Fibers on their way, the closing ones too. */
  fibers = 0
  closing = 0
  stopped = false

  constructor(
    name: string,
    clock: Clock,
    services: Context.Context<never>,
    onCrash: ((report: CrashReport) => void) | undefined
  ) {
    this.name = name
    this.clock = clock
    this.fork = Effect.runForkWith(services)
    this.#onCrash = onCrash
    this.root = new Cell(this, 0, passive, undefined, name)
    this.outside = new Cell(this, 0, passive, undefined, "outside")
  }

  /** Makes a process and puts it in the table; its first turn comes later. */
  make(behaviour: Behaviour, parent: Cell | undefined, label: string): Cell {
    if (this.stopped) throw new SystemStopped({ name: this.name })
    const cell = new Cell(this, ++this.lastId, behaviour, parent, label)
    this.processes.set(cell.id, cell)
    return cell
  }

  /** Takes a dead process out of the tables. */
  forget(cell: Cell): void {
    this.processes.delete(cell.id)
    if (cell.name !== undefined && this.names.get(cell.name) === cell) this.names.delete(cell.name)
  }

  post(deliver: () => void): void {
    this.#signals.push(deliver)
  }

  deliver(): void {
    if (this.#delivering) return
    this.#delivering = true
    try {
      for (let next = 0; next < this.#signals.length; next++) {
        try {
          this.#signals[next]?.()
        } catch (error) {
          this.report(this.root, error)
        }
      }
    } finally {
      this.#signals.length = 0
      this.#delivering = false
    }
  }

  /** Takes note that a fiber is done, and tells those who wait for the last one. */
  fiberDone(): void {
    this.fibers--
    if (this.fibers === 0) for (const tell of this.#quiet.splice(0)) tell()
  }

  /** Runs a function once no fiber is left. */
  whenQuiet(run: () => void): void {
    if (this.fibers === 0) run()
    else this.#quiet.push(run)
  }

  /** Runs code of a process, so that what it spawns is known as its child. */
  as<A>(cell: Cell, run: () => A): A {
    const before = this.current
    this.current = cell
    try {
      return run()
    } finally {
      this.current = before
    }
  }

  /** Tells whoever made the system about an end nobody asked for. Whatever that throws is theirs, and is dropped. */
  report(cell: Cell, reason: unknown): void {
    if (this.#onCrash === undefined) return
    try {
      this.#onCrash(crashReport(cell, reason))
    } catch {
      // A reporter that fails has nobody to report to.
    }
  }
}

const crashReport = (cell: Cell, reason: unknown): CrashReport => ({
  pid: cell,
  label: cell.label,
  reason,
  message: `${cell.label} ${cell} ended: ${format(reason)}`
})

/** The kernel behind a system: a system is its kernel. */
export const kernelOf = (system: System): Kernel => system as Kernel
