/**
 * Waits for the answer of a function that a user gave: a value, a promise, or an Effect.
 *
 * HEAR1. Total: what the function throws, rejects with or dies of is an answer as well.
 * HEAR2. The wait ends when the caller's signal is aborted, or when the time is over; the function is told by its own signal,
 *        and what it does later changes nothing.
 * HEAR3. Nothing is left behind: no listener on the caller's signal, no timer.
 */
import { Clock, System } from "@troupe/otp"
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import { isEffect, isPromiseLike } from "./awaitable.ts"
import { defaultSystem } from "./defaultSystem.ts"
import { guarded } from "./guardedSignal.ts"

/** How an answer is waited for. */
export interface UserCall {
  /** Ends the wait. */
  readonly signal: AbortSignal
  /** Its clock counts the time, and its fibers run the effects. */
  readonly system?: System.System | undefined
  /** Default: no bound. */
  readonly timeoutMs?: number | undefined
}

/** What became of a wait. */
export type UserAnswer =
  | { readonly type: "value"; readonly value: unknown }
  | { readonly type: "fault"; readonly cause: unknown }
  | { readonly type: "aborted" }

/** Asks, and waits for the answer. */
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
