/**
 * The order in which the calls of a batch may start: a dependency graph of their effects and keys.
 *
 * Owns: the order of starts. Does not own the slots that calls run in, nor the calls.
 *
 * Two calls conflict when at least one of them writes, and they have the same key or at least one has no key: a call
 * without a key may touch everything.
 *
 * SCHED1. Under `effects` a call may start as soon as every earlier call that it conflicts with has ended.
 * SCHED2. Under `reference` all calls except reads run first, one after another in call order; then all reads may start.
 * SCHED3. Under `concurrent` every call may start at once.
 * SCHED4. Each call is returned exactly once: the first in call order of the calls that may start.
 * SCHED5. A plan has fewer than eight nodes and edges for each call. Its cost is linear in them, apart from the logarithm
 *         of a heap: edges between two groups go through a join node, not from each call to each call. So the cost of a
 *         batch is linear in its calls, apart from the logarithm of a heap. A cancel of some calls costs as much as a plan.
 */

import type { Schedule } from "../options/index.ts"

/** The effect of a call, and the key of the resource that it touches; without a key it may touch any resource. */
export interface Access {
  readonly effect: "read" | "write"
  readonly key?: string | undefined
}

/** Makes the plan of a batch, from the accesses of its calls. A call without an access conflicts with no other call. */
export const planOf = (accesses: ReadonlyArray<Access | undefined>, schedule: Schedule = "effects"): Plan => {
  const count = accesses.length
  if (schedule === "concurrent" || !accesses.some((one) => one?.effect === "write")) return new Plan(undefined, count)
  const order = new Order(count)
  if (schedule === "effects") byEffect(order, accesses)
  else inTwoGroups(order, accesses)
  return new Plan(order, count)
}

/** The dependency graph. Nodes below `count` are calls; the others are join nodes, which end by themselves. */
class Order {
  /** The number of nodes that each node still waits for. */
  readonly waits: Array<number>
  /** The nodes that wait for the end of each node. */
  readonly after: Array<Array<number> | undefined> = []
  /** The number of nodes and edges. */
  size: number

  constructor(count: number) {
    this.waits = Array.from({ length: count }, () => 0)
    this.size = count
  }

  /** Adds an edge: `later` waits for the end of `earlier`. */
  put(earlier: number | undefined, later: number): void {
    if (earlier === undefined) return
    this.size++
    const waiting = this.after[earlier]
    if (waiting === undefined) this.after[earlier] = [later]
    else waiting.push(later)
    this.waits[later] = (this.waits[later] ?? 0) + 1
  }

  /** Adds a join node. */
  meet(): number {
    this.size++
    return this.waits.push(0) - 1
  }
}

/** A group of nodes that later nodes wait for as a whole. */
class Crowd {
  readonly #order: Order
  #met: number | undefined
  #fresh: Array<number> = []

  constructor(order: Order) {
    this.#order = order
  }

  add(place: number): void {
    this.#fresh.push(place)
  }

  /** The node that ends when all nodes added so far have ended. */
  end(): number | undefined {
    const fresh = this.#fresh
    if (fresh.length === 0) return this.#met
    this.#fresh = []
    if (fresh.length === 1 && this.#met === undefined) return (this.#met = fresh[0])
    const place = this.#order.meet()
    this.#order.put(this.#met, place)
    for (const one of fresh) this.#order.put(one, place)
    return (this.#met = place)
  }
}

const byEffect = (order: Order, accesses: ReadonlyArray<Access | undefined>): void => {
  /** The last write without a key: all later calls wait for it. */
  let barrier: number | undefined
  let everyone = new Crowd(order)
  let unkeyedReads = new Crowd(order)
  let keyedWrites = new Crowd(order)
  let resources = new Map<string, { write: number | undefined; reads: Array<number> }>()
  for (const [call, access] of accesses.entries()) {
    if (access === undefined) continue
    const { effect, key } = access
    if (key === undefined && effect !== "read") {
      order.put(everyone.end() ?? barrier, call)
      barrier = call
      everyone = new Crowd(order)
      unkeyedReads = new Crowd(order)
      keyedWrites = new Crowd(order)
      resources = new Map()
      continue
    }
    order.put(barrier, call)
    everyone.add(call)
    if (key === undefined) {
      order.put(keyedWrites.end(), call)
      unkeyedReads.add(call)
      continue
    }
    const resource = resources.get(key) ?? { write: undefined, reads: [] }
    resources.set(key, resource)
    order.put(resource.write, call)
    if (effect === "read") {
      resource.reads.push(call)
      continue
    }
    for (const read of resource.reads) order.put(read, call)
    resource.write = call
    resource.reads = []
    order.put(unkeyedReads.end(), call)
    keyedWrites.add(call)
  }
}

const inTwoGroups = (order: Order, accesses: ReadonlyArray<Access | undefined>): void => {
  let last: number | undefined
  for (const [call, access] of accesses.entries()) {
    if (access === undefined || access.effect === "read") continue
    order.put(last, call)
    last = call
  }
  for (const [call, access] of accesses.entries()) if (access?.effect === "read") order.put(last, call)
}

/** Returns the calls that may start; the caller reports the calls that ended. */
export class Plan {
  /** `undefined` when no call waits for another. */
  readonly #order: Order | undefined
  readonly #count: number
  readonly #free = new Heap()

  constructor(order: Order | undefined, count: number) {
    this.#order = order
    this.#count = count
    for (let call = 0; call < count; call++) if (order === undefined || order.waits[call] === 0) this.#free.add(call)
  }

  /** The number of nodes and edges (SCHED5). */
  get size(): number {
    return this.#order?.size ?? this.#count
  }

  /** Removes and returns the next call that may start; `undefined` while none may (SCHED4). */
  take(): number | undefined {
    return this.#free.take()
  }

  /** Puts back a call that was taken but could not start. */
  putBack(call: number): void {
    this.#free.add(call)
  }

  /** Reports the end of a call that was taken, exactly once. */
  ended(call: number): void {
    if (this.#order === undefined) return
    const { waits, after } = this.#order
    const over = [call]
    for (let place = over.pop(); place !== undefined; place = over.pop()) {
      for (const later of after[place] ?? []) {
        const left = (waits[later] ?? 0) - 1
        waits[later] = left
        if (left > 0) continue
        if (later < this.#count) this.#free.add(later)
        else over.push(later)
      }
    }
  }
}

/** A binary min-heap. */
class Heap {
  readonly #items: Array<number> = []

  add(item: number): void {
    const items = this.#items
    let at = items.push(item) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      const other = items[above] ?? item
      if (other <= item) break
      items[at] = other
      at = above
    }
    items[at] = item
  }

  take(): number | undefined {
    const items = this.#items
    const first = items[0]
    const last = items.pop()
    if (last === undefined || items.length === 0) return first
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      const right = items[below + 1]
      if (right !== undefined && right < (items[below] ?? right)) below++
      const other = items[below]
      if (other === undefined || other >= last) break
      items[at] = other
      at = below
    }
    items[at] = last
    return first
  }
}
