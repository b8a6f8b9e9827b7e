import { createGoogle } from "@ai-sdk/google"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { Chat, Engine, tool } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { isStepCount, jsonSchema, streamText, tool as aiTool } from "ai"
import { afterEach, describe, expect, test } from "vitest"
import { aiSdk, type AiSdkModel } from "../../src/aiSdk/AiSdk.ts"
import { chatChunk, type EventServer, eventServer, sendStream } from "../loopback/eventServer.ts"

let server: EventServer | undefined

afterEach(async () => {
  await server?.stop()
  server = undefined
})

/** A server whose first reply is this one; every later reply ends the turn. */
const serving = async (reply: ReadonlyArray<unknown>, closing: ReadonlyArray<unknown>): Promise<string> => {
  server = await eventServer((response, index) => sendStream(response, index === 0 ? reply : closing))
  return server.url
}

const input = { type: "object", properties: { to: { type: "number" } } } as const

/** What our loop makes of the server: the runs of the tool, and the result. */
const ours = async (model: AiSdkModel) => {
  const runs: Array<unknown> = []
  const count = tool({ name: "count", jsonSchema: input, execute: (args) => (runs.push(args), "1 2 3") })
  const result = await Chat.run(Engine.make({ adapter: aiSdk(model), tools: [count] }), [Message.user("Count")])
  return { runs, result, first: result.steps[0]?.response }
}

/** What the loop of the AI SDK makes of the server. */
const theirs = async (model: AiSdkModel) => {
  const runs: Array<unknown> = []
  const count = aiTool({ inputSchema: jsonSchema(input), execute: (args) => (runs.push(args), "1 2 3") })
  const reply = streamText({ model, prompt: "Count", stopWhen: isStepCount(3), tools: { count }, onError: () => {} })
  let text = ""
  for await (const part of reply.textStream) text += part
  return { runs, text }
}

const chatCall = (args: string, reason: string | null = null) =>
  chatChunk(
    { tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "count", arguments: args } }] },
    reason
  )
const chatEnd = [chatChunk({ content: "Done." }), chatChunk({}, "stop"), "[DONE]"]
const geminiEnd = [{ candidates: [{ content: { role: "model", parts: [{ text: "Done." }] }, finishReason: "STOP" }] }]
const geminiCall = (finishReason?: string) => ({
  candidates: [
    {
      content: { role: "model", parts: [{ functionCall: { name: "count", args: { to: 3 } } }] },
      ...(finishReason === undefined ? {} : { finishReason })
    }
  ]
})

const packages = [
  ["openai-compatible", (baseURL: string) => createOpenAICompatible({ name: "local", baseURL })("small")],
  ["openai", (baseURL: string) => createOpenAI({ baseURL, apiKey: "k" }).chat("small")]
] as const
const gemini = (baseURL: string) => createGoogle({ baseURL, apiKey: "k" })("gemini")
const whole = '{"to":3}'

