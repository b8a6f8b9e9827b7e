import { createAnthropic } from "@ai-sdk/anthropic"
import { createGoogle } from "@ai-sdk/google"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { Chat, Engine, error, tool } from "@troupe/chat"
import { ValidationError } from "@troupe/chat/errors"
import { Adapter } from "@troupe/chat/models"
import { Message } from "@troupe/chat/messages"
import { runToolCalls } from "@troupe/chat/tools"
import type { ServerResponse } from "node:http"
import { afterEach, describe, expect, test } from "vitest"
import { aiSdk } from "../../src/aiSdk/AiSdk.ts"
import {
  beginStream,
  chatChunk,
  type EventServer,
  eventServer,
  sendEvent,
  sendStream
} from "../loopback/eventServer.ts"
import { adapterOptions, asking, only, pull, tagsOf } from "../loopback/pulling.ts"

let server: EventServer | undefined

afterEach(async () => {
  await server?.stop()
  server = undefined
})

const served = async (
  answer: (response: ServerResponse, index: number) => void
): Promise<[Adapter.Adapter, EventServer]> => {
  server = await eventServer(answer)
  return [aiSdk(createOpenAICompatible({ name: "local", baseURL: server.url, includeUsage: true })("small")), server]
}

const counting = {
  name: "count",
  description: "Counts",
  schema: { type: "object", properties: { to: { type: "number" } } }
}

describe("a provider package over HTTP", () => {
  test("streams text, and its request says what was asked", async () => {
    const [adapter, { bodies }] = await served((response) =>
      sendStream(response, [
        chatChunk({ role: "assistant", content: "one " }),
        chatChunk({ content: "two" }),
        chatChunk({}, "stop", { usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 } }),
        "[DONE]"
      ])
    )
    const events = await pull(adapter, asking({ tools: [counting], temperature: 0.2 }))
    expect(only(events, "text_completed").text).toBe("one two")
    expect(only(events, "message_started").metadata).toEqual({ id: "chat-7", model: "small" })
    expect(only(events, "message_completed")).toMatchObject({
      finishReason: "stop",
      usage: { inputTokens: 4, outputTokens: 2 }
    })
    expect(bodies).toMatchObject([{ model: "small", temperature: 0.2, tools: [{ function: { name: "count" } }] }])
  })

  test("streams a call in pieces", async () => {
    const piece = (more: object) => chatChunk({ tool_calls: [{ index: 0, ...more }] })
    const [adapter] = await served((response) =>
      sendStream(response, [
        piece({ id: "c1", type: "function", function: { name: "count", arguments: "" } }),
        piece({ function: { arguments: '{"to"' } }),
        piece({ function: { arguments: ":3}" } }),
        chatChunk({}, "tool_calls"),
        "[DONE]"
      ])
    )
    const events = await pull(adapter)
    expect(only(events, "tool_call_completed")).toMatchObject({ id: "c1", name: "count", arguments: { to: 3 } })
    expect(only(events, "message_completed").finishReason).toBe("tool_calls")
  })

  test("reports a call whose arguments were cut off, with no arguments and reason length", async () => {
    const call = { index: 0, id: "c1", type: "function", function: { name: "count", arguments: '{"to":' } }
    const [adapter] = await served((response) =>
      sendStream(response, [chatChunk({ tool_calls: [call] }), chatChunk({}, "length"), "[DONE]"])
    )
    const events = await pull(adapter)
    expect(
      events.filter((event) => event.type === "tool_call_completed").every((event) => event.arguments === null)
    ).toBe(true)
    expect(only(events, "message_completed").finishReason).toBe("length")
  })

  test("hands a thought signature back to the model that gave it", async () => {
    server = await eventServer((response, index) =>
      sendStream(response, [
        {
          candidates: [
            {
              content: {
                role: "model",
                parts: [
                  index === 0
                    ? { functionCall: { name: "count", args: { to: 2 } }, thoughtSignature: "c2ln" }
                    : { text: "two" }
                ]
              },
              finishReason: "STOP"
            }
          ]
        }
      ])
    )
    const adapter = aiSdk(createGoogle({ baseURL: server.url, apiKey: "k" })("gemini"))
    const first = await pull(adapter, asking({ tools: [counting] }))
    const call = only(first, "tool_call_completed")
    expect(only(first, "message_completed").finishReason).toBe("tool_calls")
    const { id, name, arguments: args, metadata } = call
    await pull(
      adapter,
      asking({
        tools: [counting],
        messages: [
          { role: "user", content: "count" },
          { role: "assistant", content: "", toolCalls: [{ id, name, arguments: args, metadata }] },
          { role: "tool", toolCallId: id, content: "1 2" }
        ]
      })
    )
    expect(JSON.stringify(server.bodies[1])).toContain('"thoughtSignature":"c2ln"')
    expect(JSON.stringify(server.bodies[1])).toContain('"functionResponse"')
  })

  test("hands a signed thought back to the model that had it", async () => {
    const block = (index: number, start: object, ...deltas: ReadonlyArray<object>): ReadonlyArray<unknown> => [
      { type: "content_block_start", index, content_block: start },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index }
    ]
    server = await eventServer((response) =>
      sendStream(response, [
        {
          type: "message_start",
          message: {
            id: "m",
            type: "message",
            role: "assistant",
            model: "c",
            content: [],
            usage: { input_tokens: 3, output_tokens: 1 }
          }
        },
        ...block(
          0,
          { type: "thinking", thinking: "" },
          { type: "thinking_delta", thinking: "count up" },
          { type: "signature_delta", signature: "sealed" }
        ),
        ...block(1, { type: "text", text: "" }, { type: "text_delta", text: "one" }),
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 8 } },
        { type: "message_stop" }
      ])
    )
    const adapter = aiSdk(createAnthropic({ baseURL: server.url, apiKey: "k" })("claude-sonnet-4-5"))
    const { message } = only(await pull(adapter), "message_completed")
    await pull(
      adapter,
      asking({ messages: [{ role: "user", content: "go" }, message, { role: "user", content: "on" }] })
    )
    expect(server.bodies[1]?.["messages"]).toMatchObject([
      {},
      {
        role: "assistant",
        content: [{ type: "thinking", thinking: "count up", signature: "sealed" }, { text: "one" }]
      },
      {}
    ])
  })
})

