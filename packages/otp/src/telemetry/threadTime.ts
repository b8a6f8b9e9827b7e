/**
 * The time that each process uses the thread, in nested stretches of one process each.
 *
 * STRETCH1. The time of an inner stretch of another process is not part of the outer one.
 */
import type { Cell } from "../kernel/index.ts"

/** A running stretch. */
export interface ThreadTime {
  readonly cell: Cell
  readonly outer: ThreadTime | undefined
  readonly began: number
  /** The milliseconds used by other processes inside it. */
  others: number
}

export class ThreadTimes {
  #open: ThreadTime | undefined = undefined

  /** The process of the innermost running stretch. */
  get cell(): Cell | undefined {
    return this.#open?.cell
  }

  open(cell: Cell): ThreadTime {
    const threadTime = { cell, outer: this.#open, began: performance.now(), others: 0 }
    this.#open = threadTime
    return threadTime
  }

  /** Ends a stretch; returns the milliseconds for which its process used the thread. */
  close(threadTime: ThreadTime): number {
    const { outer, began, others, cell } = threadTime
    const elapsed = performance.now() - began
    this.#open = outer
    if (outer !== undefined && outer.cell !== cell) outer.others += elapsed
    return elapsed - others
  }
}
