/**
 * The queue of processes that are ready to run.
 *
 * The first drain runs in a microtask, for low latency. When a drain has used up its budget, the next one runs after a
 * turn of the host's event loop, so that sockets run too.
 *
 * RUN1. A process is in the queue at most once.
 * RUN2. A process yields after `slice` messages, the queue after `budget` messages or `milliseconds`. Steps of a process
 *       outside its turns are counted by `spend`; once the budget is used up, they wait for the event loop.
 *       A queue made with `byCount` yields after `budget` messages only, so that it is the same at any load.
 * RUN3. Adding and taking take constant time, however many processes wait.
 * RUN4. The steps deferred by `later` run all at once and in order, and no later step runs before them.
 */
import { macrotask } from "../time/index.ts"

export const slice = 64
const budget = 2000
const compactFrom = 256
/** The time that the queue may use before it yields to the event loop, in milliseconds of the host. */
const milliseconds = 5
/** Of the steps outside a turn, only those whose number has none of these bits read the time: one in sixteen. */
const untimed = 15

/** The turns of a drain before it reads the time. */
const untimedTurns = 3

/** A promise makes a microtask at a third of the cost of `queueMicrotask`, which carries an asynchronous context. */
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
  /** The time of the last renewal of the budget. */
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

  /** Counts a step outside a turn. Returns whether it may run now; otherwise it must be passed to `later`. */
  spend(): boolean {
    if (this.#late !== undefined) return false
    const spent = ++this.#spent
    if (spent < budget && ((spent & untimed) !== 0 || performance.now() - this.#since < this.#milliseconds)) return true
    this.#spent = budget
    return false
  }

  /** Runs a step after a turn of the event loop. The step must not throw. */
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

  /** The time limit starts at the first reading of the clock, which a short drain skips: a reading costs as much as a turn. */
  readonly #drain = (): void => {
    let until = Number.POSITIVE_INFINITY
    let turns = 0
    while (this.#head < this.#waiting.length) {
      const cell = this.#waiting[this.#head]
      this.#waiting[this.#head++] = undefined
      if (cell === undefined) continue
      cell.queued = false
      this.#spent += 1 + this.#turn(cell)
      if (this.#head === this.#waiting.length) break
      if (++turns < untimedTurns && this.#spent < budget) continue
      const now = performance.now()
      if (until === Number.POSITIVE_INFINITY) until = now + this.#milliseconds
      if (this.#spent < budget && now <= until) continue
      this.#spent = budget
      break
    }
    this.#scheduled = false
    if (this.#head >= compactFrom && this.#head * 2 >= this.#waiting.length) this.#compact()
    if (this.#head < this.#waiting.length) this.#schedule()
  }

  /** Removes the taken entries, which are many and at least half of the queue. */
  #compact(): void {
    this.#waiting = this.#waiting.slice(this.#head)
    this.#head = 0
  }
}
