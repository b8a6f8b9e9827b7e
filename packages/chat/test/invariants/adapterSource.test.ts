import { expect, test } from "vitest"
import { AdapterError } from "../../src/errors/ChatError.ts"
import type { ChatOptions } from "../../src/options/ChatOptions.ts"
import * as Engine from "../../src/options/Engine.ts"
import type { AdapterEvent } from "../../src/events/Event.ts"
import { AdapterRequest } from "../../src/request/adapterRequest.ts"
import { AdapterSource } from "../../src/request/adapterSource.ts"
import { LazyAbortController } from "../../src/async/lazyAbortController.ts"
import { Outlet } from "../../src/events/outlet.ts"
import { resolveOptions } from "../../src/options/resolveOptions.ts"
import { StreamCollector } from "../../src/events/StreamCollector.ts"
import { handAdapter, type HandAdapter } from "../double/handAdapter.ts"
import { hop } from "../double/hop.ts"

const request = { messages: [], tools: [] }

const opened = (options: ChatOptions = {}, adapter: HandAdapter = handAdapter()) => {
  const collector = new StreamCollector()
  const abort = new LazyAbortController(undefined)
  const outlet = new Outlet()
  let done = 0
  const refusals: Array<unknown> = []
  const resolved = resolveOptions(Engine.make({}), options)
  const stream = adapter.stream(request, {
    signal: abort.signal,
    requestId: "r",
    includeRawChunks: false,
    adapterOptions: {}
  })
  const source = new AdapterSource(stream as AsyncIterable<AdapterEvent>, collector, resolved, abort, {
    done: () => void done++,
    refused: (error) => void refusals.push(error)
  })
  outlet.attach(source)
  const [hand] = adapter.streams
  if (hand === undefined) throw new Error("no stream")
  return { hand, source, collector, outlet, abort, refusals, done: () => done }
}

test("ASRC1 an event is folded, then shown, then filtered", async () => {
  const order: Array<string> = []
  const { hand, outlet, collector } = opened({
    emitTextDeltas: false,
    onEvent: (event) => order.push(`${event.type} ${collector.text}`)
  })
  const next = outlet.next()
  hand.text("a")
  hand.text("b")
  hand.finish("stop")
  expect((await next).value).toMatchObject({ type: "message_completed" })
  expect(order).toEqual(["text_delta a", "text_delta ab", "message_completed ab"])
})

test("ASRC1 what was folded stays folded when `onEvent` throws", async () => {
  const { hand, outlet, collector } = opened({
    onEvent: () => {
      throw new Error("seen")
    }
  })
  const next = outlet.next()
  hand.text("a")
  await expect(next).rejects.toThrow("seen")
  expect(collector.text).toBe("a")
})

test("ASRC2 reaching the end releases: nothing is aborted and `return` is not called", async () => {
  const { hand, source, outlet, abort, done } = opened()
  hand.finish("stop")
  await outlet.next()
  const next = outlet.next()
  await hop()
  expect(done()).toBe(1)
  await source.release()
  expect([hand.returns, abort.signal.aborted]).toEqual([0, false])
  outlet.close()
  await next
})

test("ASRC2 `release` aborts and returns once, and waits for no `next`", async () => {
  const { hand, source, outlet, abort } = opened()
  void outlet.next()
  await Promise.all([source.release(), source.release()])
  expect([hand.returns, abort.signal.aborted]).toEqual([1, true])
  hand.text("late")
  await hop()
  outlet.close()
})

test("ASRC2 a `return` that fails is nobody's trouble", async () => {
  const failing: AsyncIterable<AdapterEvent> = {
    [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}), return: () => Promise.reject(new Error("x")) })
  }
  const options = resolveOptions(Engine.make({}), {})
  const source = new AdapterSource(failing, new StreamCollector(), options, new LazyAbortController(undefined), {
    done: () => {},
    refused: () => {}
  })
  await expect(source.release()).resolves.toBeUndefined()
})

