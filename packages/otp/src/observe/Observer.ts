/**
 * The current state of a system.
 *
 * The tree shows the living processes by the process that spawned them: for supervised processes, the supervision tree.
 * Reading it takes no turn of a process, and costs nothing when unused.
 */
import { actorChart, type Chart } from "../machine/index.ts"
import { type Cell, cellOf, kernelOf } from "../kernel/index.ts"
import { messageSummary, shownState } from "../telemetry/index.ts"
import { Dynamic, Supervising } from "../supervisor/index.ts"
import { memoryOf } from "./memoryEstimate.ts"
import { isSensitive, Monitor, withheld } from "../process/index.ts"
import { Server } from "../server/index.ts"
import { attempt, type Pid, type System } from "../core/index.ts"
import { isSuspended } from "./suspension.ts"
import { sharesOf } from "./treePruning.ts"

export type { Chart } from "../machine/index.ts"

/** The properties of one process. */
export interface Look {
  /** The process. */
  readonly pid: Pid
  /** Its displayed name. */
  readonly label: string
  /** Its registered name; `undefined` without one. */
  readonly name: string | undefined
  /**
   * `process`, `task`, `machine`, `actor` for another actor below a machine, `server`, `supervisor`, `registry`, `application`.
   */
  readonly kind: string
  /** `running` in its turn, `queued` before it, `busy` with a promise or an effect, `suspended` by `Sys`, else `idle`. */
  readonly status: "idle" | "queued" | "running" | "busy" | "suspended"
  /** The number of messages that wait. */
  readonly queueLength: number
  /**
   * An estimate in bytes of its state and its messages, from a sample of both. Shared values count for each process. The memory
   * of promises, fibers and closures does not count.
   */
  readonly memory: number
  /** The number of its restarts by a supervisor. */
  readonly restarts?: number
}

/** One process and the processes it spawned. */
export interface Node extends Look {
  /** The processes that it spawned. */
  readonly children: ReadonlyArray<Node>
  /** The number of its descendants that are left out at this node. */
  readonly hidden?: number
}

/** The details of one process. If the process is `sensitive`, the mailbox, the state and the chart are withheld. */
export interface Inspection extends Look {
  /** The process that started it. */
  readonly parent: Pid | undefined
  /** Whether exit signals are messages. */
  readonly trapExit: boolean
  /** The waiting messages, the oldest 50 of them, each in one line. */
  readonly mailbox: ReadonlyArray<string>
  /** The state of a server, machine or supervisor, in one line. */
  readonly state: string | undefined
  /** The linked processes, at most 100. */
  readonly links: ReadonlyArray<Pid>
  /** The processes that it monitors, at most 100. */
  readonly monitors: ReadonlyArray<Pid>
  /** For a machine, its id and its current states. */
  readonly chart: Chart | undefined
}

/** How a tree is read. */
export interface TreeOptions {
  /** The maximum number of processes in the tree. Default: all. */
  readonly maxProcesses?: number | undefined
}

/** The counts of a system. */
export interface Counts {
  /** The living processes, now. */
  readonly processes: number
  /** The crashes since the system was made. */
  readonly crashes: number
  /** The restarts by supervisors since the system was made. */
  readonly restarts: number
}

const mostMessages = 50
const mostTies = 100

const restartsOf = ({ behaviour }: Cell): number | undefined => {
  const state = behaviour instanceof Server ? behaviour.state : undefined
  return state instanceof Supervising || state instanceof Dynamic ? state.window.total : undefined
}

const lookAt = (cell: Cell): Look => {
  const restarts = restartsOf(cell)
  return {
    pid: cell,
    label: cell.label,
    name: cell.name,
    kind: cell.behaviour.kind,
    status: isSuspended(cell) ? "suspended" : cell.status,
    queueLength: cell.mailbox?.size ?? 0,
    memory: memoryOf(cell),
    ...(restarts !== undefined && { restarts })
  }
}

type Family = ReadonlyMap<Cell | undefined, ReadonlyArray<Cell>>

const nodeOf = (cell: Cell, family: Family): Node => ({
  ...lookAt(cell),
  children: (family.get(cell) ?? []).map((child) => nodeOf(child, family))
})

const sizesOf = (cells: ReadonlyArray<Cell>, family: Family, sizes: Map<Cell, number>): number => {
  let sum = 0
  for (const cell of cells) {
    const size = 1 + sizesOf(family.get(cell) ?? [], family, sizes)
    sizes.set(cell, size)
    sum += size
  }
  return sum
}

/** The nodes of siblings that fit into the room, and the number of processes in the subtrees that do not. */
const cutTo = (
  room: number,
  cells: ReadonlyArray<Cell>,
  family: Family,
  sizes: ReadonlyMap<Cell, number>
): { readonly nodes: ReadonlyArray<Node>; readonly hidden: number } => {
  const sized = cells.map((cell) => sizes.get(cell) ?? 1)
  const shares = sharesOf(sized, room)
  const hidden = sized.reduce((sum, size, index) => (shares[index] === 0 ? sum + size : sum), 0)
  const nodes = cells.flatMap((cell, index) => {
    const share = shares[index] ?? 0
    if (share === 0) return []
    if (share >= (sized[index] ?? 1)) return [nodeOf(cell, family)]
    const below = cutTo(share - 1, family.get(cell) ?? [], family, sizes)
    return [{ ...lookAt(cell), children: below.nodes, ...(below.hidden === 0 ? {} : { hidden: below.hidden }) }]
  })
  return { nodes, hidden }
}

