/**
 * The end of a process.
 *
 * Two phases: the process is dead at once for all others, and its resources are closed afterwards. Nothing waits for the
 * second phase; `System.stats` counts the fibers that are still closing.
 *
 * DEATH1. A process dies once, with the first reason.
 * DEATH2. The order is: table and name, EXIT to the links, DOWN to the watchers, then `ended` of the behaviour and the
 *         resources, youngest first.
 * DEATH3. When the outermost `die` or `signal` returns, every process that it ends through links is dead too.
 * DEATH4. The resources of a dead process are closed without a wait: a stalled finalizer delays no process and no other
 *         process's finalizers. A resource that fails to close is reported, and the rest are closed.
 */
import { exitMessage, type ExitReason, isAbnormal, OtherSystem } from "../core/index.ts"
import type { Cell, Resource, Watcher } from "./cell.ts"
import { deliver } from "./delivery.ts"
import type { Signal } from "./cell.ts"

/** Whether a process ended by its own doing or was ended by a signal. */
export type Origin = "own" | "signal"

/**
 * The steps after the death of one process, one after another. A fault in one step does not affect the others.
 */
class Aftermath implements Signal {
  next: Signal | undefined = undefined
  readonly #cell: Cell
  readonly #links: ReadonlyArray<Cell>
  readonly #watchers: ReadonlyArray<Watcher>
  #done = 0

  constructor(cell: Cell, links: ReadonlyArray<Cell>, watchers: ReadonlyArray<Watcher>) {
    this.#cell = cell
    this.#links = links
    this.#watchers = watchers
  }

  get over(): boolean {
    return this.#done > this.#links.length + this.#watchers.length
  }

  step(): void {
    const at = this.#done++
    const { reason } = this.#cell
    const peer = at < this.#links.length ? this.#links[at] : undefined
    if (peer !== undefined) return signal(this.#cell, peer, reason, "link")
    const after = at - this.#links.length
    const watcher = after < this.#watchers.length ? this.#watchers[after] : undefined
    if (watcher !== undefined) return watcher.down(this.#cell, reason)
    reap(this.#cell, reason)
  }
}

const close = (cell: Cell, resource: Resource): void => {
  try {
    resource.close()
  } catch (error) {
    cell.kernel.report(cell, error)
  }
}

/** Closes the resources of a process, youngest first. */
export const release = (cell: Cell): void => {
  const { resources } = cell
  cell.resources = undefined
  if (resources !== undefined) for (const resource of resources.all.toReversed()) close(cell, resource)
}

const reap = (cell: Cell, reason: ExitReason): void => {
  try {
    cell.behaviour.ended?.(cell, reason)
  } finally {
    release(cell)
  }
}

const nobody: ReadonlyArray<never> = []

/** Removes the links of a process; returns the processes that get an exit signal. */
const severed = (cell: Cell): ReadonlyArray<Cell> => {
  const { notifies } = cell.behaviour
  if (notifies !== undefined) {
    cell.removeLink(notifies)
    notifies.removeLink(cell)
  }
  const peers = cell.links
  for (const peer of peers) peer.removeLink(cell)
  cell.removeLinks()
  return peers
}

/** Ends a process. */
export const die = (cell: Cell, reason: ExitReason, origin: Origin): void => {
  if (cell.dead) return
  const { kernel, watchers } = cell
  const crash = origin === "own" && isAbnormal(reason) ? kernel.crashOf(cell, reason) : undefined
  const dropped = cell.mailbox?.size ?? 0
  cell.dead = true
  cell.reason = reason
  kernel.forget(cell)
  cell.mailbox = undefined
  cell.receivers = undefined
  cell.watchers = undefined
  cell.absorbs = undefined
  cell.parent = undefined
  const peers = severed(cell)
  kernel.post(new Aftermath(cell, peers, watchers?.all ?? nobody))
  cell.handling = undefined
  if (crash !== undefined) kernel.publish(crash)
  if (kernel.observer !== undefined) kernel.observer.ended(cell, reason, dropped)
  kernel.deliver()
}

/** Delivers an exit signal, sent directly or over a link. */
export const signal = (from: Cell, target: Cell, reason: ExitReason, over: "link" | "direct"): void => {
  if (target.dead) return
  if (over === "direct" && reason === "kill") return die(target, "killed", "signal")
  if (over === "link" && target.absorbs?.has(from) === true) return
  if (target.trap) return deliver(target, exitMessage(from, reason))
  if (reason !== "normal" || (from === target && over === "direct")) die(target, reason, "signal")
}

/** Throws if two processes belong to different systems. */
export const sameSystem = (one: Cell, other: Cell): void => {
  if (one.kernel !== other.kernel) throw new OtherSystem({ pid: other, system: one.kernel.name })
}

/** Links two processes. A second link, or a link of a process with itself, changes nothing. */
export const join = (one: Cell, other: Cell): void => {
  if (one === other || other.isLinked(one)) return
  one.addLink(other)
  other.addLink(one)
}
