import { expect, test } from "vitest"
import { UiStream } from "../../src/wire/aiSdk/uiStream.ts"

test("RETRY5 the wait of a request is a transient data part of an AI SDK stream, and begins no message", () => {
  const data = { waitMs: 48_000, retryAt: 50_000, attempt: 1, adapter: "fake", reason: "rate_limited" }
  expect(new UiStream(new Set()).push({ type: "request_delayed", ...data })).toEqual([
    { type: "data-troupe-delayed", transient: true, data }
  ])
})
