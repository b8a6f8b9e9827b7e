import type { LanguageModelV4StreamPart } from "@ai-sdk/provider"
import type { AdapterEvent } from "@troupe/chat/events"
import { Adapter } from "@troupe/chat/models"
import { getEventListeners } from "node:events"
import { describe, expect, test } from "vitest"
import { aiSdk } from "../../src/aiSdk/AiSdk.ts"
import { adapterOptions, asking, pull, tagsOf } from "../loopback/pulling.ts"
import { finish, modelV4 } from "../loopback/scriptedModel.ts"

/** A model whose stream stays open, and everything that happens to its transport. */
const openModel = () => {
  const seen = { aborts: 0, cancels: 0, pulls: 0 }
  let controller: ReadableStreamDefaultController<LanguageModelV4StreamPart> | undefined
  const model = modelV4(({ abortSignal }) => {
    abortSignal?.addEventListener("abort", () => seen.aborts++)
    return new ReadableStream<LanguageModelV4StreamPart>(
      {
        start: (given) => {
          controller = given
        },
        pull: () => {
          seen.pulls++
        },
        cancel: () => {
          seen.cancels++
        }
      },
      { highWaterMark: 0 }
    )
  })
  const say = (...parts: ReadonlyArray<LanguageModelV4StreamPart>): void => {
    for (const part of parts) controller?.enqueue(part)
  }
  return { model, seen, say, fail: (error: unknown) => controller?.error(error), close: () => controller?.close() }
}

const opened = async (given: ReturnType<typeof openModel>, stop = new AbortController()) => {
  const events = await aiSdk(given.model).stream(asking(), adapterOptions({ signal: stop.signal }))
  return {
    events: Adapter.eventsOf(events)[Symbol.asyncIterator](),
    stop,
    listeners: () => getEventListeners(stop.signal, "abort").length
  }
}

const hello: LanguageModelV4StreamPart = { type: "text-delta", id: "t", delta: "hello" }

describe("SEQ1. pulling", () => {
  test("reads a part only when an event is asked for", async () => {
    const given = openModel()
    const { events } = await opened(given)
    expect(given.seen.pulls).toBe(0)
    given.say(hello)
    expect([(await events.next()).value?.type, (await events.next()).value?.type]).toEqual([
      "message_started",
      "text_delta"
    ])
    expect(given.seen.pulls).toBe(0)
    await events.return?.()
  })
})

describe("SEQ2. the transport", () => {
  test("is released at the stream's end, without an abort or a cancel", async () => {
    const given = openModel()
    const { events, stop, listeners } = await opened(given)
    expect(listeners()).toBe(1)
    given.say(hello, finish())
    given.close()
    const seen: Array<AdapterEvent> = []
    for (let step = await events.next(); !step.done; step = await events.next()) seen.push(step.value)
    expect(tagsOf(seen)).toEqual(["message_started", "text_delta", "text_completed", "message_completed"])
    expect(listeners()).toBe(0)
    stop.abort()
    expect(await events.next()).toEqual({ done: true, value: undefined })
    await events.return?.()
    expect(given.seen).toMatchObject({ aborts: 0, cancels: 0 })
  })

  test("is released once, however often the sequence is left", async () => {
    const given = openModel()
    const { events, stop, listeners } = await opened(given)
    given.say(hello)
    await events.next()
    await events.return?.()
    stop.abort()
    await events.return?.()
    expect(await events.next()).toEqual({ done: true, value: undefined })
    expect(given.seen).toMatchObject({ aborts: 1, cancels: 1 })
    expect(listeners()).toBe(0)
  })
})

describe("SEQ3. leaving early", () => {
  test("by break aborts the request and cancels the stream", async () => {
    const given = openModel()
    const sequence = await aiSdk(given.model).stream(asking(), adapterOptions())
    given.say(hello)
    for await (const event of Adapter.eventsOf(sequence)) if (event.type === "text_delta") break
    expect(given.seen).toMatchObject({ aborts: 1, cancels: 1 })
  })

  test("by return is not held up by a pending read, which then ends", async () => {
    const given = openModel()
    const { events } = await opened(given)
    const pending = events.next()
    expect(await events.return?.()).toEqual({ done: true, value: undefined })
    expect(await pending).toEqual({ done: true, value: undefined })
    expect(given.seen).toMatchObject({ aborts: 1, cancels: 1 })
  })
})

