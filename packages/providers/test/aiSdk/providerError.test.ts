import { APICallError, LoadAPIKeyError, TypeValidationError, UnsupportedFunctionalityError } from "@ai-sdk/provider"
import { AdapterError } from "@troupe/chat/errors"
import { describe, expect, test } from "vitest"
import { adapterError } from "../../src/aiSdk/providerError.ts"

const refused = (statusCode: number, message = "no", more: object = {}): APICallError =>
  new APICallError({ url: "http://localhost", requestBodyValues: {}, statusCode, message, ...more })

const reasonOf = (error: unknown): string => adapterError(error, "scripted").reason

describe("an HTTP refusal", () => {
  test.each([
    [401, "authentication_failed"],
    [403, "authentication_failed"],
    [408, "timeout"],
    [429, "rate_limited"],
    [400, "invalid_request"],
    [413, "invalid_request"],
    [422, "invalid_request"],
    [500, "provider_unavailable"],
    [503, "provider_unavailable"],
    [529, "provider_unavailable"],
    [418, "unknown"]
  ])("with status %i is %s", (status, reason) => {
    const error = adapterError(refused(status), "scripted")
    expect(error).toMatchObject({ reason, status, provider: "scripted" })
    expect(error.message).toContain("no")
  })

  test("that says the prompt is too long is context_length_exceeded", () => {
    expect(reasonOf(refused(400, "prompt is too long: 210000 tokens > 200000 maximum"))).toBe("context_length_exceeded")
    expect(reasonOf(refused(400, "no", { data: { error: { message: "no", code: "context_length_exceeded" } } }))).toBe(
      "context_length_exceeded"
    )
  })

  test("that says the content was filtered is content_filter", () => {
    expect(reasonOf(refused(400, "no", { data: { error: { code: "content_filter", message: "no" } } }))).toBe(
      "content_filter"
    )
  })

  test.each([
    [{ "retry-after-ms": "1500", "retry-after": "9" }, 1500],
    [{ "Retry-After": "2" }, 2000],
    [{ "retry-after": "Fri, 20 Nov 2026 10:00:05 GMT", date: "Fri, 20 Nov 2026 10:00:00 GMT" }, 5000],
    [{ "retry-after": "soon" }, undefined]
  ])("with headers %o says how long to wait", (responseHeaders, retryAfterMs) => {
    expect(adapterError(refused(429, "slow down", { responseHeaders }), "scripted").retryAfterMs).toBe(retryAfterMs)
  })

  test("keeps the provider's request id and its cause", () => {
    const cause = refused(500, "no", { responseHeaders: { "x-request-id": "r-1" } })
    expect(adapterError(cause, "scripted")).toMatchObject({ requestId: "r-1", cause })
  })
})

describe("an error object in a stream", () => {
  test.each([
    [{ type: "overloaded_error", message: "Overloaded" }, "provider_unavailable"],
    [{ code: "rate_limit_exceeded", message: "slow" }, "rate_limited"],
    [{ code: 503, message: "busy" }, "provider_unavailable"],
    [{ code: "429", message: "busy" }, "rate_limited"],
    [{ type: "invalid_request_error", message: "bad" }, "invalid_request"],
    [{ type: "authentication_error", message: "who" }, "authentication_failed"],
    [{ error: { status: "RESOURCE_EXHAUSTED", message: "quota" } }, "rate_limited"],
    ["something broke", "unknown"],
    [undefined, "unknown"]
  ])("%o is %s", (error, reason) => {
    expect(reasonOf(error)).toBe(reason)
  })

  test("is found in a chunk that fits no schema", () => {
    const value = {
      object: "error",
      message: "Service tier capacity exceeded",
      type: "capacity_exceeded",
      code: "3505"
    }
    expect(reasonOf(new TypeValidationError({ value, cause: new Error("no") }))).toBe("provider_unavailable")
    expect(reasonOf(new TypeValidationError({ value: { id: 1 }, cause: new Error("no") }))).toBe("malformed_response")
  })
})

describe("an error of the client", () => {
  const failed = (code: string) =>
    Object.assign(new TypeError("fetch failed"), { cause: Object.assign(new Error(code), { code }) })

  test.each([
    [failed("ECONNREFUSED"), "network_error"],
    [
      new APICallError({
        url: "",
        requestBodyValues: {},
        message: "Cannot connect to API: no",
        cause: failed("ENOTFOUND")
      }),
      "network_error"
    ],
    [new DOMException("late", "TimeoutError"), "timeout"],
    [new LoadAPIKeyError({ message: "no key" }), "authentication_failed"],
    [new UnsupportedFunctionalityError({ functionality: "audio" }), "unsupported_feature"],
    [new Error("surprise"), "unknown"]
  ])("%o is %s", (error, reason) => {
    expect(reasonOf(error)).toBe(reason)
  })

  test("that is an AdapterError already stays the same", () => {
    const error = new AdapterError("timeout")
    expect(adapterError(error, "scripted")).toBe(error)
  })
})
