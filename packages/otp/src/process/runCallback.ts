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

/** The code that continues with the result of user code, or with its failure. */
export interface Settle {
  settle(cell: Cell, value: unknown, failure: Failure | undefined): void
}

/** Continues a process that was busy. */
export const resume = (cell: Cell, then: Settle, value: unknown, failure: Failure | undefined): void => {
  if (cell.dead) return
  const { kernel } = cell
  const before = kernel.current
  kernel.current = cell
  cell.busy = false
  try {
    then.settle(cell, value, failure)
  } catch (error) {
    die(cell, error, "own")
  } finally {
    kernel.current = before
  }
  settled(cell)
  wake(cell)
}

const awaitPromise = (cell: Cell, promise: PromiseLike<unknown>, then: Settle): void => {
  cell.busy = true
  promise.then(
    (value) => resume(cell, then, value, undefined),
    (error: unknown) => resume(cell, then, undefined, ofThrown(error))
  )
}

const runEffect = (cell: Cell, effect: Effect.Effect<unknown, unknown>, then: Settle): void => {
  let now = true
  cell.busy = true
  const running = new Running(cell.kernel, cell, effect, (exit) => {
    const value = Exit.isSuccess(exit) ? exit.value : undefined
    const failure = Exit.isSuccess(exit) ? undefined : ofCause(exit.cause)
    if (!now) return resume(cell, then, value, failure)
    cell.busy = false
    then.settle(cell, value, failure)
  })
  now = false
  void running
}

/** Passes a value on, after waiting for it if it is a promise or an effect. */
export const settleValue = (cell: Cell, value: unknown, then: Settle): void => {
  if (typeof value !== "object" || value === null) return then.settle(cell, value, undefined)
  if (isRunnable(value)) return runEffect(cell, value, then)
  if (isThenable(value)) return awaitPromise(cell, value, then)
  then.settle(cell, value, undefined)
}

/** Runs user code and passes on its result or its failure. */
export const perform = (cell: Cell, run: () => unknown, then: Settle): void => {
  let value: unknown
  try {
    value = run()
  } catch (error) {
    return then.settle(cell, undefined, ofThrown(error))
  }
  settleValue(cell, value, then)
}
