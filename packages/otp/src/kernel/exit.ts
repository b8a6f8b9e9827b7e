/**
 * How a process ends.
 *
 * Two phases: the process is dead at once for everybody, and what it still holds is closed afterwards. Nobody waits for
 * the second phase; `System.stats` counts what is still closing.
 *
 * DEATH1. A process dies once; the first reason stays.
 * DEATH2. In this order: table and name, EXIT to the links, DOWN to the watchers, then the behaviour's end and the
 *         resources, the youngest first.
 * DEATH3. When the outermost `die` or `signal` returns, everybody it ends over links is dead too.
 * DEATH4. What a dead process holds is closed without a wait: a finalizer that stalls delays nobody, another process's
 *         finalizers neither, and what cannot be closed is reported and leaves the rest to be closed.
 */
import { exitMessage, type ExitReason, isAbnormal, OtherSystem } from "../core/index.ts"
import type { Cell, Resource, Watcher } from "./cell.ts"
import { deliver } from "./delivery.ts"
import { SmallSet } from "./smallSet.ts"
import type { Signal } from "./cell.ts"

/** Whether a process ended by its own doing or was ended by a signal. */
export type Origin = "own" | "signal"

/**
 * What is left to do after one process died, one thing after another: a fault in one leaves the others as they are.
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

/** Closes what is held, the youngest first. */
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

/** Cuts the links of a process; answers who hears of its end over one. */
const severed = (cell: Cell, links: SmallSet<Cell>): ReadonlyArray<Cell> => {
  const { notifies } = cell.behaviour
  if (notifies !== undefined && links.has(notifies)) {
    links.delete(notifies)
    notifies.links?.delete(cell)
  }
  if (links.size === 0) return nobody
  const peers = links.all
  for (const peer of peers) peer.links?.delete(cell)
  return peers
}

/** Ends a process. */
export const die = (cell: Cell, reason: ExitReason, origin: Origin): void => {
  if (cell.dead) return
  const { kernel, links, watchers } = cell
  const crash = origin === "own" && isAbnormal(reason) ? kernel.crashOf(cell, reason) : undefined
  const dropped = cell.mailbox?.size ?? 0
  cell.dead = true
  cell.reason = reason
  kernel.forget(cell)
  cell.mailbox = undefined
  cell.receivers = undefined
  cell.links = undefined
  cell.watchers = undefined
  cell.absorbs = undefined
  cell.parent = undefined
  const peers = links === undefined ? nobody : severed(cell, links)
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

/** Refuses to tie processes of two systems. */
export const sameSystem = (one: Cell, other: Cell): void => {
  if (one.kernel !== other.kernel) throw new OtherSystem({ pid: other, system: one.kernel.name })
}

/** Links two processes; one with itself, or twice, changes nothing. */
export const join = (one: Cell, other: Cell): void => {
  if (one === other) return
  one.links ??= new SmallSet()
  other.links ??= new SmallSet()
  one.links.add(other)
  other.links.add(one)
}
