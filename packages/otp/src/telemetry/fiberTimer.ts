/**
 * Measures how long the fibers of a process block the thread, while `process.blocked` has a handler.
 *
 * Effect passes each step of a fiber to the fiber's tracer. This tracer runs the step and adds up the time of the steps
 * between two waits. A tracer that an effect provides replaces it from there on.
 *
 * FTIME1. A run, from one wait to the next, is reported at most once, with all its time on the thread.
 * FTIME2. A step inside a running stretch of its own process counts as part of that stretch.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Tracer from "effect/Tracer"
import { afterTurn } from "../time/index.ts"
import type { Cell } from "../kernel/index.ts"
import type { ThreadTimes } from "./threadTime.ts"

/** The steps of a fiber from one wait to the next. */
interface Run {
  held: number
  reported: boolean
}

const plain = Context.get(Context.empty(), Tracer.Tracer)

/** The process of a timed fiber, and the callback for a run that blocks the thread too long. */
export interface Timing {
  readonly cell: Cell
  readonly threadTimes: ThreadTimes
  readonly threshold: number
  isEnabled(): boolean
  /** The message being handled. */
  message(): unknown
  notify(held: number, message: unknown): void
}

class FiberTimer implements Tracer.Tracer {
  readonly #timing: Timing
  readonly #runs = new WeakMap<Fiber.Fiber<unknown, unknown>, Run>()
  readonly span: Tracer.Tracer["span"] = (options) => plain.span(options)

  constructor(timing: Timing) {
    this.#timing = timing
  }

  readonly context = <X>(
    primitive: Tracer.EffectPrimitive<X>,
    fiber: Parameters<NonNullable<Tracer.Tracer["context"]>>[1]
  ): X => {
    const { cell, threadTimes } = this.#timing
    if (threadTimes.cell === cell || !this.#timing.isEnabled()) return primitive["~effect/Effect/evaluate"](fiber)
    const run = this.#runOf(fiber)
    const threadTime = threadTimes.open(cell)
    try {
      return primitive["~effect/Effect/evaluate"](fiber)
    } finally {
      this.#add(run, threadTimes.close(threadTime))
    }
  }

  #runOf(fiber: Fiber.Fiber<unknown, unknown>): Run {
    const known = fiber.currentOpCount === 1 ? undefined : this.#runs.get(fiber)
    if (known !== undefined) return known
    const run = { held: 0, reported: false }
    this.#runs.set(fiber, run)
    return run
  }

  #add(run: Run, ms: number): void {
    run.held += ms
    if (run.reported || run.held < this.#timing.threshold) return
    run.reported = true
    const message = this.#timing.message()
    afterTurn(() => this.#timing.notify(run.held, message))
  }
}

/** Measures the fibers of an effect. */
export const timeFibers = <A, E>(effect: Effect.Effect<A, E>, timing: Timing): Effect.Effect<A, E> =>
  Effect.provideService(effect, Tracer.Tracer, new FiberTimer(timing))
