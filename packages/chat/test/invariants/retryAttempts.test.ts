import { Process } from "@troupe/otp"
import { expect, test } from "vitest"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import { AdapterError, type AdapterErrorReason } from "../../src/errors/ChatError.ts"
import type { ChatOptions } from "../../src/options/ChatOptions.ts"
import type { EngineOptions } from "../../src/options/engineOptions.ts"
import type { RetryNotice } from "../../src/adapter/retryPolicy.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { says, tagsOf } from "../double/scripts.ts"
import { startRequest } from "../double/requesting.ts"

const check = leakCheck()
const exactly = { baseDelayMs: 100, jitterMs: 0 } as const

/** Refuses with these, one a request, then says yes; notes each request's model. */
const refusing = (...refusals: ReadonlyArray<unknown>) => {
  const fake = check.fake({ script: says("yes") })
  const models: Array<string | undefined> = []
  const adapter: Adapter = {
    name: "refusing",
    stream: (request, options) => {
      models.push(request.model)
      if (models.length <= refusals.length) throw refusals[models.length - 1]
      return fake.stream(request, options)
    }
  }
  return { adapter, models }
}

const refusal = (reason: AdapterErrorReason, retryAfterMs?: number) => new AdapterError(reason, { retryAfterMs })

const start = (engine: EngineOptions, options: ChatOptions = {}) => startRequest(check.system(), engine, options)

test("STREAM3 a refused request waits, and is sent again, as often as the policy says", async () => {
  const { adapter, models } = refusing(refusal("timeout"), refusal("rate_limited", 700))
  const notices: Array<RetryNotice> = []
  const request = start({ adapter }, { retry: exactly, onRetry: (notice) => notices.push(notice), requestId: "r" })
  expect([request.value(), models.length]).toEqual(["waiting", 1])
  await request.clock.advance(99)
  expect([request.value(), models.length]).toEqual(["waiting", 1])
  await request.clock.advance(1)
  expect([request.value(), models.length]).toEqual(["waiting", 2])
  await request.clock.advance(700)
  expect([request.value(), models.length]).toEqual(["streaming", 3])
  expect(notices).toMatchObject([
    { attempt: 1, delayMs: 100, adapter: "refusing", requestId: "r", error: { reason: "timeout" } },
    { attempt: 2, delayMs: 700, error: { reason: "rate_limited" } }
  ])
  expect(tagsOf(await request.read())).toEqual(["message_started", "text_delta", "text_completed", "message_completed"])
})

test("STREAM3 when its attempts are used up the last refusal counts", async () => {
  const { adapter, models } = refusing(refusal("timeout"), refusal("rate_limited"), refusal("network_error"))
  const request = start({ adapter, retry: exactly })
  await request.clock.advance(10_000)
  expect(models).toHaveLength(3)
  expect(request.output()).toMatchObject({ type: "refused", error: { reason: "network_error" } })
})

test("STREAM3 the call's policy wins over the engine's", async () => {
  for (const retry of [false, { maxAttempts: 1 }, { retryOn: ["rate_limited" as const] }] as const) {
    const { adapter, models } = refusing(refusal("timeout"))
    const request = start({ adapter, retry: exactly }, { retry })
    await request.clock.advance(10_000)
    expect([request.value(), models.length]).toEqual(["refused", 1])
  }
})

test("STREAM3 a refusal that is no AdapterError is sent no further, neither again nor to a fallback", async () => {
  for (const thrown of [new Error("no"), "no"]) {
    const { adapter } = refusing(thrown)
    const other = refusing()
    const retry = { ...exactly, retryOn: ["unknown" as const] }
    const request = start({ adapter, retry, fallbacks: [other.adapter] })
    await request.clock.advance(10_000)
    expect(request.output()).toMatchObject({ type: "refused", error: { reason: "unknown", cause: thrown } })
    expect(other.models).toEqual([])
  }
})

test("STREAM3 an open request is never sent again, whatever it says", async () => {
  const adapter = check.fake({ script: [{ error: "rate_limited" }] })
  const request = start({ adapter, fallbacks: [adapter], retry: exactly })
  const events = await request.read()
  await request.clock.advance(10_000)
  expect(tagsOf(events)).toEqual(["message_started", "error", "message_completed"])
  expect(adapter.requests).toHaveLength(1)
})

/** As {@link refusing}, but that each stream opens, and breaks in place of its first event. */
const breaking = (...refusals: ReadonlyArray<unknown>) => {
  const { adapter, models } = refusing(...refusals)
  const stream: Adapter["stream"] = async function* (...args) {
    yield* await adapter.stream(...args)
  }
  return { adapter: { name: "breaking", stream }, models }
}

test("STREAM3 a stream that breaks before its first event is sent again too, and to a fallback", async () => {
  const { adapter, models } = breaking(refusal("timeout"), refusal("network_error"), refusal("timeout"))
  const other = breaking(refusal("timeout"))
  const request = start({ adapter, retry: exactly, fallbacks: [other.adapter] })
  const reading = request.read()
  await request.clock.advance(10_000)
  expect(tagsOf(await reading)).toEqual(["message_started", "text_delta", "text_completed", "message_completed"])
  expect([models.length, other.models.length, request.clock.pending]).toEqual([3, 2, 0])
})

