import { act } from "react"
import { vi } from "vitest"

/** Frames that are drawn when the test says so. */
export interface Frames {
  /** How many functions wait for the next one. */
  readonly waiting: () => number
  /** Draws one. */
  readonly draw: () => void
}

/** Takes the place of the page's frames, until the test's globals are put back. */
export const handFrames = (): Frames => {
  let next = 1
  let asked = new Map<number, FrameRequestCallback>()
  vi.stubGlobal("requestAnimationFrame", (run: FrameRequestCallback) => {
    asked.set(next, run)
    return next++
  })
  vi.stubGlobal("cancelAnimationFrame", (id: number) => void asked.delete(id))
  return {
    waiting: () => asked.size,
    draw: () => {
      const due = asked
      asked = new Map()
      act(() => due.forEach((run) => run(0)))
    }
  }
}

/** Whether the test has React wait for it. */
const isActing = (): boolean => Reflect.get(globalThis, "IS_REACT_ACT_ENVIRONMENT") === true

const hop = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** A turn of the event loop, and what React does in it. */
export const turn = (): Promise<void> => (isActing() ? act(hop) : hop())

/** How long something is waited for, in milliseconds, before the test fails. */
const patienceMs = 10_000

/** Turns of the event loop, and frames, until something holds. */
export const until = async (holds: () => boolean, frames?: Frames): Promise<void> => {
  for (const from = performance.now(); performance.now() - from < patienceMs;) {
    if (holds()) return
    await turn()
    frames?.draw()
  }
  throw new Error("it never held")
}
