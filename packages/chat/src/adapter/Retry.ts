/**
 * Retries of a model request: whether a refused one is sent again, and after how long.
 *
 * A request is sent again only while nothing of it was seen: once its first event came, what fails is the reply's. The
 * wait is a state of the request's chart (`AdapterStreamMachine`, `waiting`), on the clock of its system.
 *
 * RETRY1. One policy decides, in one place: a step counts as one request, however often it was sent.
 * RETRY2. Only an `AdapterError` is retried, and only for the reasons the policy lists; any other refusal is final.
 * RETRY3. Where the provider says how long to wait, that is the wait, and is not cut down to `maxDelayMs`.
 *
 * @module
 * @source ALLM.Retry
 */
import * as z from "zod"
import { AdapterError, type AdapterErrorReason, ValidationError } from "../errors/index.ts"

const milliseconds = z.number().nonnegative()

/**
 * A policy's parts; an absent one has its default.
 *
 * - `maxAttempts`: how often a request is sent at most, the first time included; 0 and 1 mean once. Default 3
 * - `baseDelayMs`: the wait after the first attempt, doubled after each further one. Default 500
 * - `maxDelayMs`: the longest such wait. Default 30,000
 * - `jitterMs`: up to so much, at random, on top of every wait. Default 250
 * - `retryOn`: reasons of an `AdapterError`, or HTTP statuses. Default `rate_limited`, `provider_unavailable`, `timeout`,
 *   `network_error`
 * - `respectRetryAfter`: wait as long as the provider asked for. Default `true`
 */
export const RetryOptions = z.strictObject({
  maxAttempts: z.number().int().nonnegative().optional(),
  baseDelayMs: milliseconds.optional(),
  maxDelayMs: milliseconds.optional(),
  jitterMs: milliseconds.optional(),
  retryOn: z
    .array(
      z.union(
        [z.number(), z.custom<AdapterErrorReason>((value) => AdapterError.isReason(value))],
        "Invalid: must be an HTTP status or a reason of an AdapterError"
      )
    )
    .readonly()
    .optional(),
  respectRetryAfter: z.boolean().optional()
})
export type RetryOptions = z.infer<typeof RetryOptions>

/** A complete policy. */
export type RetryPolicy = { readonly [Part in keyof RetryOptions]-?: NonNullable<RetryOptions[Part]> }

/**
 * Told before each wait.
 *
 * **Units and defaults**: `attempt` is the one that was refused, 1 the first; `delayMs` is the wait that follows.
 */
export interface RetryNotice {
  readonly attempt: number
  readonly delayMs: number
  readonly error: AdapterError
  /** The adapter's name. */
  readonly adapter: string
  readonly requestId: string
}

/** The policy of whoever says nothing. */
export const defaults: RetryPolicy = Object.freeze({
  maxAttempts: 3,
  baseDelayMs: 500,
  maxDelayMs: 30_000,
  jitterMs: 250,
  retryOn: Object.freeze<Array<AdapterErrorReason | number>>([
    "rate_limited",
    "provider_unavailable",
    "timeout",
    "network_error"
  ]),
  respectRetryAfter: true
})

/** The policy that sends every request once. */
export const off: RetryPolicy = Object.freeze({ ...defaults, maxAttempts: 1 })

/**
 * A complete policy from its parts; `false` is {@link off}.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) that names each part that is unknown or of the wrong kind.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Retry } from "@troupe/chat/models"
 *
 * Retry.make({ maxAttempts: 5 }).baseDelayMs // => 500
 * Retry.make(false).maxAttempts // => 1
 * ```
 */
export const make = (options: RetryOptions | false = {}): RetryPolicy => {
  if (options === false) return off
  const read = RetryOptions.safeParse(options)
  if (!read.success) {
    throw new ValidationError(
      "invalid_options",
      read.error.issues.map(({ path, message }) => ({ field: ["retry", ...path.map(String)], reason: message }))
    )
  }
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return given.length === 0 ? defaults : { ...defaults, ...Object.fromEntries(given) }
}

/** Whether the policy lists this error: by its reason, or by its status. */
export const matches = (error: unknown, { retryOn }: Pick<RetryPolicy, "retryOn">): error is AdapterError =>
  error instanceof AdapterError &&
  (retryOn.includes(error.reason) || (error.status !== undefined && retryOn.includes(error.status)))

/**
 * How long to wait before an attempt, in milliseconds; `undefined` when there is to be no such attempt.
 *
 * **Details**: `attempt` is the one to come, 2 the first retry. `random` gives a number from 0 up to 1.
 *
 * @example
 * ```ts import.meta.vitest
 * import { AdapterError } from "@troupe/chat"
 * import { Retry } from "@troupe/chat/models"
 *
 * const busy = new AdapterError("provider_unavailable")
 * Retry.delayBefore(2, busy, Retry.defaults, () => 0) // => 500
 * Retry.delayBefore(3, busy, Retry.defaults, () => 0.5) // => 1125
 * Retry.delayBefore(4, busy, Retry.defaults, () => 0) // => undefined
 * ```
 */
export const delayBefore = (
  attempt: number,
  error: unknown,
  policy: RetryPolicy,
  random: () => number
): number | undefined => {
  if (attempt > policy.maxAttempts || !matches(error, policy)) return undefined
  const asked = policy.respectRetryAfter ? (error.retryAfterMs ?? 0) : 0
  const wait = asked > 0 ? asked : Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (attempt - 2))
  return wait + policy.jitterMs * random()
}
