/**
 * One process, as the kernel sees it, and the table of the living processes of a system, in start order: a linked list, which uses no memory
 * of its own and is never resized.
 *
 * Owns its mailbox, flags, links, watchers and resources, each allocated at first use: an idle process is only this
 * object. It does not interpret messages; its behaviour does.
 *
 * CELL1. A link is in both cells or in neither. A monitor is in the watched cell and in the process that made it, if any.
 * CELL2. A thing that must end with the process is in `resources`, and is removed when it ends by itself.
 * CELL3. `dead` changes from false to true once, in `exit.ts`.
 * TABLE1. `size` is the number of entries. A removed process has no neighbours.
 * TABLE2. The ids increase from the oldest to the youngest.
 */
import {
  type CrashReport,
  type ExitReason,
  inspected,
  InvalidOption,
  type Name,
  type Pid,
  pidMark,
  summary,
  type System
} from "../core/index.ts"
import type * as Effect from "effect/Effect"
import type { Chances } from "../time/index.ts"
import { Links, SmallSet } from "./smallSet.ts"
import type { Mailbox, Receiver } from "./mailbox.ts"
import type { RunQueue } from "./runQueue.ts"

/** The code of one kind of process. Its functions must not throw: an error of user code becomes an exit reason. */
export interface Behaviour {
  /** The kind that the observer shows. */
  readonly kind: string
  /** The process that it never outlives, even if it traps exits. */
  readonly parent?: Cell | undefined
  /** The process that is notified of any end directly, and so gets no exit signal over the link. */
  readonly notifies?: Cell | undefined
  /** The first turn of the process. */
  begin?(cell: Cell): void
  /** Handles one message. Without it, messages wait in the mailbox for a receive. */
  handle?(cell: Cell, message: unknown): void
  /** Runs once, after the process died and links and watchers were notified. */
  ended?(cell: Cell, reason: ExitReason): void
  /** Returns the state. */
  inspect?(): unknown
  /** Returns the state as people read it; by default the result of `inspect`. */
  outline?(): unknown
  /** Returns what reports show of the state and of a message; `undefined` if they show all of it. */
  shown?(message: unknown): { readonly state?: unknown; readonly message?: unknown } | undefined
  /** Replaces the state that `inspect` returns; returns whether the state may be replaced. */
  replace?(state: unknown): boolean
}

/** A callback that is called once, when a process dies. */
export interface Watcher {
  down(cell: Cell, reason: ExitReason): void
}

/** A resource that is closed when its process ends. */
export interface Resource {
  close(): void
}

/** The processes whose exit signals over links a process ignores. */
export class Absorbed {
  readonly known = new WeakSet<Cell>()
  /** Processes with a higher id are absorbed too, because one of them is about to be added. */
  after = Number.POSITIVE_INFINITY

  has(cell: Cell): boolean {
    return cell.id > this.after || this.known.has(cell)
  }
}

/** A delivery by the kernel in steps, each of which may fail. */
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
  /** Describes a process that ends, or that reports a fault and continues. */
  readonly crash: (cell: Cell, reason: ExitReason, ends: boolean) => CrashReport
  /** Records a message that no process took. */
  readonly undelivered: (kernel: Kernel, kind: "dead" | "unexpected", target: Pid | Name, message: unknown) => void
}

/** A fault, for the log: what failed, its error, and the attributes of its report. */
export interface Fault {
  /** What failed, as `onEscalate`. */
  readonly subject: string
  /** What was thrown, or why it failed. */
  readonly error: unknown
  /** Where it happened: names, ids and numbers. Default: none. */
  readonly attributes?: Readonly<Record<string, string | number>>
}

/** The log of a system, which writes the faults that no handler takes. */
export interface KernelLog {
  /** Whether the next report is written; counts one that is not. */
  readonly takes: () => boolean
  /** Writes the report of a crash that `takes` allowed. */
  readonly crashed: (report: CrashReport) => void
  /** Writes a fault, if there is room for it. A function is called only then. */
  readonly report: (fault: Fault | (() => Fault)) => void
  /** Writes the number of the reports that were omitted. */
  readonly flush: () => void
}

