/**
 * Calls a function of the user and waits for its answer: a value, a promise, or an Effect.
 *
 * HEAR1. Total: an exception, a rejection and a defect of the function are answers as well.
 * HEAR2. The wait ends when the caller's signal is aborted, or when the time is over. Then the function's own signal is
 *        aborted, and its late answer is discarded.
 * HEAR3. After the wait there is no listener on the caller's signal and no timer.
 */
import { Clock, System } from "@troupe/otp"
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import { isEffect, isPromiseLike } from "./awaitable.ts"
import { defaultSystem } from "./defaultSystem.ts"
import { guarded } from "./guardedSignal.ts"

/** The options of a call. */
export interface UserCall {
  /** Ends the wait. */
  readonly signal: AbortSignal
  /** Provides the clock and runs the Effects. */
  readonly system?: System.System | undefined
  /** Default: no bound. */
  readonly timeoutMs?: number | undefined
}

/** How a wait ended: with a value, with a fault (an exception or the timeout), or because the signal was aborted. */
export type UserAnswer =
  | { readonly type: "value"; readonly value: unknown }
  | { readonly type: "fault"; readonly cause: unknown }
  | { readonly type: "aborted" }

/** Calls the function and waits for the answer. */
export const callUser = (ask: (signal: AbortSignal) => unknown, userCall: UserCall): Promise<UserAnswer> =>
  new Promise((resolve) => {
    const { signal, system, timeoutMs = Infinity } = userCall
    if (signal.aborted) return resolve(aborted)
    const clock = system?.clock ?? Clock.live
    const own = new AbortController()
    guarded(own.signal, system)
    const end = (userAnswer: UserAnswer): void => {
      signal.removeEventListener("abort", leave)
      clock.clearTimeout(timer)
      resolve(userAnswer)
    }
    const leave = (): void => {
      end(aborted)
      own.abort(signal.reason)
    }
    const expire = (): void => {
      end({ type: "fault", cause: new Error(`no answer within ${timeoutMs} ms`) })
      own.abort()
    }
    const value = (answer: unknown): void => end({ type: "value", value: answer })
    const fault = (cause: unknown): void => end({ type: "fault", cause })
    const timer = timeoutMs === Infinity ? undefined : clock.setTimeout(expire, timeoutMs)
    signal.addEventListener("abort", leave)
    try {
      const answer = ask(own.signal)
      if (isEffect(answer)) {
        const fiber = System.runFork(system ?? defaultSystem(), answer)
        own.signal.addEventListener("abort", () => fiber.interruptUnsafe(), { once: true })
        fiber.addObserver((exit) => (Exit.isSuccess(exit) ? value(exit.value) : fault(Cause.squash(exit.cause))))
      } else if (isPromiseLike(answer)) Promise.resolve(answer).then(value, fault)
      else value(answer)
    } catch (thrown) {
      fault(thrown)
    }
  })

const aborted: UserAnswer = { type: "aborted" }
