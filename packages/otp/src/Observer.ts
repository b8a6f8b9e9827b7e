/**
 * What a system looks like right now.
 *
 * The tree follows who spawned whom, among the living: for supervised processes that is the supervision tree.
 */
import type { Cell } from "./internal/cell.ts"
import { Dynamic } from "./internal/dynamicServer.ts"
import { kernelOf } from "./internal/kernel.ts"
import { Server } from "./internal/serverLoop.ts"
import { Supervising } from "./internal/supervising.ts"
import type { Pid } from "./Pid.ts"
import type { System } from "./System.ts"

/**
 * One process and those it spawned.
 *
 * **Details**
 *
 * - `kind`: `process`, `machine`, `server`, `supervisor` or `registry`.
 * - `status`: `running` in its turn, `queued` before it, `busy` with a promise or an effect, else `idle`.
 * - `queueLength`: messages it has not taken.
 * - `restarts`: how often a supervisor had to start a child again.
 */
export interface Node {
  readonly pid: Pid
  readonly label: string
  readonly kind: string
  readonly status: "idle" | "queued" | "running" | "busy"
  readonly queueLength: number
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
    kind: cell.behaviour.kind,
    status: cell.status,
    queueLength: cell.mailbox?.size ?? 0,
    ...(restarts === undefined ? {} : { restarts }),
    children: (childrenOf.get(cell) ?? []).map((child) => nodeOf(child, childrenOf))
  }
}

/** The living processes by who spawned them, roots and siblings in the order of their start. */
export const tree = (system: System): ReadonlyArray<Node> => {
  const cells = [...kernelOf(system).processes.values()]
  const childrenOf = Map.groupBy(cells, (cell) => (cell.parent?.dead === false ? cell.parent : undefined))
  return (childrenOf.get(undefined) ?? []).map((cell) => nodeOf(cell, childrenOf))
}

const describe = (node: Node): string => {
  const queued = node.queueLength === 0 ? "" : `, ${node.queueLength} queued`
  const restarts = node.restarts === undefined || node.restarts === 0 ? "" : `, ${node.restarts} restarts`
  return `${node.label} ${node.pid} ${node.status}${queued}${restarts}`
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
