/**
 * Who runs next.
 *
 * Owns the queue of processes that have something to do. The first drain comes in a microtask, for latency; when a
 * drain has used up its budget, the next one comes after a turn of the host's event loop, so that sockets get in.
 *
 * RUN1. A process is in the queue at most once.
 * RUN2. A process gives way after `slice` messages, the queue after `budget` messages or `milliseconds`. What a process
 *       does outside its turns, by `spend`, counts too: it waits for the event loop once that budget is gone.
 *       A queue that goes by count gives way after `budget` messages only: the same at whatever load.
 * RUN3. Adding and taking cost the same however many processes wait.
 * RUN4. Steps put off by `later` are taken all at once and in their order, and none overtakes them.
 */
import { macrotask } from "../time/index.ts"

export const slice = 64
const budget = 2000
const compactFrom = 256
/** What the queue may use up before it gives way to the event loop, in milliseconds of the host. */
const milliseconds = 5
/** Of the steps outside a turn, those whose number has none of these bits look at the time: one in sixteen. */
const untimed = 15

/** A microtask by way of a promise costs a third of `queueMicrotask`, which carries an asynchronous context. */
const settled = Promise.resolve()

/** A member of the queue; `queued` is true while it waits. */
export interface Queued {
  queued: boolean
}

export class RunQueue<Member extends Queued> {
  #waiting: Array<Member | undefined> = []
  #head = 0
  #scheduled = false
  #spent = 0
  /** When the budget was last renewed. */
  #since = 0
  #late: Array<() => void> | undefined = undefined
  readonly #turn: (cell: Member) => number
  readonly #milliseconds: number

  constructor(turn: (cell: Member) => number, byCount = false) {
    this.#turn = turn
    this.#milliseconds = byCount ? Number.POSITIVE_INFINITY : milliseconds
  }

  add(cell: Member): void {
    if (cell.queued) return
    cell.queued = true
    this.#waiting.push(cell)
    if (!this.#scheduled) this.#schedule()
  }

  /** Takes note of a step outside a turn; answers whether it may be taken now, else it is one for `later`. */
  spend(): boolean {
    if (this.#late !== undefined) return false
    const spent = ++this.#spent
    if (spent < budget && ((spent & untimed) !== 0 || performance.now() - this.#since < this.#milliseconds)) return true
    this.#spent = budget
    return false
  }

  /** Takes a step after a turn of the event loop. It must not throw. */
  later(step: () => void): void {
    if (this.#late !== undefined) return void this.#late.push(step)
    this.#late = [step]
    macrotask(this.#resume)
  }

  readonly #resume = (): void => {
    const steps = this.#late ?? []
    this.#late = undefined
    this.#renew()
    for (const step of steps) step()
  }

  #renew(): void {
    this.#spent = 0
    this.#since = performance.now()
  }

  #schedule(): void {
    this.#scheduled = true
    if (this.#spent < budget) void settled.then(this.#drain)
    else macrotask(this.#freshDrain)
  }

  readonly #freshDrain = (): void => {
    this.#renew()
    this.#drain()
  }

  /** The time counts from the first look at it, which a drain of one turn does without. */
  readonly #drain = (): void => {
    let until = Number.POSITIVE_INFINITY
    while (this.#head < this.#waiting.length) {
      const cell = this.#waiting[this.#head]
      this.#waiting[this.#head++] = undefined
      if (cell === undefined) continue
      cell.queued = false
      this.#spent += 1 + this.#turn(cell)
      if (this.#head === this.#waiting.length) break
      const now = performance.now()
      if (until === Number.POSITIVE_INFINITY) until = now + this.#milliseconds
      if (this.#spent < budget && now <= until) continue
      this.#spent = budget
      break
    }
    this.#scheduled = false
    this.#compact()
    if (this.#head < this.#waiting.length) this.#schedule()
  }

  /** Drops what was taken, once it is much and at least half of the queue. */
  #compact(): void {
    if (this.#head < compactFrom || this.#head * 2 < this.#waiting.length) return
    this.#waiting = this.#waiting.slice(this.#head)
    this.#head = 0
  }
}