/**
 * The living processes by the process that spawned them; roots and siblings in start order.
 *
 * **Details**
 *
 * With `maxProcesses`, processes beyond the limit are left out: first from the largest subtrees and, where siblings are
 * too many, those with nothing below them and the oldest. The time grows with the number of shown processes, and slightly
 * with the number of all.
 */
export const tree = (
  system: System,
  { maxProcesses = Number.POSITIVE_INFINITY }: TreeOptions = {}
): ReadonlyArray<Node> => {
  const { processes } = kernelOf(system)
  const family = Map.groupBy(processes.all, (cell) => (cell.parent?.dead === false ? cell.parent : undefined))
  const roots = family.get(undefined) ?? []
  if (processes.size <= maxProcesses) return roots.map((cell) => nodeOf(cell, family))
  const sizes = new Map<Cell, number>()
  sizesOf(roots, family, sizes)
  return cutTo(maxProcesses, roots, family, sizes).nodes
}

/** The counts of a system, which it keeps even without an observer. */
export const counts = (system: System): Counts => {
  const { processes, crashes, restarts } = kernelOf(system)
  return { processes: processes.size, crashes, restarts }
}

/** The living process whose pid has this text, such as `<0.12.0>`. */
export const find = (system: System, text: string): Pid | undefined => {
  const [, id] = /^<0\.(\d{1,15})\.0>$/.exec(text) ?? []
  return id === undefined ? undefined : kernelOf(system).processes.find(Number(id))
}

const mailOf = (cell: Cell): ReadonlyArray<string> => {
  const messages = cell.mailbox?.first(mostMessages) ?? []
  if (isSensitive(cell)) return messages.map(() => withheld)
  return messages.map((message) => attempt(() => messageSummary(message)))
}

const monitorsOf = ({ resources }: Cell): ReadonlyArray<Pid> =>
  (resources?.all ?? []).flatMap((resource) => {
    const target = resource instanceof Monitor ? resource.target : undefined
    return target === undefined ? [] : [target]
  })

/**
 * Reads the details of a process without a turn of it; `undefined` if it is dead.
 *
 * **When to use**
 *
 * For display. It does not cost the process time or wait while the process is busy: `Sys.status` asks the process
 * itself.
 *
 * @example
 * ```ts import.meta.vitest
 * import { GenServer, Observer, System } from "@troupe/otp"
 *
 * const counter = GenServer.make({
 *   init: (from: number) => GenServer.ok(from),
 *   handleCast: (by: number, state) => GenServer.noreply(state + by)
 * })
 * const system = System.make()
 * const pid = await GenServer.start(system, counter, 41)
 * GenServer.cast(pid, 1)
 * const seen = Observer.inspect(pid)
 * seen?.state // => "41"
 * seen?.mailbox // => ["cast 1"]
 * await System.stop(system)
 * ```
 */
export const inspect = (pid: Pid): Inspection | undefined => {
  const cell = cellOf(pid)
  if (cell.dead) return undefined
  return {
    ...lookAt(cell),
    parent: cell.parent,
    trapExit: cell.trap,
    mailbox: mailOf(cell),
    state: shownState(cell),
    links: cell.links.slice(0, mostTies),
    monitors: monitorsOf(cell).slice(0, mostTies),
    chart: isSensitive(cell) ? undefined : actorChart(cell)
  }
}

const describe = (node: Node): string => {
  const queued = node.queueLength === 0 ? "" : `, ${node.queueLength} queued`
  const restarts = node.restarts === undefined || node.restarts === 0 ? "" : `, ${node.restarts} restarts`
  const name = node.name === undefined || node.name === node.label ? "" : ` (${node.name})`
  const memory = `${(node.memory / 1000).toFixed(1)} kB`
  const hidden = node.hidden === undefined ? "" : `, ${node.hidden} more below`
  return `${node.label}${name} ${node.pid} ${node.status}${queued}${restarts}, ${memory}${hidden}`
}

const linesOf = (nodes: ReadonlyArray<Node>, indent: string): ReadonlyArray<string> =>
  nodes.flatMap((node, index) => {
    const last = index === nodes.length - 1
    const line = `${indent}${last ? "└─" : "├─"} ${describe(node)}`
    return [line, ...linesOf(node.children, `${indent}${last ? "   " : "│  "}`)]
  })

/** Draws a tree, one line for each process. */
export const format = (nodes: ReadonlyArray<Node>): string =>
  nodes.flatMap((node) => [describe(node), ...linesOf(node.children, "")]).join("\n")
