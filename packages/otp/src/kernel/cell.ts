/**
 * One process, as the kernel sees it.
 *
 * Owns its mailbox, flags, links, watchers and resources, each allocated when first used: an idle process is this
 * object and nothing else. It does not know what its behaviour does with a message.
 *
 * CELL1. A link is in both cells or in neither; a monitor is in the watched cell and, if a process made it, in that one.
 * CELL2. What must end with the process is in `resources`, and leaves it when it ends by itself.
 * CELL3. `dead` goes from false to true once, in `exit.ts`.
 */
import {
  type CrashReport,
  type ExitReason,
  inspected,
  type Name,
  type Pid,
  pidMark,
  type System
} from "../core/index.ts"
import type * as Effect from "effect/Effect"
import type { Chances } from "../time/index.ts"
import { SmallSet } from "./smallSet.ts"
import type { Mailbox, Receiver } from "./mailbox.ts"
import type { ProcessTable } from "./processTable.ts"
import type { RunQueue } from "./runQueue.ts"

/** What a kind of process does. None of its functions may throw: what user code throws becomes an exit reason. */
export interface Behaviour {
  /** What the observer shows. */
  readonly kind: string
  /** Whose end it does not outlive, even if it traps exits. */
  readonly parent?: Cell | undefined
  /** Who is told of its end, whatever it is, and so does not hear of it over the link. */
  readonly notifies?: Cell | undefined
  /** The first turn of the process. */
  begin?(cell: Cell): void
  /** Takes one message. Without it, mail waits in the mailbox to be received. */
  handle?(cell: Cell, message: unknown): void
  /** Runs once, after the process died and everybody has been told. */
  ended?(cell: Cell, reason: ExitReason): void
  /** What it knows. */
  inspect?(): unknown
  /** What it knows, for a reader; by default what `inspect` tells. */
  outline?(): unknown
  /** Puts another state in place of what `inspect` tells; answers whether its state may be replaced. */
  replace?(state: unknown): boolean
}

/** Something told once about the death of a process. */
export interface Watcher {
  down(cell: Cell, reason: ExitReason): void
}

/** Something that ends with its process. */
export interface Resource {
  close(): void
}

/** The processes whose exits, over their links, a process does not hear of. */
export class Absorbed {
  readonly known = new WeakSet<Cell>()
  /** Processes younger than this are absorbed too: one of them is about to be known. */
  after = Number.POSITIVE_INFINITY

  has(cell: Cell): boolean {
    return cell.id > this.after || this.known.has(cell)
  }
}

/** A step that the kernel has to deliver, which may fail. */
export interface Signal {
  /** The signal posted after this one. */
  next: Signal | undefined
  readonly over: boolean
  step(): void
}