describe.each(packages)("PART4. A complete call that comes through %s", (_, modelAt) => {
  test.each([
    ["stop in a chunk behind it (LiteLLM)", [chatCall(whole), chatChunk({}, "stop"), "[DONE]"]],
    ["stop in its own chunk (Ollama)", [chatCall(whole, "stop"), "[DONE]"]]
  ])("is executed with the finish reason %s, as the AI SDK does", async (__, reply) => {
    const { runs, result, first } = await ours(modelAt(await serving(reply, chatEnd)))
    expect(runs).toEqual([{ to: 3 }])
    expect(result).toMatchObject({ haltedReason: "completed", finalResponse: { outputText: "Done." } })
    expect(first).toMatchObject({ finishReason: "tool_calls", rawFinishReason: "stop" })
    await server?.stop()
    expect(await theirs(modelAt(await serving(reply, chatEnd)))).toEqual({ runs, text: "Done." })
  })

  test.each([
    ["an unknown word", [chatCall(whole), chatChunk({}, "eos"), "[DONE]"], "eos"],
    ["an empty word", [chatCall(whole), chatChunk({}, ""), "[DONE]"], ""],
    ["none", [chatCall(whole), chatChunk({}), "[DONE]"], undefined],
    ["none, and no end of the stream", [chatCall(whole)], undefined]
  ])("is executed with the finish reason %s", async (__, reply, raw) => {
    const { runs, result, first } = await ours(modelAt(await serving(reply, chatEnd)))
    expect(runs).toEqual([{ to: 3 }])
    expect(result).toMatchObject({ haltedReason: "completed", finalResponse: { outputText: "Done." } })
    expect([first?.finishReason, first?.rawFinishReason]).toEqual(["tool_calls", raw])
  })

  test.each(["length", "content_filter"])("is not executed with the finish reason %s", async (reason) => {
    const { runs, first } = await ours(modelAt(await serving([chatCall(whole), chatChunk({}, reason)], chatEnd)))
    expect(runs).toEqual([])
    expect(first?.finishReason).toBe(reason)
  })

  test("is not executed where its arguments were cut off: the model reads it, or the reply has failed", async () => {
    const cut = [chatCall('{"to":'), chatChunk({}, "stop"), "[DONE]"]
    const { runs, result } = await ours(modelAt(await serving(cut, chatEnd)))
    expect(runs).toEqual([])
    expect(result.thread.messages.find(({ role }) => role === "tool")).toMatchObject({ outcome: "invalid" })
    expect(result.finalResponse?.outputText).toBe("Done.")
    await server?.stop()
    const failed = await ours(modelAt(await serving([chatCall('{"to":')], chatEnd)))
    expect(failed.runs).toEqual([])
    expect(failed.result).toMatchObject({
      haltedReason: "error",
      metadata: { error: { reason: "malformed_response" } }
    })
  })
})

describe("PART4. A complete call that comes through google", () => {
  test("is executed with the finish reason STOP, as the AI SDK does", async () => {
    const { runs, first } = await ours(gemini(await serving([geminiCall("STOP")], geminiEnd)))
    expect(runs).toEqual([{ to: 3 }])
    expect(first).toMatchObject({ finishReason: "tool_calls", rawFinishReason: "STOP" })
    await server?.stop()
    expect(await theirs(gemini(await serving([geminiCall("STOP")], geminiEnd)))).toEqual({ runs, text: "Done." })
  })

  test.each([["OTHER"], ["A_NEW_REASON"], [undefined]])("is executed with the finish reason %s", async (reason) => {
    const { runs, result, first } = await ours(gemini(await serving([geminiCall(reason)], geminiEnd)))
    expect(runs).toEqual([{ to: 3 }])
    expect(result.finalResponse?.outputText).toBe("Done.")
    expect([first?.finishReason, first?.rawFinishReason]).toEqual(["tool_calls", reason])
  })
})

describe.each(packages)("PART4. A text without a finish reason that comes through %s", (_, modelAt) => {
  test.each([
    ["behind [DONE]", [chatChunk({ content: "Hello" }), chatChunk({ content: " you" }), "[DONE]"]],
    [
      "behind a chunk of usage",
      [chatChunk({ content: "Hello you" }), { choices: [], usage: { prompt_tokens: 1 } }, "[DONE]"]
    ]
  ])("is whole at the end of the stream %s, and has a warning", async (__, reply) => {
    const { result, first } = await ours(modelAt(await serving(reply, chatEnd)))
    expect(result).toMatchObject({ haltedReason: "completed", finalResponse: { outputText: "Hello you" } })
    const warnings = [{ type: "other", message: expect.stringContaining("no finish reason") }]
    expect(first).toMatchObject({ finishReason: "other", metadata: { warnings } })
    expect(first?.rawFinishReason).toBeUndefined()
  })

  test.each([
    ["is blank", [chatChunk({ content: " \n" }), "[DONE]"]],
    ["is followed by a part of a call", [chatChunk({ content: "I count" }), chatCall('{"to":'), "[DONE]"]]
  ])("is an error when it %s", async (__, reply) => {
    const { result } = await ours(modelAt(await serving(reply, chatEnd)))
    expect(result.haltedReason).toBe("error")
  })

  test("is an error when the connection breaks", async () => {
    server = await eventServer((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(`data: ${JSON.stringify(chatChunk({ content: "Hello" }))}\n\n`, () => response.destroy())
    })
    expect((await ours(modelAt(server.url))).result).toMatchObject({ haltedReason: "error" })
  })
})
