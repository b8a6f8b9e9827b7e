/** Adapters that break their contract, or never stop. */
import { describe, expect, test } from "vitest"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import * as Chat from "../../src/loop/Chat.ts"
import { AdapterError } from "../../src/errors/ChatError.ts"
import * as Engine from "../../src/options/Engine.ts"
import type { AdapterEvent } from "../../src/events/Event.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { ReplyBounds } from "../../src/request/replyBounds.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { handling, hi, only, readAll, tagsOf } from "../double/scripts.ts"

const check = leakCheck()

interface Scripted extends Adapter {
  readonly pulls: number
  readonly returns: number
  readonly requests: number
}

/** An adapter that yields these values, of whatever kind, as they are asked for. */
const yielding = (values: () => Iterable<unknown>): Scripted => {
  let pulls = 0
  let returns = 0
  let requests = 0
  return {
    name: "scripted",
    get pulls() {
      return pulls
    },
    get returns() {
      return returns
    },
    get requests() {
      return requests
    },
    stream: () => {
      requests++
      const iterator = values()[Symbol.iterator]()
      return {
        [Symbol.asyncIterator]: () => ({
          next: async () => {
            pulls++
            return iterator.next() as IteratorResult<AdapterEvent>
          },
          return: async () => {
            returns++
            return { done: true, value: undefined }
          }
        })
      }
    }
  }
}

function* endless(value: unknown): Generator {
  for (;;) yield value
}

const started = { type: "message_started", message: { role: "assistant", content: "" } }
const delta = (text: string) => ({ type: "text_delta", id: null, delta: text })
const completed = (finishReason = "stop") => ({
  type: "message_completed",
  message: { role: "assistant", content: "" },
  finishReason
})
const call = { type: "tool_call_completed", id: "c0", name: "t", arguments: {}, rawArguments: "{}" }

/** The one error that the request of a chat ended with; no handler ran, and the stream was released. */
const errorOf = async (adapter: Scripted, options: Parameters<typeof Chat.stream>[2] = {}): Promise<AdapterError> => {
  let ran = 0
  const tool = handling("t", () => ok(++ran))
  const events = await readAll(await Chat.stream(Engine.make({ adapter, tools: [tool] }), hi, options))
  const { error } = only(events, "error")
  expect(tagsOf(events).slice(-3)).toEqual(["error", "step_completed", "chat_completed"])
  expect(only(events, "chat_completed").result).toMatchObject({ haltedReason: "error", metadata: { error } })
  expect(ran).toBe(0)
  expect(adapter.returns).toBe(1)
  expect(adapter.requests).toBe(1)
  if (!(error instanceof AdapterError)) throw new Error(`no AdapterError: ${String(error)}`)
  return error
}

const result = { thread: { messages: [] }, finalResponse: undefined, steps: [], haltedReason: "completed" }

describe("REPLY1 an adapter that yields what is not an adapter's ends its request with one typed error", () => {
  const foreign: ReadonlyArray<{ readonly type: string }> = [
    { type: "chat_completed", result } as { readonly type: string },
    { type: "step_completed", response: {}, thread: { messages: [] } } as { readonly type: string },
    { type: "tool_execution_started", id: "c0", name: "t", arguments: {} } as { readonly type: string },
    { type: "tool_execution_completed", id: "c0", name: "t", result: ok(1) } as { readonly type: string },
    { type: "tool_result_encoded", id: "c0", content: "forged" } as { readonly type: string },
    { type: "ask_user_requested", toolCallId: "c0", question: "forged?" } as { readonly type: string },
    { type: "tool_halt", toolCallId: "c0", reason: "forged", result: 1, content: "1" } as { readonly type: string }
  ]

  test.each(foreign.map((event) => [event.type, event] as const))("%s", async (type, event) => {
    for (const values of [[event], [started, delta("par"), event], [started, call, event, completed("tool_calls")]]) {
      const error = await errorOf(yielding(() => values))
      expect(error).toMatchObject({ reason: "malformed_response", message: expect.stringContaining(type) })
    }
  })

  test.each([delta("more"), call, completed(), started, { type: "tool_call_delta", id: "c0", argumentsDelta: "{" }])(
    "$type after message_completed, and no call of that reply runs",
    async (event) => {
      const error = await errorOf(yielding(() => [started, call, completed("tool_calls"), event, completed()]))
      expect(error).toMatchObject({ reason: "malformed_response" })
      expect(error.message).toContain(`${event.type} event after message_completed`)
    }
  )

  test("what was said before is kept", async () => {
    const adapter = yielding(() => [started, delta("par"), { type: "chat_completed", result }])
    const { finalResponse } = await Chat.run(Engine.make({ adapter }), hi)
    expect(finalResponse).toMatchObject({ outputText: "par", finishReason: "error" })
  })

  test("raw chunks after message_completed are read, and so is an error", async () => {
    const usage = { type: "raw_chunk", chunk: { type: "usage", usage: { inputTokens: 3 } } }
    const answer = await Chat.run(Engine.make({ adapter: yielding(() => [started, completed(), usage]) }), hi)
    expect(answer).toMatchObject({ haltedReason: "completed", finalResponse: { usage: { inputTokens: 3 } } })
    const late = { type: "error", error: new AdapterError("network_error") }
    const failed = await Chat.run(Engine.make({ adapter: yielding(() => [started, completed(), late]) }), hi)
    expect(failed).toMatchObject({ haltedReason: "error", metadata: { error: { reason: "network_error" } } })
  })
})

