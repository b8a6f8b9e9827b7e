/**
 * Runs user code that returns a value, a promise or an effect.
 *
 * PERF1. A synchronous result costs no promise and no fiber, and the process stays in its turn.
 * PERF2. Otherwise the process is busy until the result arrives: messages wait, signals do not.
 * PERF3. A result that arrives after the death of the process is discarded; a rejection is never unhandled.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type Cell, die, type Failure, ofCause, ofThrown, settled, wake } from "../kernel/index.ts"
import { Running } from "./processFiber.ts"

const isThenable = (value: object): value is PromiseLike<unknown> => "then" in value && typeof value.then === "function"

/** Whether a value is an effect. The types of bodies and callbacks ensure that it needs no services. */
const isRunnable = (value: object): value is Effect.Effect<unknown, unknown> => Effect.isEffect(value)

type Answer = (value: unknown) => void
type Fail = (failure: Failure) => void

/** Continues a process that was busy. */
export const resume = (cell: Cell, run: () => void): void => {
  if (cell.dead) return
  cell.busy = false
  try {
    cell.kernel.as(cell, run)
  } catch (error) {
    die(cell, error, "own")
  }
  settled(cell)
  wake(cell)
}

const awaitPromise = (cell: Cell, promise: PromiseLike<unknown>, answer: Answer, fail: Fail): void => {
  cell.busy = true
  promise.then(
    (value) => resume(cell, () => answer(value)),
    (error: unknown) => resume(cell, () => fail(ofThrown(error)))
  )
}

const runEffect = (cell: Cell, effect: Effect.Effect<unknown, unknown>, answer: Answer, fail: Fail): void => {
  let now = true
  const settle = (exit: Exit.Exit<unknown, unknown>): void =>
    Exit.isSuccess(exit) ? answer(exit.value) : fail(ofCause(exit.cause))
  cell.busy = true
  const running = new Running(cell.kernel, cell, effect, (exit) => {
    if (!now) return resume(cell, () => settle(exit))
    cell.busy = false
    settle(exit)
  })
  now = false
  void running
}

/** Passes a value on, after waiting for it if it is a promise or an effect. */
export const settleValue = (cell: Cell, value: unknown, answer: Answer, fail: Fail): void => {
  if (typeof value !== "object" || value === null) return answer(value)
  if (isRunnable(value)) return runEffect(cell, value, answer, fail)
  if (isThenable(value)) return awaitPromise(cell, value, answer, fail)
  answer(value)
}

/** Runs user code and passes on its result or its failure. */
export const perform = (cell: Cell, run: () => unknown, answer: Answer, fail: Fail): void => {
  let value: unknown
  try {
    value = run()
  } catch (error) {
    return fail(ofThrown(error))
  }
  settleValue(cell, value, answer, fail)
}