/** The kernel of a system, as its processes use it. */
export interface Kernel extends System {
  readonly processes: ProcessTable<Cell>
  readonly names: Map<string, Cell>
  readonly chances: Chances
  readonly queue: RunQueue<Cell>
  /** The parent of every root process; it represents the system. */
  readonly root: Cell
  /** Represents callers that are not a process. */
  readonly outside: Cell
  readonly fork: <A, E>(effect: Effect.Effect<A, E, System>) => ReturnType<typeof Effect.runFork<A, E>>
  /** The log; `undefined` for a silent system. */
  readonly log: KernelLog | undefined
  /** The duration in milliseconds from which a callback is reported to block the thread. */
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

const nobody: ReadonlyArray<Cell> = []

export class Cell implements Pid<unknown> {
  readonly id: number
  label: string
  readonly kernel: Kernel
  behaviour: Behaviour
  /** The process that spawned it, for the tree; undefined for a root. */
  parent: Cell | undefined
  /** Its neighbours in the process table. */
  older: Cell | undefined = undefined
  younger: Cell | undefined = undefined
  name: string | undefined = undefined
  mailbox: Mailbox | undefined = undefined
  receivers: Array<Receiver> | undefined = undefined
  /** One link is stored without a set: most processes have only that to their parent. */
  #links: Cell | Links<Cell> | undefined = undefined
  watchers: SmallSet<Watcher> | undefined = undefined
  resources: SmallSet<Resource> | undefined = undefined
  /** Links whose exit signals this process ignores, because one of its actors handles them. */
  absorbs: Absorbed | undefined = undefined
  reason: ExitReason = undefined
  /** The message being handled. */
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

  /** Encodes a pid as its text, because the process itself is no data. */
  toJSON(): string {
    return this.toString()
  }

  /** Prints a pid as one line, such as `<0.12.0> chat c1`, without its kernel. */
  [inspected](): string {
    return `${this} ${this.label}${this.dead ? " (dead)" : ""}`
  }

  /** The processes that it is linked to now. */
  get links(): ReadonlyArray<Cell> {
    const links = this.#links
    if (links === undefined) return nobody
    return links instanceof Cell ? [links] : links.all
  }

  isLinked(other: Cell): boolean {
    const links = this.#links
    return links instanceof Cell ? links === other : links?.has(other) === true
  }

  /** Adds one side of a link. */
  addLink(other: Cell): void {
    const links = this.#links
    if (links === undefined) this.#links = other
    else if (links instanceof Links) links.add(other)
    else {
      this.#links = new Links()
      this.#links.add(links)
      this.#links.add(other)
    }
  }

  /** Removes one side of a link. */
  removeLink(other: Cell): void {
    if (this.#links === other) this.#links = undefined
    else if (this.#links instanceof Links) this.#links.delete(other)
  }

  /** Removes its side of all links. */
  removeLinks(): void {
    this.#links = undefined
  }

  own(resource: Resource): void {
    this.resources ??= new SmallSet()
    this.resources.add(resource)
  }

  disown(resource: Resource): void {
    this.resources?.delete(resource)
    if (this.resources?.size === 0) this.resources = undefined
  }

  watch(watcher: Watcher): void {
    this.watchers ??= new SmallSet()
    this.watchers.add(watcher)
  }
}

/** The kernel of a system: both are the same object. */
export const kernelOf = (system: System): Kernel => {
  if ((system as Kernel | undefined)?.root instanceof Cell) return system as Kernel
  const linked = (system as unknown) instanceof Cell ? "; startLink and spawnLink take a process" : ""
  throw new InvalidOption({ option: "system", value: system, allowed: `what System.make returns${linked}` })
}

/** The process of a pid: both are the same object. */
export const cellOf = (pid: Pid): Cell => {
  if (pid instanceof Cell) return pid
  const isSystem = (pid as { readonly root?: unknown } | undefined)?.root instanceof Cell
  throw new TypeError(`${summary(pid)} is no process: pass a pid${isSystem ? "; start and spawn take a system" : ""}`)
}

/** An entry of the table, with its neighbours. */
interface Neighbour<Entry> {
  readonly id: number
  readonly dead: boolean
  older: Entry | undefined
  younger: Entry | undefined
}

/** The living processes of a system, in start order: a linked list, so that the table itself uses no memory and is never resized. */
export class ProcessTable<Entry extends Neighbour<Entry>> {
  #oldest: Entry | undefined = undefined
  #youngest: Entry | undefined = undefined
  size = 0

  /** The processes that are alive now, oldest first. */
  get all(): ReadonlyArray<Entry> {
    const cells: Array<Entry> = []
    for (let cell = this.#oldest; cell !== undefined; cell = cell.younger) cells.push(cell)
    return cells
  }

  /** The living processes, oldest first; a process that dies during the iteration is skipped. */
  *values(): Iterable<Entry> {
    for (const cell of this.all) if (!cell.dead) yield cell
  }

  /** The living process with an id; the search starts at the youngest. */
  find(id: number): Entry | undefined {
    let cell = this.#youngest
    while (cell !== undefined && cell.id > id) cell = cell.older
    return cell?.id === id ? cell : undefined
  }

  add(cell: Entry): void {
    const older = this.#youngest
    if (older === undefined) this.#oldest = cell
    else older.younger = cell
    cell.older = older
    this.#youngest = cell
    this.size++
  }

  remove(cell: Entry): void {
    const { older, younger } = cell
    if (older === undefined) this.#oldest = younger
    else older.younger = younger
    if (younger === undefined) this.#youngest = older
    else younger.older = older
    cell.older = undefined
    cell.younger = undefined
    this.size--
  }
}