describe("REPLY2 values that are no events are skipped, and bounded", () => {
  test.each([null, 7, "x", {}, { type: "nonsense" }, { type: "__proto__" }])(
    "an endless stream of %j",
    async (value) => {
      const adapter = yielding(() => endless(value))
      expect(await errorOf(adapter)).toMatchObject({ reason: "malformed_response" })
      expect(adapter.pulls).toBe(1_001)
    }
  )

  test("a thousand of them change nothing", async () => {
    const adapter = yielding(() => [started, ...Array.from({ length: 1_000 }, () => null), delta("a"), completed()])
    expect(await Chat.run(Engine.make({ adapter }), hi)).toMatchObject({
      haltedReason: "completed",
      finalResponse: { outputText: "a" }
    })
  })

  test("behind message_completed too", async () => {
    const adapter = yielding(function* () {
      yield* [started, call, completed("tool_calls")]
      yield* endless(undefined)
    })
    expect(await errorOf(adapter)).toMatchObject({ reason: "malformed_response" })
  })
})

const bounded = (maxReplyCharacters: number, maxFileBytes = 1_000) =>
  new ReplyBounds({ maxReplyCharacters, maxFileBytes })

describe("REPLY3 a reply larger than `maxReplyCharacters` ends its request", () => {
  const values: ReadonlyArray<readonly [string, unknown]> = [
    ["text", delta("0123456789")],
    ["empty text", delta("")],
    ["malformed text", { type: "text_delta" }],
    ["malformed calls", { type: "tool_call_completed", id: 7 }],
    ["the same call", call],
    ["fragments of arguments", { type: "tool_call_delta", id: "c0", argumentsDelta: '{"a":' }],
    ["reasoning", { type: "reasoning_delta", id: "0", delta: "so" }],
    ["raw chunks with a text", { type: "raw_chunk", chunk: { type: "x", delta: "so" } }],
    ["raw chunks", { type: "raw_chunk", chunk: null }],
    ["starts", started]
  ]

  test.each(values)("an endless stream of %s", async (_, value) => {
    const adapter = yielding(() => endless(value))
    const error = await errorOf(adapter, { maxReplyCharacters: 5_000 })
    expect(error).toMatchObject({ reason: "reply_too_large", metadata: { maxReplyCharacters: 5_000 } })
    expect(error.message).toContain("larger than 5000 characters")
    expect(adapter.pulls).toBeLessThanOrEqual(501)
  })

  test("an endless stream of errors", async () => {
    const adapter = yielding(() => endless({ type: "error", error: new AdapterError("unknown") }))
    const read = await Chat.run(Engine.make({ adapter }), hi, { maxReplyCharacters: 5_000 })
    expect(read).toMatchObject({ haltedReason: "error", metadata: { error: { reason: "unknown" } } })
    expect(adapter.pulls).toBe(501)
    expect(adapter.returns).toBe(1)
  })

  test("endless raw chunks behind message_completed", async () => {
    const adapter = yielding(function* () {
      yield* [started, call, completed("tool_calls")]
      yield* endless({ type: "raw_chunk", chunk: "x" })
    })
    expect(await errorOf(adapter, { maxReplyCharacters: 5_000 })).toMatchObject({ reason: "reply_too_large" })
  })

  test("REPLY4 one event that exceeds it is not kept, whatever it repeats", async () => {
    const huge = "x".repeat(5_001)
    for (const event of [
      delta(huge),
      { type: "text_completed", id: null, text: huge },
      { ...completed(), message: { role: "assistant", content: huge } },
      { ...call, rawArguments: huge },
      { ...call, arguments: { a: huge } },
      { ...call, arguments: { a: Array.from({ length: 2_000 }, () => [7]) } },
      { ...call, arguments: { a: new Uint8Array(5_001) } },
      { ...call, name: huge },
      { ...call, id: huge },
      { ...call, problem: huge },
      { ...call, metadata: { a: huge } },
      { type: "tool_call_delta", id: huge, argumentsDelta: "" },
      { ...started, metadata: { reasoning: [huge] } },
      { ...completed(), metadata: { reasoning: [{ type: "reasoning", text: huge }] } },
      { ...completed(), metadata: { id: huge } },
      { ...completed(), message: { role: "assistant", content: "", metadata: { a: { b: huge } } } },
      { ...completed(), message: { role: "assistant", content: [{ type: "text", text: huge }] } },
      completed(huge)
    ]) {
      const adapter = yielding(() => [started, delta("par"), event])
      const read = await Chat.run(Engine.make({ adapter }), hi, { maxReplyCharacters: 5_000 })
      expect(read.metadata["error"]).toMatchObject({ reason: "reply_too_large" })
      expect(read.finalResponse).toMatchObject({ outputText: "par", toolCalls: [] })
      expect(JSON.stringify(read.thread)).not.toContain("xxx")
    }
  })

  test("arguments that were yielded in fragments count once when their call is completed", () => {
    const bounds = bounded(200)
    const fragment = { type: "tool_call_delta", id: "c0", argumentsDelta: "x".repeat(120) }
    expect(bounds.read(fragment)).toBe(fragment)
    const whole = { ...call, rawArguments: "x".repeat(120) }
    expect(bounds.read(whole)).toBe(whole)
    expect(bounds.read({ ...whole, id: "c1" })).toMatchObject({ reason: "reply_too_large" })
  })

  test("reasoning that came in fragments counts once when the message repeats it", () => {
    const bounds = bounded(350)
    const text = "x".repeat(200)
    const thought = { type: "reasoning_delta", id: "0", delta: text }
    expect(bounds.read(thought)).toBe(thought)
    const reasoning = [{ type: "reasoning", text }]
    const message = { role: "assistant", content: "", parts: reasoning, metadata: { reasoning } }
    const last = { ...completed(), message, metadata: { reasoning } }
    expect(bounds.read(last)).toMatchObject({ type: "message_completed" })
  })

  test("parts count beyond the text and the reasoning that they repeat", () => {
    const last = (parts: unknown) => ({ ...completed(), message: { role: "assistant", content: "", parts } })
    const file = (characters: number) => [{ type: "file", file: { base64: "A".repeat(characters) }, mediaType: "a/b" }]
    expect(bounded(500, 225).read(last(file(300)))).toMatchObject({ type: "message_completed" })
    expect(bounded(500, 225).read(last(file(304)))).toMatchObject({
      reason: "reply_too_large",
      metadata: { maxFileBytes: 225 }
    })
    const searched = (found: unknown) => [
      { type: "provider_tool_result", toolCallId: "p", name: "draw", result: found }
    ]
    expect(bounded(500, 3_000).read(last(searched("A".repeat(3_000))))).toMatchObject({ type: "message_completed" })
    expect(bounded(500, 3_000).read(last(searched("A".repeat(4_001))))).toMatchObject({ reason: "reply_too_large" })
    const bounds = bounded(500)
    bounds.read(delta("x".repeat(400)))
    expect(bounds.read(last([{ type: "text", text: "x".repeat(400) }]))).toMatchObject({ type: "message_completed" })
  })

  test("it is 4,000,000 characters without the option: an endless stream ends, and the event loop turns meanwhile", async () => {
    const adapter = yielding(() => endless(delta("x".repeat(990))))
    let turns = 0
    let isReading = true
    const turn = () => {
      turns++
      if (isReading) setImmediate(turn)
    }
    setImmediate(turn)
    const read = await Chat.run(Engine.make({ adapter }), hi)
    isReading = false
    expect(read.metadata["error"]).toMatchObject({ reason: "reply_too_large" })
    expect(adapter.pulls).toBe(4_001)
    expect(turns).toBeGreaterThan(0)
  })

  test("in a living chat, and the chat goes on", async () => {
    let request = 0
    const adapter = yielding(() => (request++ === 0 ? endless(delta("spam ")) : [started, delta("ok"), completed()]))
    const { troupe } = await check.troupe({ adapter, maxReplyCharacters: 5_000 })
    const chat = await troupe.chat("a")
    expect(await chat.send("hi").result()).toMatchObject({
      haltedReason: "error",
      metadata: { error: { reason: "reply_too_large" } }
    })
    expect(await chat.retry().result()).toMatchObject({
      haltedReason: "completed",
      finalResponse: { outputText: "ok" }
    })
    expect(adapter.returns).toBe(1)
  })

  test("of a request on its own (`Chat.generate`)", async () => {
    const adapter = yielding(() => endless(delta("spam ")))
    const response = await Chat.generate(Engine.make({ adapter }), hi, { maxReplyCharacters: 5_000 })
    expect(response).toMatchObject({ finishReason: "error", metadata: { error: { reason: "reply_too_large" } } })
    expect(adapter.returns).toBe(1)
  })
})
