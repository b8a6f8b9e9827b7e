import { cleanup } from "@testing-library/react"
import { act } from "react"
import { afterEach, beforeEach, vi } from "vitest"

/** Frames that are drawn when the test says so. */
export interface Frames {
  /** How many functions wait for the next one. */
  readonly waiting: () => number
  /** Draws one. */
  readonly draw: () => void
}

/** Takes the place of the page's frames, until the test's globals are put back. */
const handFrames = (): Frames => {
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

/** Has each test of the file draw its page's frames by hand, and leave no page behind. */
export const framesByHand = (): Frames => {
  let frames: Frames | undefined
  beforeEach(() => {
    vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true)
    frames = handFrames()
  })
  afterEach(() => {
    cleanup()
    vi.restoreAllMocks()
    vi.unstubAllGlobals()
  })
  return { waiting: () => frames?.waiting() ?? 0, draw: () => frames?.draw() }
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
