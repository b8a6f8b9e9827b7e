import { describe, expect, test } from "vitest"
import { type AdapterOptions, eventsOf } from "../../src/adapter/Adapter.ts"
import { AdapterError, StreamError, ValidationError } from "../../src/errors/ChatError.ts"
import type { Event } from "../../src/events/Event.ts"
import * as Fake from "../../src/adapter/Fake.ts"
import type { Request } from "../../src/model/Request.ts"
import { hop } from "../double/hop.ts"
import { only, readAll, readTo, says, tagsOf } from "../double/scripts.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const request: Request = { messages: [{ role: "user", content: "hi" }], tools: [] }
const options = (signal = new AbortController().signal): AdapterOptions => ({
  signal,
  requestId: "r",
  includeRawChunks: false,
  adapterOptions: {}
})

const scripted = async (
  script: Script,
  more: { readonly usage?: object; readonly requestId?: string } = {}
): Promise<ReadonlyArray<Event>> => readAll(eventsOf(await Fake.make({ script, ...more }).stream(request, options())))

describe("the fake adapter", () => {
  test("1 a text is deltas, the whole, and the end", async () => {
    const events = await scripted([{ text: "Hel" }, { text: "lo" }, { finish: "stop" }])
    expect(tagsOf(events)).toEqual([
      "message_started",
      "text_delta",
      "text_delta",
      "text_completed",
      "message_completed"
    ])
    expect(only(events, "text_completed").text).toBe("Hello")
    expect(only(events, "message_completed")).toMatchObject({ finishReason: "stop", message: { content: "Hello" } })
  })

  test("2 without text there is no text_completed", async () => {
    const events = await scripted([{ toolCall: { id: "c0", name: "echo" } }, { finish: "tool_calls" }])
    expect(tagsOf(events)).toEqual(["message_started", "tool_call_started", "tool_call_completed", "message_completed"])
    expect(only(events, "tool_call_completed")).toMatchObject({ arguments: {}, rawArguments: "{}" })
  })

  test("3, D36 an empty script is a message that says no finish reason", async () => {
    expect(tagsOf(await scripted([]))).toEqual(["message_started", "message_completed"])
    expect(only(await scripted([]), "message_completed").finishReason).toBeNull()
  })

  test("4 nothing after the finish is said", async () => {
    const events = await scripted([{ text: "a" }, { finish: "stop" }, { text: "b" }])
    expect(only(events, "text_completed").text).toBe("a")
  })

  test("7, 8 an error is an event and the stream goes on to its end; an unknown one is wrapped", async () => {
    const events = await scripted([{ text: "par" }, { error: "rate_limited" }])
    expect(tagsOf(events)).toEqual(["message_started", "text_delta", "error", "text_completed", "message_completed"])
    expect(only(events, "error").error).toMatchObject({ reason: "rate_limited" })
    expect(only(await scripted([{ error: "boom" }]), "error").error).toMatchObject({ reason: "unknown", cause: "boom" })
    expect(only(await scripted([{ streamError: "timeout" }]), "error").error).toBeInstanceOf(StreamError)
  })

  test("9 a pre-flight error refuses the request", () => {
    const adapter = Fake.make({ script: [{ preflightError: "authentication_failed" }] })
    expect(() => adapter.stream(request, options())).toThrow(AdapterError)
    expect(adapter.requests).toHaveLength(1)
    expect(adapter.open).toBe(0)
  })

  test("13 asking past the last script is no_scripted_response", async () => {
    const adapter = Fake.make({ scripts: [says("a")] })
    await readAll(eventsOf(await adapter.stream(request, options())))
    expect(() => adapter.stream(request, options())).toThrow(
      expect.objectContaining({ reason: "no_scripted_response" })
    )
  })

  test("14 a script is used up when the request opens", async () => {
    const adapter = Fake.make({ scripts: [says("A"), says("B")] })
    const unread = eventsOf(await adapter.stream(request, options()))
    expect(only(await readAll(eventsOf(await adapter.stream(request, options()))), "text_completed").text).toBe("B")
    await unread[Symbol.asyncIterator]().return?.()
    expect(adapter.open).toBe(0)
  })

  test("15 two adapters share a cursor only when they are given one", async () => {
    const scripts = [says("A"), says("B")]
    const first = async (adapter: Fake.Fake) =>
      only(await readAll(eventsOf(await adapter.stream(request, options()))), "text_completed").text
    expect([await first(Fake.make({ scripts })), await first(Fake.make({ scripts }))]).toEqual(["A", "A"])
    const cursor = { next: 0 }
    expect([await first(Fake.make({ scripts, cursor })), await first(Fake.make({ scripts, cursor }))]).toEqual([
      "A",
      "B"
    ])
  })

  test("22 a stream that is left is released once, read or not", async () => {
    const adapter = Fake.make({ script: [{ text: "a" }, { text: "b" }, { text: "c" }] })
    await readTo(eventsOf(await adapter.stream(request, options())), "text_delta")
    await readAll(eventsOf(await adapter.stream(request, options())))
    const iterator = eventsOf(await adapter.stream(request, options()))[Symbol.asyncIterator]()
    await iterator.return?.()
    await iterator.return?.()
    expect([adapter.open, adapter.released]).toEqual([0, 3])
  })

  test("23 the adapter's usage wins over the script's", async () => {
    const script: Script = [{ usage: { inputTokens: 1 } }, { finish: "stop" }]
    expect(only(await scripted(script), "message_completed").usage).toEqual({ inputTokens: 1 })
    expect(only(await scripted(script, { usage: { inputTokens: 12 } }), "message_completed").usage).toEqual({
      inputTokens: 12
    })
  })

  test("a hang ends with its signal, and leaves no listener on it", async () => {
    const controller = new AbortController()
    const adapter = Fake.make({ script: [{ hang: true }, { text: "a" }] })
    const reading = readAll(eventsOf(await adapter.stream(request, options(controller.signal))))
    await hop()
    expect(adapter.open).toBe(1)
    controller.abort()
    await reading
    expect(adapter.open).toBe(0)
  })

  test("`respond` sees each request and its number", async () => {
    const seen: Array<number> = []
    const adapter = Fake.make({
      respond: (_request, index) => {
        seen.push(index)
        return says("a")
      }
    })
    for (let turn = 0; turn < 3; turn++) await readAll(eventsOf(await adapter.stream(request, options())))
    expect(seen).toEqual([0, 1, 2])
    expect(adapter.requests).toHaveLength(3)
  })

  test("a crash is a throw of the stream, and releases it", async () => {
    const adapter = Fake.make({ script: [{ crash: new Error("socket") }] })
    await expect(readAll(eventsOf(await adapter.stream(request, options())))).rejects.toThrow("socket")
    expect(adapter.open).toBe(0)
  })
})

describe("a fake's options", () => {
  test.each([
    [{ script: "not a list" }],
    [{ scripts: [{ text: "flat" }] }],
    [{ script: [], scripts: [] }],
    [{ script: [], cursor: 42 }],
    [{ script: [{ usage: { promptTokens: 5 } }] }]
  ])("%j is refused", (wrong) => {
    expect(() => Fake.make(wrong as never)).toThrow(ValidationError)
  })

  test("an error can be given whole", async () => {
    const error = new AdapterError("rate_limited", { retryAfterMs: 500, requestId: "r1" })
    expect(only(await scripted([{ error }]), "error").error).toBe(error)
    expect(() => Fake.make({ script: [{ preflightError: error }] }).stream(request, options())).toThrow(error)
  })

  test("D22 the provider's request id comes with the message", async () => {
    const events = await scripted([{ finish: "stop" }], { requestId: "r1" })
    expect(only(events, "message_started").metadata).toEqual({ requestId: "r1" })
  })
})
