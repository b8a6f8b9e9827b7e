/**
 * What a system looks like right now.
 *
 * The tree follows who spawned whom, among the living: for supervised processes that is the supervision tree.
 */
import type { Cell } from "./internal/cell.ts"
import { Dynamic } from "./internal/dynamicServer.ts"
import { kernelOf } from "./internal/kernel.ts"
import { memoryOf } from "./internal/memoryEstimate.ts"
import { Server } from "./internal/serverLoop.ts"
import { Supervising } from "./internal/supervising.ts"
import { isSuspended } from "./internal/suspension.ts"
import type { Pid } from "./Pid.ts"
import type { System } from "./System.ts"

/**
 * One process and those it spawned.
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
export interface Node {
  readonly pid: Pid
  readonly label: string
  readonly name: string | undefined
  readonly kind: string
  readonly status: "idle" | "queued" | "running" | "busy" | "suspended"
  readonly queueLength: number
  readonly memory: number
  readonly restarts?: number
  readonly children: ReadonlyArray<Node>
}

const restartsOf = ({ behaviour }: Cell): number | undefined => {
  const state = behaviour instanceof Server ? behaviour.state : undefined
  return state instanceof Supervising || state instanceof Dynamic ? state.window.total : undefined
}

const nodeOf = (cell: Cell, childrenOf: ReadonlyMap<Cell | undefined, ReadonlyArray<Cell>>): Node => {
  const restarts = restartsOf(cell)
  return {
    pid: cell,
    label: cell.label,
    name: cell.name,
    kind: cell.behaviour.kind,
    status: isSuspended(cell) ? "suspended" : cell.status,
    queueLength: cell.mailbox?.size ?? 0,
    memory: memoryOf(cell),
    ...(restarts === undefined ? {} : { restarts }),
    children: (childrenOf.get(cell) ?? []).map((child) => nodeOf(child, childrenOf))
  }
}

/** The living processes by who spawned them, roots and siblings in the order of their start. */
export const tree = (system: System): ReadonlyArray<Node> => {
  const cells = kernelOf(system).processes.all
  const childrenOf = Map.groupBy(cells, (cell) => (cell.parent?.dead === false ? cell.parent : undefined))
  return (childrenOf.get(undefined) ?? []).map((cell) => nodeOf(cell, childrenOf))
}

const describe = (node: Node): string => {
  const queued = node.queueLength === 0 ? "" : `, ${node.queueLength} queued`
  const restarts = node.restarts === undefined || node.restarts === 0 ? "" : `, ${node.restarts} restarts`
  const name = node.name === undefined || node.name === node.label ? "" : ` (${node.name})`
  const memory = `${(node.memory / 1000).toFixed(1)} kB`
  return `${node.label}${name} ${node.pid} ${node.status}${queued}${restarts}, ${memory}`
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
