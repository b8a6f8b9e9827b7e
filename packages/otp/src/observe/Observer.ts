/**
 * What a system looks like right now.
 *
 * The tree follows who spawned whom, among the living: for supervised processes that is the supervision tree. Looking takes
 * no turn of a process, and a system that is not looked at does nothing for it.
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

/**
 * What one process looks like.
 *
 * **Details**
 *
 * - `name`: what it is registered as.
 * - `kind`: `process`, `task`, `machine`, `actor` for another actor below a machine, `server`, `supervisor`, `registry`,
 *   `application`.
 * - `status`: `running` in its turn, `queued` before it, `busy` with a promise or an effect, `suspended` by `Sys`, else
 *   `idle`.
 * - `queueLength`: messages it has not taken.
 * - `restarts`: how often a supervisor had to start a child again.
 * - `memory`: an estimate of what its state and its mail weigh, in bytes, from a part of both. What processes share
 *   counts for each; what a promise, a fiber or a closure holds does not.
 */
export interface Look {
  readonly pid: Pid
  readonly label: string
  readonly name: string | undefined
  readonly kind: string
  readonly status: "idle" | "queued" | "running" | "busy" | "suspended"
  readonly queueLength: number
  readonly memory: number
  readonly restarts?: number
}

/** One process and those it spawned; `hidden` says how many processes of those it spawned, and below them, are left out here. */
export interface Node extends Look {
  readonly children: ReadonlyArray<Node>
  readonly hidden?: number
}

/**
 * All there is to see of one process.
 *
 * **Details**
 *
 * - `mailbox`: the messages it has not taken, the oldest 50 of them, each in one line.
 * - `state`: what it knows, in one line; of servers, machines and supervisors.
 * - `links`, `monitors`: who hears of its end by a signal, and whose end it is told of; 100 of each.
 * - `chart`: of a machine, which, and the states it is in.
 *
 * Of a process that is `sensitive` the mailbox, the state and the chart are withheld.
 */
export interface Inspection extends Look {
  readonly parent: Pid | undefined
  readonly trapExit: boolean
  readonly mailbox: ReadonlyArray<string>
  readonly state: string | undefined
  readonly links: ReadonlyArray<Pid>
  readonly monitors: ReadonlyArray<Pid>
  readonly chart: Chart | undefined
}

/** How much of a tree is shown: at most so many processes. Default: all. */
export interface TreeOptions {
  readonly maxProcesses?: number | undefined
}

/** What a system counts by itself: living processes; since it was made, crashes and restarts by supervisors. */
export interface Counts {
  readonly processes: number
  readonly crashes: number
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
    ...(restarts === undefined ? {} : { restarts })
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

/** The nodes of siblings that there is room for, and how many processes those without any leave out. */
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
 * The living processes by who spawned them, roots and siblings in the order of their start.
 *
 * **Details**
 *
 * With `maxProcesses`, what there is no room for is left out: of the largest subtrees first, and where siblings are too
 * many, of those with nothing below them and the oldest. The time it takes grows with those that are shown, and a little
 * with all that live.
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

/** What the system counts by itself, whether or not anybody looks. */
export const counts = (system: System): Counts => {
  const { processes, crashes, restarts } = kernelOf(system)
  return { processes: processes.size, crashes, restarts }
}

/** The living process whose pid has this text, `<0.12.0>`. */
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
 * Looks into a process, without a turn of it; `undefined` when it is dead.
 *
 * **When to use**
 *
 * To show it to people. It costs the process nothing, and what it is busy with is not waited for: `Sys.status` asks the
 * process itself.
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
    links: (cell.links?.all ?? []).slice(0, mostTies),
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