describe("a failure over HTTP", () => {
  const body = { error: { message: "slow down", type: "rate_limit", code: "rate_limited" } }

  test("before the stream opened rejects the call, with what to wait for", async () => {
    const [adapter, { bodies }] = await served((response) => {
      response.writeHead(429, { "content-type": "application/json", "retry-after": "7", "x-request-id": "q" })
      response.end(JSON.stringify(body))
    })
    await expect(pull(adapter)).rejects.toMatchObject({
      _tag: "AdapterError",
      reason: "rate_limited",
      status: 429,
      retryAfterMs: 7000,
      requestId: "q"
    })
    expect(bodies).toHaveLength(1)
  })

  test("of the connection rejects as network_error", async () => {
    const [adapter] = await served(() => {})
    await server?.stop()
    server = undefined
    await expect(pull(adapter)).rejects.toMatchObject({ _tag: "AdapterError", reason: "network_error" })
  })

  test("said inside the stream is an error event", async () => {
    const [adapter] = await served((response) => sendStream(response, [chatChunk({ content: "a" }), body]))
    const events = await pull(adapter)
    expect(tagsOf(events)).toEqual(["message_started", "text_delta", "error", "text_completed", "message_completed"])
    expect(only(events, "error").error).toMatchObject({ reason: "rate_limited" })
  })

  test("of the socket in the middle of the stream is a network_error event", async () => {
    const [adapter] = await served((response) => {
      beginStream(response)
      response.write(`data: ${JSON.stringify(chatChunk({ content: "a" }))}\n\n`, () => response.destroy())
    })
    const events = await pull(adapter)
    expect(tagsOf(events)).toEqual(["message_started", "text_delta", "error", "text_completed", "message_completed"])
    expect(only(events, "error").error).toMatchObject({ reason: "network_error" })
    expect(only(events, "message_completed").finishReason).toBe("error")
  })

  test.each([
    ["openai-compatible", (url: string) => createOpenAICompatible({ name: "local", baseURL: url })("small")],
    ["openai chat", (url: string) => createOpenAI({ baseURL: url, apiKey: "k" }).chat("small")]
  ])("by a stream of %s that just ends in a call is a malformed_response event", async (_, model) => {
    const call = { index: 0, id: "c1", type: "function", function: { name: "count", arguments: '{"to":' } }
    server = await eventServer((response) =>
      sendStream(response, [chatChunk({ content: "a" }), chatChunk({ tool_calls: [call] })])
    )
    const events = await pull(aiSdk(model(server.url)))
    expect(only(events, "error").error).toMatchObject({ reason: "malformed_response" })
    expect(only(events, "message_completed")).toMatchObject({ finishReason: "error", message: { content: "a" } })
  })

  test("of one line that is not JSON leaves the other lines readable", async () => {
    const [adapter] = await served((response) =>
      sendStream(response, [chatChunk({ content: "a" }), "{oops", chatChunk({ content: "b" }, "stop")])
    )
    const events = await pull(adapter)
    expect(only(events, "text_completed").text).toBe("ab")
    expect(only(events, "error").error).toMatchObject({ reason: "malformed_response" })
  })
})

