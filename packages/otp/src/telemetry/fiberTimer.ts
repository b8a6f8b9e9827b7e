/**
 * Times the fibers of a process while somebody is to be told what holds the thread.
 *
 * Effect hands each step of a fiber to the fiber's tracer; this one runs it, and adds up the time of the steps between two
 * waits. A tracer that an effect provides itself takes its place from there on.
 *
 * FTIME1. A run, from one wait to the next, is told of at most once, with all the time it held the thread.
 * FTIME2. What runs inside a stretch of its own process that is timed already is part of that.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Tracer from "effect/Tracer"
import { afterTurn } from "../time/index.ts"
import type { Cell } from "../kernel/index.ts"
import type { ThreadTimes } from "./threadTime.ts"

/** What a fiber did from one wait to the next. */
interface Run {
  held: number
  reported: boolean
}

const plain = Context.get(Context.empty(), Tracer.Tracer)

/** Whom a timed fiber belongs to, and who is told of a run that held the thread too long. */
export interface Timing {
  readonly cell: Cell
  readonly threadTimes: ThreadTimes
  readonly threshold: number
  isEnabled(): boolean
  /** The message it is at. */
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

  #add(run: Run, held: number): void {
    run.held += held
    if (run.reported || run.held < this.#timing.threshold) return
    run.reported = true
    const message = this.#timing.message()
    afterTurn(() => this.#timing.notify(run.held, message))
  }
}

/** Has the fibers of an effect timed. */
export const timeFibers = <A, E>(effect: Effect.Effect<A, E>, timing: Timing): Effect.Effect<A, E> =>
  Effect.provideService(effect, Tracer.Tracer, new FiberTimer(timing))
