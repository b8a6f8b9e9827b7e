import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { test } from "vitest"
import { AdapterError } from "../../src/errors/ChatError.ts"
import * as Retry from "../../src/adapter/retryPolicy.ts"
import { runsOf } from "../../../../tooling/verify/volume.ts"

const busy = new AdapterError("provider_unavailable")
const lowest = () => 0

describe("a policy", () => {
  test("has defaults, part by part", () => {
    expect(Retry.make()).toBe(Retry.defaults)
    expect(Retry.make({ maxAttempts: 5, jitterMs: undefined })).toEqual({ ...Retry.defaults, maxAttempts: 5 })
  })

  test("names each part that is unknown or of the wrong kind", () => {
    const wrong: object = { maxAtempts: 3, baseDelayMs: -1, retryOn: ["nonsense"], respectRetryAfter: 1 }
    expect(() => Retry.make(wrong)).toThrow(
      expect.objectContaining({ _tag: "ValidationError", reason: "invalid_options" })
    )
    for (const part of Object.keys(wrong)) expect(() => Retry.make(wrong)).toThrow(part)
  })
})

describe("RETRY2 an error is retried", () => {
  test("for a reason or a status the policy lists", () => {
    const overloaded = new AdapterError("unknown", { status: 529 })
    expect(Retry.matches(busy, Retry.defaults)).toBe(true)
    expect(Retry.matches(overloaded, Retry.defaults)).toBe(false)
    expect(Retry.matches(overloaded, { retryOn: [529] })).toBe(true)
    expect(Retry.matches(new AdapterError("authentication_failed"), Retry.defaults)).toBe(false)
  })

  test("only if it is an AdapterError", () => {
    for (const other of [new Error("timeout"), "timeout", { reason: "timeout" }, undefined]) {
      expect(Retry.matches(other, Retry.defaults)).toBe(false)
    }
  })

  test("as often as the policy says, and never where it is off", () => {
    const delays = (policy: Retry.RetryPolicy) =>
      [2, 3, 4].map((attempt) => Retry.delayBefore(attempt, busy, policy, lowest))
    expect(delays(Retry.defaults)).toEqual([500, 1_000, undefined])
    for (const once of [Retry.off, Retry.make({ maxAttempts: 0 })]) {
      expect(delays(once)).toEqual([undefined, undefined, undefined])
    }
  })
})

const asking = (retryAfterMs: number) => new AdapterError("rate_limited", { retryAfterMs })

test("RETRY3 what the provider asked to wait is waited, jitter on top, and not cut down", () => {
  expect(Retry.delayBefore(2, asking(1_500), Retry.defaults, () => 0.5)).toBe(1_625)
  expect(Retry.delayBefore(2, asking(60_000), Retry.defaults, lowest)).toBe(60_000)
  expect(Retry.delayBefore(2, asking(1_500), Retry.make({ respectRetryAfter: false }), lowest)).toBe(500)
})

test("RETRY4 a wait above maxRetryAfterMs is not waited", () => {
  const policy = Retry.make({ maxRetryAfterMs: 100 })
  expect(Retry.delayBefore(2, asking(60_001), Retry.defaults, lowest)).toBeUndefined()
  expect(Retry.delayBefore(2, asking(100), policy, lowest)).toBe(100)
  expect(Retry.delayBefore(2, asking(101), policy, lowest)).toBeUndefined()
  expect(Retry.delayBefore(2, asking(101), { ...policy, respectRetryAfter: false }, lowest)).toBe(500)
})

it.prop(
  "a wait lies between the doubled base, cut at the longest, and that plus the jitter",
  {
    attempt: Schema.Literals([2, 3, 5, 9, 40]),
    random: Schema.Literals([0, 0.25, 0.5, 0.999]),
    base: Schema.Literals([0, 1, 100, 500]),
    jitter: Schema.Literals([0, 50, 250])
  },
  ({ attempt, random, base, jitter }) => {
    const policy = Retry.make({ maxAttempts: 50, baseDelayMs: base, jitterMs: jitter, maxDelayMs: 4_000 })
    const delay = Retry.delayBefore(attempt, busy, policy, () => random) ?? -1
    const least = Math.min(4_000, base * 2 ** (attempt - 2))
    expect(delay).toBeGreaterThanOrEqual(least)
    expect(delay).toBeLessThanOrEqual(least + jitter)
  },
  runsOf(100)
)