test("STREAM3 one that breaks so to the last is an `error` event, and so is a refusal after it", async () => {
  for (const second of [breaking(refusal("rate_limited")).adapter, refusing(refusal("rate_limited")).adapter]) {
    const { adapter } = breaking(refusal("timeout"))
    const request = start({ adapter, retry: false, fallbacks: [second] })
    const events = await request.read()
    expect(events).toMatchObject([{ type: "error", error: { reason: "rate_limited" } }])
    expect([request.value(), request.collector.toResponse().finishReason]).toEqual(["exhausted", "error"])
  }
})

test("STREAM4 a stream that broke before its first event, and waits, is given up with its process", async () => {
  const { adapter, models } = breaking(refusal("timeout"))
  const request = start({ adapter, retry: exactly })
  const next = request.outlet.next()
  await request.clock.advance(0)
  expect([request.value(), request.clock.pending]).toEqual(["waiting", 1])
  Process.exit(request.pid, "shutdown")
  await request.clock.advance(10_000)
  expect([models.length, request.clock.pending]).toEqual([1, 0])
  request.outlet.close()
  expect((await next).done).toBe(true)
})

test("STREAM3, FALL1 fallbacks are asked in order, each with retries of its own", async () => {
  const asked: Array<string> = []
  const named = (name: string, reason?: AdapterErrorReason): Adapter => {
    const { adapter } = refusing(...(reason === undefined ? [] : Array.from({ length: 9 }, () => refusal(reason))))
    return { name, stream: (...args) => (asked.push(name), adapter.stream(...args)) }
  }
  const request = start({
    adapter: named("a", "timeout"),
    fallbacks: [named("b", "authentication_failed"), { adapter: named("c", "rate_limited") }, named("d")],
    retry: { ...exactly, maxAttempts: 2 }
  })
  await request.clock.advance(10_000)
  expect(asked).toEqual(["a", "a", "b", "c", "c", "d"])
  expect(request.value()).toBe("streaming")
  await request.read()
})

test.each(["invalid_request", "content_filter"] as const)("FALL1 %s does not move along", async (reason) => {
  const other = refusing()
  const request = start({ adapter: refusing(refusal(reason)).adapter, fallbacks: [other.adapter] })
  await request.clock.advance(0)
  expect(request.output()).toMatchObject({ type: "refused", error: { reason } })
  expect(other.models).toEqual([])
})

test("FALL2 a reply says who gave it, in its first event and in its response", async () => {
  const { adapter } = refusing(refusal("context_length_exceeded"))
  const wide = refusing()
  const request = start({ adapter, model: "small", fallbacks: [{ adapter: wide.adapter, model: "wide" }] })
  await request.clock.advance(0)
  const [first, second] = await request.read()
  const fallback = { index: 0, adapter: "refusing", model: "wide" }
  expect(first).toMatchObject({ type: "message_started", metadata: { model: "wide", fallback } })
  expect(second).not.toHaveProperty("metadata")
  expect(wide.models).toEqual(["wide"])
  expect(request.collector.toResponse()).toMatchObject({ model: "wide", metadata: { fallback } })
})

test("FALL2 the engine's own adapter is not spoken of, and a fallback without a model is asked for the request's", async () => {
  const own = start({ adapter: refusing().adapter, fallbacks: [refusing().adapter] })
  await own.read()
  expect(own.collector.toResponse().metadata).toEqual({})
  const other = refusing()
  const moved = start({
    adapter: refusing(refusal("timeout")).adapter,
    model: "m",
    fallbacks: [other.adapter],
    retry: false
  })
  await moved.read()
  expect(other.models).toEqual(["m"])
})

test.each(["kill", "shutdown"])("STREAM4 ended by %s while it waits, it sends nothing more", async (reason) => {
  const { adapter, models } = refusing(refusal("timeout"))
  const request = start({ adapter, retry: exactly })
  expect(request.clock.pending).toBe(1)
  Process.exit(request.pid, reason)
  await request.clock.advance(10_000)
  expect([models.length, request.clock.pending]).toEqual([1, 0])
})

test("STREAM4, STREAM5 cancelled while it opens, waits or streams, it ends with an `error` event and releases all", async () => {
  const slow: Adapter = { name: "slow", stream: () => new Promise(() => {}) }
  const hanging = check.fake({ script: [{ text: "a" }, { hang: true }] })
  for (const adapter of [slow, refusing(refusal("timeout")).adapter, hanging]) {
    const request = start({ adapter, retry: exactly })
    Process.send(request.pid, { type: "request.cancel" })
    const events = await request.read()
    expect(events.at(-1)).toMatchObject({ type: "error", error: { _tag: "StreamError", reason: "cancelled" } })
    expect(request.collector.toResponse().finishReason).toBe("error")
    expect(request.clock.pending).toBe(0)
  }
  expect(hanging.open).toBe(0)
})

test("what `onRetry` throws, or rejects with, is the reader's", async () => {
  const boom = new Error("boom")
  for (const onRetry of [
    () => {
      throw boom
    },
    () => Promise.reject(boom)
  ]) {
    const { adapter } = refusing(refusal("timeout"))
    const request = start({ adapter, retry: exactly }, { onRetry })
    await expect(request.outlet.next()).rejects.toBe(boom)
    Process.kill(request.pid)
  }
})
