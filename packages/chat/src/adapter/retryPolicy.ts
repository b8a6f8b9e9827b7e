/** The policy of retries. `Retry` describes it. */
import * as z from "zod"
import { AdapterError, type AdapterErrorReason, ValidationError } from "../errors/index.ts"

const milliseconds = z.number().nonnegative()

/** When and how often a refused request is sent again. */
export interface RetryOptions {
  /** The most times a request is sent, the first time included; 0 and 1 mean once. Default: 3. */
  readonly maxAttempts?: number | undefined
  /** The delay after the first attempt, in milliseconds, doubled after each further attempt. Default: 500. */
  readonly baseDelayMs?: number | undefined
  /** The longest such delay, in milliseconds. Default: 30,000. */
  readonly maxDelayMs?: number | undefined
  /** The most milliseconds that are added at random to every delay. Default: 250. */
  readonly jitterMs?: number | undefined
  /**
   * The reasons of an `AdapterError`, or the HTTP statuses, after which a request is sent again. Default: `rate_limited`,
   * `provider_unavailable`, `timeout`, `network_error`.
   */
  readonly retryOn?: ReadonlyArray<number | AdapterErrorReason> | undefined
  /** Whether the delay that the provider asks for is used. Default: `true`. */
  readonly respectRetryAfter?: boolean | undefined
  /**
   * The longest such delay, in milliseconds. When the provider asks for a longer one, the request is not retried, and the error has the
   * delay. Default: 60,000.
   */
  readonly maxRetryAfterMs?: number | undefined
}
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
  respectRetryAfter: z.boolean().optional(),
  maxRetryAfterMs: milliseconds.optional()
}) satisfies z.ZodType<RetryOptions>

/** A complete policy. */
export type RetryPolicy = { readonly [Part in keyof RetryOptions]-?: NonNullable<RetryOptions[Part]> }

/**
 * The payload of a notification before each delay.
 *
 * **Units and defaults**: `attempt` is the attempt that failed, counted from 1; `delayMs` is the delay that follows.
 */
export interface RetryNotice {
  readonly attempt: number
  readonly delayMs: number
  readonly error: AdapterError
  /** The adapter's name. */
  readonly adapter: string
  readonly requestId: string
}

/** The default policy. */
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
  respectRetryAfter: true,
  maxRetryAfterMs: 60_000
})

/** The policy that sends every request once. */
export const off: RetryPolicy = Object.freeze({ ...defaults, maxAttempts: 1 })

/**
 * Makes a complete policy from options; `false` is {@link off}.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) that names each option that is unknown or of the wrong type.
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

/** Whether the policy lists this error, by its reason or by its status. */
export const matches = (error: unknown, { retryOn }: Pick<RetryPolicy, "retryOn">): error is AdapterError =>
  error instanceof AdapterError &&
  (retryOn.includes(error.reason) || (error.status !== undefined && retryOn.includes(error.status)))

/**
 * The delay before an attempt, in milliseconds; `undefined` when the request is not retried.
 *
 * **Details**: `attempt` is the next attempt; the first retry is 2. `random` returns a number from 0 up to 1.
 */
export const delayBefore = (
  attempt: number,
  error: unknown,
  policy: RetryPolicy,
  random: () => number
): number | undefined => {
  if (attempt > policy.maxAttempts || !matches(error, policy)) return undefined
  const asked = policy.respectRetryAfter ? (error.retryAfterMs ?? 0) : 0
  if (asked > policy.maxRetryAfterMs) return undefined
  const wait = asked > 0 ? asked : Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (attempt - 2))
  return wait + policy.jitterMs * random()
}
