/**
 * The process tree of a system as plain data; unchanged parts are the same objects.
 *
 * OBSERVE7. The process of a chat has the newest messages that other agents sent the chat, in its thread or its inbox, with their senders.
 * OBSERVE6. The chat of a sub-agent is drawn below the call that it works for, while the tree has the call. Its supervisor stays where
 *           it is.
 */
import { DeadLetters, Observer, type Pid, type System } from "@troupe/otp"
import { beginningOf } from "../errors/index.ts"
import * as Zombies from "../call/Zombies.ts"
import type { Observed, ProcessNode } from "./observed.ts"

/** Returns the chat of a process, if it has one. */
export type ChatOf = (pid: Pid) => string | undefined

/** Returns the process of the call that a chat works for, if it is a child whose call runs. */
export type CallOf = (chat: string) => Pid | undefined

/** Returns the messages of other agents in a chat (OBSERVE7). */
export type MessagesOf = (chat: string) => ProcessNode["agentMessages"]

/** The data of a process, without its children. */
export const plainLook = (
  { pid, label, name, kind, status, queueLength, memory, restarts }: Observer.Look,
  chat: string | undefined
): Omit<ProcessNode, "children" | "hidden"> => ({
  id: pid.toString(),
  label: cut(label),
  ...(name !== undefined && { name: cut(name) }),
  kind,
  status,
  queueLength,
  memory,
  ...(restarts !== undefined && { restarts }),
  ...(chat !== undefined && { chat })
})

const longestLabel = 200

const cut = (label: string): string =>
  label.length <= longestLabel ? label : `${beginningOf(label, longestLabel - 1)}…`

/** The present state of a system; `before` if only the time differs. */
export const observed = (
  system: System.System,
  maxProcesses: number,
  of: { readonly chat: ChatOf; readonly call: CallOf; readonly messages: MessagesOf },
  before: Observed | undefined
): Observed => {
  const { processes, crashes, restarts } = Observer.counts(system)
  const nodes = Observer.tree(system, { maxProcesses })
  const calls = new Map<string, string>()
  const plain = plainNodes(nodes, of, calls)
  const now: Observed = {
    at: system.clock.now(),
    processes,
    tree: sharing(before?.tree ?? [], calls.size === 0 ? plain : belowCalls(plain, calls)),
    zombies: Zombies.counts(system).listed,
    crashes,
    restarts,
    deadLetters: DeadLetters.counts(system).dead
  }
  return before !== undefined && isSame(before, now, { at: now.at }) ? before : now
}

/** The nodes as data. `calls` gets the call of each child, both by the texts of their pids. */
const plainNodes = (
  nodes: ReadonlyArray<Observer.Node>,
  of: { readonly chat: ChatOf; readonly call: CallOf; readonly messages: MessagesOf },
  calls: Map<string, string>,
  above?: string
): ReadonlyArray<ProcessNode> =>
  nodes.map((node) => {
    const own = of.chat(node.pid)
    const call = own === undefined ? undefined : of.call(own)
    if (call !== undefined) calls.set(node.pid.toString(), call.toString())
    const chat = own ?? above
    const { children, hidden } = node
    const agentMessages = own === undefined ? undefined : of.messages(own)
    return {
      ...plainLook(node, chat),
      ...(agentMessages !== undefined && { agentMessages }),
      children: plainNodes(children, of, calls, chat),
      ...(hidden !== undefined && { hidden })
    }
  })

const idsOf = (nodes: ReadonlyArray<ProcessNode>): ReadonlyArray<string> =>
  nodes.flatMap(({ id, children }) => [id, ...idsOf(children)])

/** The nodes, with each child below its call (OBSERVE6). */
const belowCalls = (
  nodes: ReadonlyArray<ProcessNode>,
  calls: ReadonlyMap<string, string>
): ReadonlyArray<ProcessNode> => {
  const present = new Set(idsOf(nodes))
  const taken = new Map<string, ReadonlyArray<ProcessNode>>()
  const stays = (node: ProcessNode): boolean => {
    const call = calls.get(node.id)
    if (call === undefined || !present.has(call)) return true
    taken.set(call, [...(taken.get(call) ?? []), node])
    return false
  }
  const without = (list: ReadonlyArray<ProcessNode>): ReadonlyArray<ProcessNode> =>
    list.map((node) => ({ ...node, children: without(node.children) })).filter(stays)
  const withTaken = (list: ReadonlyArray<ProcessNode>): ReadonlyArray<ProcessNode> =>
    list.map((node) => ({ ...node, children: withTaken([...node.children, ...(taken.get(node.id) ?? [])]) }))
  return withTaken(without(nodes))
}

/** The nodes now; unchanged nodes are the same objects as before. */
const sharing = (before: ReadonlyArray<ProcessNode>, after: ReadonlyArray<ProcessNode>): ReadonlyArray<ProcessNode> => {
  if (before.length === 0) return after.length === 0 ? before : after
  const byId = new Map(before.map((node) => [node.id, node]))
  const shared = after.map((node) => {
    const old = byId.get(node.id)
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
