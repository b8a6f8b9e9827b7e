/**
 * Timers in the order of their due time. A queue reads no clock and starts no host timers. The next turn of the event loop.
 *
 * Timers of one delay are due in the order of their making: they wait in a list, which they join and leave in constant time. A heap
 * has the lists, each by a time that is no later than its first timer.
 *
 * HEAP1. The timer that is due first comes first; of two with the same due time, the one that was added first.
 * HEAP2. A removed timer leaves its list at once, without a tombstone; at most one list is empty.
 */

/** A waiting timer, in the list of its delay. */
export class WaitingTimer {
  readonly due: number
  readonly order: number
  readonly run: () => void
  list: DelayList | undefined
  older: WaitingTimer | undefined
  younger: WaitingTimer | undefined = undefined

  constructor(due: number, order: number, run: () => void, list: DelayList) {
    this.due = due
    this.order = order
    this.run = run
    this.list = list
    this.older = list.last
  }
}

/** The timers of one delay, and the place of the list in the heap. */
class DelayList {
  readonly delay: number
  first: WaitingTimer | undefined = undefined
  last: WaitingTimer | undefined = undefined
  due: number
  order: number
  index = -1

  constructor(delay: number, due: number, order: number) {
    this.delay = delay
    this.due = due
    this.order = order
  }
}

const before = (a: DelayList, b: DelayList): boolean => a.due < b.due || (a.due === b.due && a.order < b.order)

export class TimerQueue {
  readonly #lists = new Map<number, DelayList>()
  readonly #heap: Array<DelayList> = []
  /** A list that became empty, for the next timer of its delay. */
  #empty: DelayList | undefined = undefined
  #order = 0
  size = 0

  /** The timer that is due first. */
  get first(): WaitingTimer | undefined {
    for (let list = this.#heap[0]; list !== undefined; list = this.#heap[0]) {
      const { first } = list
      if (first === undefined) this.#drop(list)
      else if (first.order === list.order) return first
      else {
        list.due = first.due
        list.order = first.order
        this.#sink(list)
      }
    }
    return undefined
  }

  /** Adds a timer; `now` never decreases. */
  add(now: number, delay: number, run: () => void): WaitingTimer {
    const due = now + delay
    const order = this.#order++
    const list = this.#lists.get(delay) ?? this.#newList(delay, due, order)
    const timer = new WaitingTimer(due, order, run, list)
    if (list.last === undefined) list.first = timer
    else list.last.younger = timer
    list.last = timer
    if (list === this.#empty) this.#empty = undefined
    this.size++
    return timer
  }

  remove(timer: WaitingTimer): void {
    const { list, older, younger } = timer
    if (list === undefined) return
    timer.list = undefined
    timer.older = undefined
    timer.younger = undefined
    if (older === undefined) list.first = younger
    else older.younger = younger
    if (younger === undefined) list.last = older
    else younger.older = older
    this.size--
    if (list.first !== undefined) return
    if (this.#empty !== undefined) this.#drop(this.#empty)
    this.#empty = list
  }

  #newList(delay: number, due: number, order: number): DelayList {
    const list = new DelayList(delay, due, order)
    this.#lists.set(delay, list)
    this.#place(list, this.#heap.length)
    this.#rise(list)
    return list
  }

  #drop(list: DelayList): void {
    if (this.#empty === list) this.#empty = undefined
    this.#lists.delete(list.delay)
    const last = this.#heap.pop()
    if (last === undefined || last === list) return
    this.#place(last, list.index)
    this.#rise(last)
    this.#sink(last)
  }

  #place(list: DelayList, index: number): void {
    this.#heap[index] = list
    list.index = index
  }

  #rise(list: DelayList): void {
    while (list.index > 0) {
      const index = list.index
      const above = this.#heap[(index - 1) >> 1]
      if (above === undefined || !before(list, above)) return
      this.#place(list, above.index)
      this.#place(above, index)
    }
  }

  #sink(list: DelayList): void {
    for (;;) {
      const index = list.index
      const left = this.#heap[index * 2 + 1]
      const right = this.#heap[index * 2 + 2]
      const least = right !== undefined && left !== undefined && before(right, left) ? right : left
      if (least === undefined || !before(least, list)) return
      this.#place(list, least.index)
      this.#place(least, index)
    }
  }
}

/**
 * Runs functions in a later turn of the host's event loop, so that sockets and timers run first.
 *
 * Uses `setImmediate` if it exists, else a `MessageChannel`, else a timer without delay.
 */
interface WithImmediate {
  readonly setImmediate?: (run: () => void) => unknown
}

const byChannel = (): ((run: () => void) => void) => {
  const { port1, port2 } = new MessageChannel()
  const waiting: Array<() => void> = []
  port1.onmessage = () => waiting.shift()?.()
  return (run) => {
    waiting.push(run)
    port2.postMessage(undefined)
  }
}

const choose = (): ((run: () => void) => void) => {
  const { setImmediate } = globalThis as WithImmediate
  if (setImmediate !== undefined) return (run) => void setImmediate(run)
  if (typeof MessageChannel !== "undefined") return byChannel()
  return (run) => void setTimeout(run, 0)
}

/** Runs a function in a later turn of the host's event loop. */
export const macrotask: (run: () => void) => void = choose()

/** Waits for several turns of the host's event loop, in which promises, fibers and run queues make progress. */
export const settle = async (): Promise<void> => {
  for (let hop = 0; hop < 10; hop++) await new Promise<void>(macrotask)
}
