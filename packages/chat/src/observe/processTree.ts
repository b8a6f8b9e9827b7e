/** The process tree of a system as plain data; unchanged parts are the same objects. */
import { DeadLetters, Observer, type Pid, type System } from "@troupe/otp"
import * as Zombies from "../call/Zombies.ts"
import type { Observed, ProcessNode } from "./observed.ts"

/** Returns the chat of a process, if it has one. */
export type ChatOf = (pid: Pid) => string | undefined

/** The data of a process, without its children. */
export const plainLook = (
  { pid, label, name, kind, status, queueLength, memory, restarts }: Observer.Look,
  chat: string | undefined
): Omit<ProcessNode, "children" | "hidden"> => ({
  id: pid.toString(),
  label: cut(label),
  ...(name === undefined ? {} : { name: cut(name) }),
  kind,
  status,
  queueLength,
  memory,
  ...(restarts === undefined ? {} : { restarts }),
  ...(chat === undefined ? {} : { chat })
})

const longestLabel = 200

const cut = (label: string): string => (label.length <= longestLabel ? label : `${label.slice(0, longestLabel - 1)}…`)

/** The present state of a system; `before` if only the time differs. */
export const observed = (
  system: System.System,
  maxProcesses: number,
  chatOf: ChatOf,
  before: Observed | undefined
): Observed => {
  const { processes, crashes, restarts } = Observer.counts(system)
  const nodes = Observer.tree(system, { maxProcesses })
  const now: Observed = {
    at: system.clock.now(),
    processes,
    tree: sharing(before?.tree ?? [], plainNodes(nodes, chatOf, undefined)),
    zombies: Zombies.counts(system).listed,
    crashes,
    restarts,
    deadLetters: DeadLetters.counts(system).dead
  }
  return before !== undefined && isSame(before, now, { at: now.at }) ? before : now
}

const plainNodes = (
  nodes: ReadonlyArray<Observer.Node>,
  chatOf: ChatOf,
  above: string | undefined
): ReadonlyArray<ProcessNode> =>
  nodes.map((node) => {
    const chat = above ?? chatOf(node.pid)
    const { children, hidden } = node
    return {
      ...plainLook(node, chat),
      children: plainNodes(children, chatOf, chat),
      ...(hidden === undefined ? {} : { hidden })
    }
  })

/** The nodes now; unchanged nodes are the same objects as before. */
const sharing = (before: ReadonlyArray<ProcessNode>, after: ReadonlyArray<ProcessNode>): ReadonlyArray<ProcessNode> => {
  if (before.length === 0) return after.length === 0 ? before : after
  const known = new Map(before.map((node) => [node.id, node]))
  const shared = after.map((node) => {
    const old = known.get(node.id)
    if (old === undefined) return node
    const children = sharing(old.children, node.children)
    return isSame(old, node, { children: old.children }) && children === old.children ? old : { ...node, children }
  })
  return shared.length === before.length && shared.every((node, index) => node === before[index]) ? before : shared
}

/** Whether two objects have the same members, except those in `except`. */
const isSame = <A extends object>(one: A, other: A, except: Partial<A>): boolean => {
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]) as Set<keyof A>
  for (const key of keys) if (!(key in except) && one[key] !== other[key]) return false
  return true
}