describe("a chat over HTTP", () => {
  const call = { index: 0, id: "c1", type: "function", function: { name: "count", arguments: '{"to":2}' } }
  const count = tool({
    name: "count",
    parameters: counting.schema,
    execute: ({ to }) => `counted to ${String(to)}`
  })

  test("asks, runs the tool, hands its result back, and ends", async () => {
    const [adapter, { bodies }] = await served((response, index) =>
      sendStream(
        response,
        index === 0
          ? [chatChunk({ tool_calls: [call] }), chatChunk({}, "tool_calls"), "[DONE]"]
          : [chatChunk({ content: "two" }, "stop"), "[DONE]"]
      )
    )
    const result = await Chat.run(Engine.make({ adapter, tools: [count] }), [Message.user("count")], {
      providerOptions: { seed: 7, user: "someone" }
    })
    expect(result).toMatchObject({ haltedReason: "completed", finalResponse: { outputText: "two" } })
    expect(bodies[0]).toMatchObject({ seed: 7, user: "someone" })
    expect(bodies[1]?.["messages"]).toMatchObject([
      { role: "user" },
      { role: "assistant", tool_calls: [{ id: "c1" }] },
      { role: "tool", tool_call_id: "c1", content: "counted to 2" }
    ])
  })

  test("sends Anthropic which calls failed, and the text of a refusal", async () => {
    server = await eventServer((response) => sendStream(response, []))
    const adapter = aiSdk(createAnthropic({ baseURL: server.url, apiKey: "k" })("claude-sonnet-4-5"))
    const calls = ["1", "2", "3"].map((id) => ({ id, name: "count", arguments: {} }))
    const { messages } = await runToolCalls(
      calls,
      [
        tool({
          name: "count",
          execute: (_, { toolCall }) => (toolCall.id === "2" ? error("no fingers") : "counted")
        })
      ],
      { permissions: { ask: ({ toolCall }) => (toolCall.id === "3" ? "deny" : "allow") } }
    )
    await pull(
      adapter,
      asking({ messages: [Message.user("count"), { role: "assistant", content: "", toolCalls: calls }, ...messages] })
    ).catch(() => [])
    const said: unknown = server.bodies[0]?.["messages"]
    expect(Array.isArray(said) && said[2]).toMatchObject({
      content: [
        { type: "tool_result", tool_use_id: "1", content: "counted" },
        { type: "tool_result", tool_use_id: "2", content: "Error: no fingers", is_error: true },
        { type: "tool_result", tool_use_id: "3", content: "count was not allowed to run" }
      ]
    })
    expect(Array.isArray(said) && said[2].content[0]).not.toHaveProperty("is_error")
  })

  test("that is left closes the provider's connection", async () => {
    const [adapter, { closed }] = await served((response) => {
      beginStream(response)
      sendEvent(response, chatChunk({ content: "a" }))
    })
    for await (const event of await Chat.stream(Engine.make({ adapter }), [Message.user("go")])) {
      if (event.type === "text_delta") break
    }
    await expect(closed(0)).resolves.toBeUndefined()
  })
})

