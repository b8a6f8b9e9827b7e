/**
 * Who holds the thread: stretches of time, each of one process, one inside the other.
 *
 * STRETCH1. Time inside a stretch that another process held is not part of it.
 */
import type { Cell } from "../kernel/index.ts"

/** A stretch that is on. */
export interface ThreadTime {
  readonly cell: Cell
  readonly outer: ThreadTime | undefined
  readonly began: number
  /** The milliseconds of it that other processes held. */
  others: number
}

export class ThreadTimes {
  #open: ThreadTime | undefined = undefined

  /** The process of the innermost stretch that is on. */
  get cell(): Cell | undefined {
    return this.#open?.cell
  }

  open(cell: Cell): ThreadTime {
    const threadTime = { cell, outer: this.#open, began: performance.now(), others: 0 }
    this.#open = threadTime
    return threadTime
  }

  /** Ends a stretch; answers the milliseconds it held the thread. */
  close(threadTime: ThreadTime): number {
    const { outer, began, others, cell } = threadTime
    const elapsed = performance.now() - began
    this.#open = outer
    if (outer !== undefined && outer.cell !== cell) outer.others += elapsed
    return elapsed - others
  }
}
