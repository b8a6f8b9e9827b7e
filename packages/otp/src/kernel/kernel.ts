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
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Clock } from "../time/Clock.ts"
import type { CrashReport } from "../core/CrashReport.ts"
import type { ExitReason } from "../core/ExitReason.ts"
import { SystemStopped } from "../core/OtpError.ts"
import type { Name, Pid } from "../core/Pid.ts"
import type { System } from "../system/System.ts"
import { Cell } from "./cell.ts"
import type { Behaviour } from "./cell.ts"
import { type Chances, chancesOf } from "../time/seededRandom.ts"
import { Chore } from "./mailboxTask.ts"
import { crashReport } from "../observe/shown/crashReportOf.ts"
import { inspected } from "../core/nodeInspect.ts"
import { ProcessTable } from "./processTable.ts"
import { RunQueue } from "./runQueue.ts"
import { shownContent } from "../process/redaction.ts"
import { StrayMail } from "../observe/shown/deadLetterLog.ts"
import { turn } from "./turn.ts"
import type { Watch } from "../observe/observers.ts"

/** What the kernel has to deliver: one step after another, each of which may fail. */
export interface Signal {
  /** The one posted after it. */
  next: Signal | undefined
  readonly over: boolean
  step(): void
}

const passive: Behaviour = { kind: "system" }

export class Kernel implements System {
  readonly name: string
  readonly clock: Clock
  readonly processes = new ProcessTable()
  readonly names = new Map<string, Cell>()
  /** What its chance was made from, if not from the host's. */
  readonly seed: number | undefined
  readonly chances: Chances
  readonly queue: RunQueue
  /** Stands for the system itself: the parent of every root. */
  readonly root: Cell
  /** Stands for callers that are no process. */
  readonly outside: Cell
  readonly fork: <A, E>(effect: Effect.Effect<A, E>) => ReturnType<typeof Effect.runFork<A, E>>
  readonly #onCrash: ((report: CrashReport) => void) | undefined
  #first: Signal | undefined = undefined
  #last: Signal | undefined = undefined
  readonly #quiet: Array<() => void> = []
  #delivering = false
  lastId = 0
  current: Cell | undefined = undefined
  timers = 0
  /** Fibers on their way, the closing ones too. */
  fibers = 0
  closing = 0
  stopped = false
  /** Whoever watches this system; nobody by default. */
  watch: Watch | undefined = undefined
  strayMail: StrayMail | undefined = undefined
  /** How many processes ended and should not have, and how often a supervisor started a child again. */
  crashes = 0
  restarts = 0
  /** From how many milliseconds on a callback holds the thread too long. */
  readonly blockedAfter: number

  constructor(
    name: string,
    clock: Clock,
    services: Context.Context<never>,
    onCrash: ((report: CrashReport) => void) | undefined,
    blockedAfter = 50,
    seed?: number
  ) {
    this.seed = seed
    this.chances = chancesOf(seed)
    this.queue = new RunQueue(turn, seed !== undefined)
    this.blockedAfter = blockedAfter
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
    this.processes.add(cell)
    if (this.watch !== undefined) this.watch.spawned(cell)
    return cell
  }

  /** Takes a dead process out of the tables. */
  forget(cell: Cell): void {
    this.processes.remove(cell)
    if (cell.name !== undefined && this.names.get(cell.name) === cell) this.names.delete(cell.name)
  }

  /** A printed system is one line. */
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

  /** Takes down a crash that is about to happen, if anybody wants to hear of it. */
  crashOf(cell: Cell, reason: ExitReason): CrashReport | undefined {
    this.crashes++
    return this.#onCrash === undefined && this.watch === undefined ? undefined : crashReport(cell, reason, true)
  }

  /** Tells whoever wants to hear of it about a crash. What a reporter throws is its own, and is dropped. */
  tell(report: CrashReport): void {
    try {
      this.#onCrash?.(report)
    } catch {
      // A reporter that fails has nobody to report to.
    }
    this.watch?.crashed(report)
  }

  /** Reports a fault a process survives, or, if `ends`, one it is about to end for in order. */
  report(cell: Cell, reason: ExitReason, ends = false): void {
    if (ends) this.crashes++
    if (this.#onCrash !== undefined || this.watch !== undefined) this.tell(crashReport(cell, reason, ends))
  }

  /** Takes note of a message that reached nobody, or nobody who had a use for it. */
  strayed(kind: "dead" | "unexpected", target: Pid | Name, message: unknown): void {
    if (message instanceof Chore) return
    const stray = { target, message: shownContent(target, message), from: this.current }
    this.strayMail ??= new StrayMail()
    const count = this.strayMail.add({ kind, at: this.clock.now(), ...stray })
    this.watch?.strayed(`message.${kind}`, stray, count)
  }
}

/** The kernel behind a system: a system is its kernel. */
export const kernelOf = (system: System): Kernel => system as Kernel