describe("SEQ4. an abort", () => {
  test("ends a pending read without an error, and what comes later is dropped", async () => {
    const given = openModel()
    const { events, stop, listeners } = await opened(given)
    const pending = events.next()
    stop.abort(new Error("enough"))
    expect(await pending).toEqual({ done: true, value: undefined })
    expect(await events.next()).toEqual({ done: true, value: undefined })
    expect(given.seen).toMatchObject({ aborts: 1, cancels: 1 })
    expect(listeners()).toBe(0)
  })

  test("before the stream opened ends the call with an empty sequence", async () => {
    const seen = { reasons: [] as Array<unknown> }
    const gate = Promise.withResolvers<ReadableStream<LanguageModelV4StreamPart>>()
    const model = modelV4(({ abortSignal }) => {
      abortSignal?.addEventListener("abort", () => seen.reasons.push(abortSignal.reason))
      return gate.promise
    })
    const stop = new AbortController()
    const opening = aiSdk(model).stream(asking(), adapterOptions({ signal: stop.signal }))
    stop.abort("enough")
    const events: Array<AdapterEvent> = []
    for await (const event of Adapter.eventsOf(await opening)) events.push(event)
    expect(events).toEqual([])
    expect(seen.reasons).toEqual(["enough"])
    const late = Promise.withResolvers<void>()
    gate.resolve(new ReadableStream({ cancel: () => late.resolve() }))
    await late.promise
    expect(getEventListeners(stop.signal, "abort")).toEqual([])
  })

  test("that came before the call asks nothing", async () => {
    const stop = new AbortController()
    stop.abort()
    const adapter = aiSdk(
      modelV4(() => {
        throw new Error("asked")
      })
    )
    expect(await pull(adapter, asking(), adapterOptions({ signal: stop.signal }))).toEqual([])
  })
})

describe("a broken stream", () => {
  test("that throws is one error event, then message_completed with what was said", async () => {
    const given = openModel()
    const { events, listeners } = await opened(given)
    given.say(hello)
    const seen: Array<AdapterEvent> = []
    for (let step = await events.next(); !step.done; step = await events.next()) {
      seen.push(step.value)
      if (step.value.type === "text_delta") given.fail(Object.assign(new TypeError("terminated"), { cause: {} }))
    }
    expect(tagsOf(seen)).toEqual(["message_started", "text_delta", "error", "text_completed", "message_completed"])
    expect(seen[2]).toMatchObject({
      error: { _tag: "AdapterError", reason: "network_error", provider: "scripted.chat" }
    })
    expect(seen[4]).toMatchObject({ finishReason: "error", message: { content: "hello" } })
    expect(listeners()).toBe(0)
  })

  test("with a part that is none ends as malformed_response, and lets go of the transport", async () => {
    const given = openModel()
    const { events } = await opened(given)
    given.say(hello, undefined as unknown as LanguageModelV4StreamPart)
    const seen: Array<AdapterEvent> = []
    for (let step = await events.next(); !step.done; step = await events.next()) seen.push(step.value)
    expect(tagsOf(seen)).toEqual(["message_started", "text_delta", "error", "text_completed", "message_completed"])
    expect(seen[2]).toMatchObject({ error: { reason: "malformed_response" } })
    expect(given.seen).toMatchObject({ aborts: 1, cancels: 1 })
  })
})

describe("SEQ5. a failure before the first content", () => {
  test("is thrown in place of the first event, and releases the transport once", async () => {
    const given = openModel()
    const { events, listeners } = await opened(given)
    given.say({ type: "reasoning-start", id: "r" }, { type: "error", error: "overloaded" })
    await expect(events.next()).rejects.toMatchObject({ _tag: "AdapterError", provider: "scripted.chat" })
    expect(await events.next()).toEqual({ done: true, value: undefined })
    expect(given.seen).toMatchObject({ aborts: 1, cancels: 1 })
    expect(listeners()).toBe(0)
  })

  test("of the connection is thrown too", async () => {
    const given = openModel()
    const { events, listeners } = await opened(given)
    const first = events.next()
    given.fail(Object.assign(new TypeError("terminated"), { cause: {} }))
    await expect(first).rejects.toMatchObject({ reason: "network_error" })
    expect(listeners()).toBe(0)
  })
})