describe("leaving a request over HTTP", () => {
  const stalling = () =>
    served((response) => {
      beginStream(response)
      sendEvent(response, chatChunk({ content: "a" }))
    })

  test("by the signal closes the server's connection and ends the sequence", async () => {
    const [adapter, { closed }] = await stalling()
    const stop = new AbortController()
    const tags: Array<string> = []
    for await (const event of Adapter.eventsOf(
      await adapter.stream(asking(), adapterOptions({ signal: stop.signal }))
    )) {
      tags.push(event.type)
      if (event.type === "text_delta") stop.abort()
    }
    await closed(0)
    expect(tags).toEqual(["message_started", "text_delta"])
  })

  test("by return, while a read is pending, closes the server's connection", async () => {
    const [adapter, { closed }] = await stalling()
    const events = (await adapter.stream(asking(), adapterOptions()))[Symbol.asyncIterator]()
    await events.next()
    await events.next()
    const pending = events.next()
    await events.return?.()
    expect((await pending).done).toBe(true)
    await closed(0)
  })

  test("before it was answered closes the server's connection and yields nothing", async () => {
    const stop = new AbortController()
    const [adapter, { closed }] = await served(() => stop.abort())
    expect(await pull(adapter, asking(), adapterOptions({ signal: stop.signal }))).toEqual([])
    await closed(0)
  })
})

describe("MODEL1 what is no model is refused where it is passed, and the error says what to pass", () => {
  test.each(["openai/gpt-5.5", "", undefined, null, 7, {}])("aiSdk(%j)", (model) => {
    const make = () => aiSdk(model as never)
    expect(make).toThrow(ValidationError)
    expect(make).toThrow('model: must_be_a_model_object of an AI SDK provider, as openai("gpt-5.5")')
  })

  test("a bare model as an engine's adapter", () => {
    const model = createOpenAI({ apiKey: "none" })("gpt-5.5")
    expect(() => Engine.make({ adapter: model as never })).toThrow(
      'write aiSdk(model), with import { aiSdk } from "@troupe/providers"'
    )
  })
})

test("unknown and invalid options are refused by name", () => {
  const model = createOpenAICompatible({ name: "local", baseURL: "http://localhost:1" })("small")
  const refusal = (options: unknown) => {
    try {
      aiSdk(model, options as never)
    } catch (thrown) {
      return thrown instanceof ValidationError ? thrown.errors.map(({ field }) => field.join(".")) : thrown
    }
    return "nothing"
  }
  expect(refusal({ providerNamess: [], temperature: 1, name: 5, toolFiles: "image/*" })).toEqual([
    "providerNamess",
    "temperature",
    "name",
    "toolFiles"
  ])
  expect(refusal(5)).toEqual([""])
  expect(() => aiSdk(model, { temperature: 1 } as never)).toThrow(/use providerOptions of a call/)
  expect(refusal({ name: undefined, providerNames: ["acme"] })).toBe("nothing")
})
