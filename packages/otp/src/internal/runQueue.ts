/**
 * Who runs next.
 *
 * Owns the queue of processes that have something to do. The first drain comes in a microtask, for latency; when a
 * drain has used up its budget, the next one comes after a turn of the host's event loop, so that sockets get in.
 *
 * RUN1. A process is in the queue at most once.
 * RUN2. A process gives way after `slice` messages, the queue after `budget` messages or `milliseconds`.
 */
import type { Cell } from "./cell.ts"
import { macrotask } from "./macrotask.ts"

export const slice = 64
const budget = 2000
const milliseconds = 5

export class RunQueue {
  #waiting: Array<Cell> = []
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
    if (this.#spent < budget) queueMicrotask(this.#drain)
    else macrotask(this.#freshDrain)
  }

  readonly #freshDrain = (): void => {
    this.#spent = 0
    this.#drain()
  }

  readonly #drain = (): void => {
    const until = performance.now() + milliseconds
    while (this.#head < this.#waiting.length) {
      const cell = this.#waiting[this.#head++]
      if (cell === undefined) continue
      cell.queued = false
      this.#spent += 1 + this.#turn(cell)
      if (this.#head > 4096) this.#compact()
      if (this.#spent >= budget || performance.now() > until) {
        this.#spent = budget
        break
      }
    }
    this.#scheduled = false
    this.#compact()
    if (this.#waiting.length > 0) this.#schedule()
  }

  #compact(): void {
    this.#waiting = this.#head === this.#waiting.length ? [] : this.#waiting.slice(this.#head)
    this.#head = 0
  }
}
