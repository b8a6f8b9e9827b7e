/**
 * Who runs next.
 *
 * Owns the queue of processes that have something to do. The first drain comes in a microtask, for latency; when a
 * drain has used up its budget, the next one comes after a turn of the host's event loop, so that sockets get in.
 *
 * RUN1. A process is in the queue at most once.
 * RUN2. A process gives way after `slice` messages, the queue after `budget` messages or `milliseconds`.
 * RUN3. Adding and taking cost the same however many processes wait.
 */
import type { Cell } from "./cell.ts"
import { macrotask } from "./macrotask.ts"

export const slice = 64
const budget = 2000
const milliseconds = 5
const compactFrom = 256

/** A microtask by way of a promise costs a third of `queueMicrotask`, which carries an asynchronous context. */
const settled = Promise.resolve()

export class RunQueue {
  #waiting: Array<Cell | undefined> = []
  #head = 0
  #scheduled = false
  #spent = 0
  readonly #turn: (cell: Cell) => number

  constructor(turn: (cell: Cell) => number) {
    this.#turn = turn
  }

  add(cell: Cell): void {
    if (cell.queued) return
    cell.queued = true
    this.#waiting.push(cell)
    if (!this.#scheduled) this.#schedule()
  }

  #schedule(): void {
    this.#scheduled = true
    if (this.#spent < budget) void settled.then(this.#drain)
    else macrotask(this.#freshDrain)
  }

  readonly #freshDrain = (): void => {
    this.#spent = 0
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
      if (until === Number.POSITIVE_INFINITY) until = now + milliseconds
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