/** The callbacks of an observer of all processes; a kernel has none by default. */
export interface KernelObserver {
  readonly spawned: (cell: Cell) => void
  /** A message reached a mailbox or a waiting receive. */
  readonly delivered: (cell: Cell, message: unknown) => void
  /** Calls `take`, which handles a message; may measure it. */
  readonly handle: (cell: Cell, message: unknown, take: (cell: Cell, message: unknown) => void) => void
  /** A busy process may have finished its message. */
  readonly settled: (cell: Cell) => void
  /** Returns the effect of a process, which may be measured. */
  readonly timed: <A, E>(cell: Cell, effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  readonly ended: (cell: Cell, reason: ExitReason, dropped: number) => void
  readonly crashed: (report: CrashReport) => void
  /** The current process answered a call. */
  readonly replied: (to: Cell | undefined, value: unknown) => void
  readonly restarted: (supervisor: Cell, id: string, restarts: number) => void
  readonly escalated: (supervisor: Cell, id: string, restarts: number, limit: number) => void
}

/** The reports of a system, made above the kernel. */
export interface KernelReports {
  /** Describes a process that ends, or that reports a fault and goes on. */
  readonly crash: (cell: Cell, reason: ExitReason, ends: boolean) => CrashReport
  /** Records a message that no process took. */
  readonly undelivered: (kernel: Kernel, kind: "dead" | "unexpected", target: Pid | Name, message: unknown) => void
}

/** The kernel of a system, as its processes use it. */
export interface Kernel extends System {
  readonly processes: ProcessTable<Cell>
  readonly names: Map<string, Cell>
  readonly chances: Chances
  readonly queue: RunQueue<Cell>
  /** The parent of every root process; it stands for the system. */
  readonly root: Cell
  /** Stands for callers that are no process. */
  readonly outside: Cell
  readonly fork: <A, E>(effect: Effect.Effect<A, E>) => ReturnType<typeof Effect.runFork<A, E>>
  /** From how many milliseconds on a callback holds the thread too long. */
  readonly blockedAfter: number
  lastId: number
  current: Cell | undefined
  timers: number
  fibers: number
  closing: number
  stopped: boolean
  observer: KernelObserver | undefined
  crashes: number
  restarts: number
  readonly make: (behaviour: Behaviour, parent: Cell | undefined, label: string) => Cell
  readonly forget: (cell: Cell) => void
  readonly post: (signal: Signal) => void
  readonly deliver: () => void
  readonly fiberDone: () => void
  readonly whenQuiet: (run: () => void) => void
  readonly as: <A>(cell: Cell, run: () => A) => A
  readonly crashOf: (cell: Cell, reason: ExitReason) => CrashReport | undefined
  readonly publish: (report: CrashReport) => void
  readonly report: (cell: Cell, reason: ExitReason, ends?: boolean) => void
  readonly undelivered: (kind: "dead" | "unexpected", target: Pid | Name, message: unknown) => void
}

export class Cell implements Pid<unknown> {
  readonly id: number
  label: string
  readonly kernel: Kernel
  behaviour: Behaviour
  /** Who spawned it, for the tree; undefined for a root. */
  parent: Cell | undefined
  /** Its neighbours in the process table. */
  older: Cell | undefined = undefined
  younger: Cell | undefined = undefined
  name: string | undefined = undefined
  mailbox: Mailbox | undefined = undefined
  receivers: Array<Receiver> | undefined = undefined
  links: SmallSet<Cell> | undefined = undefined
  watchers: SmallSet<Watcher> | undefined = undefined
  resources: SmallSet<Resource> | undefined = undefined
  /** Links whose exits this process does not want to hear of, because an actor of it does. */
  absorbs: Absorbed | undefined = undefined
  reason: ExitReason = undefined
  /** The message it is at. */
  handling: unknown = undefined
  trap = false
  begun = false
  queued = false
  busy = false
  dead = false

  constructor(kernel: Kernel, id: number, behaviour: Behaviour, parent: Cell | undefined, label: string) {
    this.kernel = kernel
    this.id = id
    this.behaviour = behaviour
    this.parent = parent
    this.label = label
  }

  /** Marks pids, so that they are recognized without this class. */
  get [pidMark](): true {
    return true
  }

  get status(): "idle" | "queued" | "running" | "busy" {
    if (this.kernel.current === this) return "running"
    if (this.queued) return "queued"
    return this.busy && this.receivers === undefined ? "busy" : "idle"
  }

  toString(): string {
    return `<0.${this.id}.0>`
  }

  /** A pid in something that is written as JSON is its text: what it stands for is no data. */
  toJSON(): string {
    return this.toString()
  }

  /** A printed pid is one line, such as `<0.12.0> chat c1`; its kernel is not printed. */
  [inspected](): string {
    return `${this} ${this.label}${this.dead ? " (dead)" : ""}`
  }

  own(resource: Resource): void {
    this.resources ??= new SmallSet()
    this.resources.add(resource)
  }

  disown(resource: Resource): void {
    this.resources?.delete(resource)
  }

  watch(watcher: Watcher): void {
    this.watchers ??= new SmallSet()
    this.watchers.add(watcher)
  }
}

/** The kernel behind a system: a system is its kernel. */
export const kernelOf = (system: System): Kernel => system as Kernel

/** The process behind a pid: a pid is its cell. */
export const cellOf = (pid: Pid): Cell => pid as Cell