test("ASRC3 a throw of the iterator is an `error` event, and the end", async () => {
  const { hand, outlet, collector, abort, done } = opened()
  const next = outlet.next()
  hand.fail(new Error("socket"))
  expect((await next).value).toMatchObject({ type: "error", error: { _tag: "StreamError", reason: "adapter_error" } })
  expect([collector.failed, abort.signal.aborted]).toEqual([true, true])
  void outlet.next()
  expect(done()).toBe(1)
  outlet.close()
})

test("ASRC3 an AdapterError in place of the first event is reported, and is an event only on request", async () => {
  const { hand, outlet, abort, collector, refusals, source, done } = opened()
  const next = outlet.next()
  const refusal = new AdapterError("rate_limited")
  hand.fail(refusal)
  await hop()
  expect([refusals, abort.signal.aborted, collector.failed]).toEqual([[refusal], true, false])
  source.fail(refusal)
  expect((await next).value).toEqual({ type: "error", error: refusal })
  void outlet.next()
  expect(done()).toBe(1)
  outlet.close()
  const begun = opened()
  const started = [begun.outlet.next(), begun.outlet.next()]
  begun.hand.text("a")
  begun.hand.fail(refusal)
  await Promise.all(started)
  expect([begun.refusals, begun.collector.failed]).toEqual([[], true])
  begun.outlet.close()
})

/** A request that records its calls. */
const listening = (adapter: HandAdapter | { readonly name: string; readonly stream: () => never }) => {
  const seen: Array<string> = []
  const outlet = new Outlet()
  const options = resolveOptions(Engine.make({}), {})
  const running = new AdapterRequest(
    { adapter, request, options, collector: new StreamCollector(), outlet },
    {
      opened: () => seen.push("opened"),
      refused: () => seen.push("refused"),
      exhausted: () => seen.push("exhausted")
    }
  )
  return { seen, outlet, running, open: () => running.open({ adapter, request, answerer: undefined }) }
}

test("REQ1 a request is opened or refused, and exhausted only when it was opened", async () => {
  const adapter = handAdapter()
  const { seen, outlet, open } = listening(adapter)
  open()
  adapter.streams[0]?.finish("stop")
  await outlet.next()
  void outlet.next()
  await hop()
  expect(seen).toEqual(["opened", "exhausted"])
  outlet.close()
  const refusing = listening({
    name: "refusing",
    stream: () => {
      throw new Error("no")
    }
  })
  refusing.open()
  refusing.open()
  expect(refusing.seen).toEqual(["refused", "refused"])
})

test("REQ1, REQ2 after `release` nothing is called, and the stream is released once", async () => {
  const adapter = handAdapter()
  const { seen, outlet, running, open } = listening(adapter)
  open()
  void outlet.next()
  running.release()
  running.release()
  open()
  adapter.streams[0]?.end()
  await hop()
  expect(seen).toEqual(["opened"])
  expect(adapter.streams[0]?.returns).toBe(1)
  outlet.close()
})

test("ASRC9 after an `error` event the next content is discarded, and the transport is released", async () => {
  const { hand, outlet, collector, abort } = opened()
  const events: Array<string> = []
  const reading = (async () => {
    for (let read = await outlet.next(); !read.done; read = await outlet.next()) events.push(read.value.type)
  })()
  hand.text("a")
  hand.say({ type: "error", error: new AdapterError("provider_unavailable") })
  hand.say({ type: "raw_chunk", chunk: { type: "usage", usage: { inputTokens: 3 } } })
  await hop()
  expect(abort.signal.aborted).toBe(false)
  hand.text("b")
  await hop()
  expect([hand.returns, abort.signal.aborted]).toEqual([1, true])
  outlet.close()
  await reading
  expect(events).toEqual(["text_delta", "error", "raw_chunk"])
  expect(collector.toResponse()).toMatchObject({ outputText: "a", finishReason: "error", usage: { inputTokens: 3 } })
})
