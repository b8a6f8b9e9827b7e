/**
 * Which calls of a batch may start, by what they touch.
 *
 * Owns: the order of starts. Does not own the slots that calls run in, nor the calls.
 *
 * Two calls conflict when one of them writes, and they have the same key or one of them has none: what has no key may
 * touch everything.
 *
 * SCHED1. Under `effects` a call may start as soon as every earlier call that it conflicts with has ended; nothing else
 *         holds it back.
 * SCHED2. Under `reference` what is no read runs first, one after another in call order; then all reads may start.
 * SCHED3. Under `concurrent` every call may start at once.
 * SCHED4. Each call is given once; of those that may start, the first in call order.
 * SCHED5. A plan has less than eight places and orders for each call, and what it costs grows as that, but for the
 *         logarithm of a heap: an order between two crowds goes through a place where they meet, not from each to each.
 */

import type { Schedule } from "../options/index.ts"

/** What a call does to the world, and to which part of it; without a key, to any. */
export interface Access {
  readonly effect: "read" | "write"
  readonly key?: string | undefined
}

/** The plan of a batch: which of its calls, by position, may start. A call without an access touches nothing. */
export const planOf = <Call>(
  calls: ReadonlyArray<Call>,
  access: (call: Call, position: number) => Access | undefined,
  schedule: Schedule = "effects"
): Plan => {
  if (schedule === "concurrent") return new Plan(undefined, calls.length)
  const accesses = calls.map(access)
  if (!accesses.some((one) => one?.effect === "write")) return new Plan(undefined, calls.length)
  const order = new Order(calls.length)
  if (schedule === "effects") byEffect(order, accesses)
  else inTwoGroups(order, accesses)
  return new Plan(order, calls.length)
}

/** What waits for what. Places below `count` are calls; those above are meeting places, which end by themselves. */
class Order {
  /** How many ends each place still waits for. */
  readonly waits: Array<number>
  /** Who waits for the end of each place. */
  readonly after: Array<Array<number> | undefined> = []
  /** How many places and orders there are. */
  size: number

  constructor(count: number) {
    this.waits = Array.from({ length: count }, () => 0)
    this.size = count
  }

  /** `later` waits for the end of `earlier`. */
  put(earlier: number | undefined, later: number): void {
    if (earlier === undefined) return
    this.size++
    const waiting = this.after[earlier]
    if (waiting === undefined) this.after[earlier] = [later]
    else waiting.push(later)
    this.waits[later] = (this.waits[later] ?? 0) + 1
  }

  /** A new meeting place. */
  meet(): number {
    this.size++
    return this.waits.push(0) - 1
  }
}

/** A crowd that others wait for as a whole. */
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

  /** What ends when everybody who came so far has ended. */
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

/** What touches one key since the last call that touches every key. */
interface Resource {
  write: number | undefined
  reads: Array<number>
}

const byEffect = (order: Order, accesses: ReadonlyArray<Access | undefined>): void => {
  /** The last write without a key: whoever comes later waits for it. */
  let barrier: number | undefined
  let everyone = new Crowd(order)
  let unkeyedReads = new Crowd(order)
  let keyedWrites = new Crowd(order)
  let resources = new Map<string, Resource>()
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

/** Says which call may start, and is told which ended. */
export class Plan {
  /** None where no call waits for another. */
  readonly #order: Order | undefined
  readonly #count: number
  readonly #free = new Heap()

  constructor(order: Order | undefined, count: number) {
    this.#order = order
    this.#count = count
    for (let call = 0; call < count; call++) if (order === undefined || order.waits[call] === 0) this.#free.add(call)
  }

  /** How many places and orders it has (SCHED5). */
  get size(): number {
    return this.#order?.size ?? this.#count
  }

  /** The next call that may start; `undefined` while none may (SCHED4). */
  take(): number | undefined {
    return this.#free.take()
  }

  /** Puts back a call that was taken and could not be started. */
  putBack(call: number): void {
    this.#free.add(call)
  }

  /** To be said once for each call that was taken, when it is over. */
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

/** Gives the smallest first. */
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
