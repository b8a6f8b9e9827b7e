/** A stream whose reply cannot become whole any more, from a server that sends on and on. */
import { createAnthropic } from "@ai-sdk/anthropic"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import type { LanguageModelV4 } from "@ai-sdk/provider"
import { Chat, Engine, tool } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { afterEach, describe, expect, test } from "vitest"
import { z } from "zod"
import { aiSdk } from "../../src/aiSdk/AiSdk.ts"
import {
  beginStream,
  chatChunk,
  type EventServer,
  eventServer,
  sendEvent,
  sendStream
} from "../loopback/eventServer.ts"

const servers: Array<EventServer> = []
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())))

/** Sends `first`, then `next` until the client closes the request; the second request gets `last`. */
const endless = async (first: ReadonlyArray<unknown>, next: unknown, last: ReadonlyArray<unknown>) => {
  const forever = async (response: ServerResponse): Promise<void> => {
    beginStream(response)
    for (const event of first) sendEvent(response, event)
    while (!response.destroyed) {
      sendEvent(response, next)
      if (response.writableNeedDrain) await Promise.race([once(response, "drain"), once(response, "close")])
    }
  }
  const server = await eventServer((response, index) => (index === 0 ? forever(response) : sendStream(response, last)))
  servers.push(server)
  return server
}

const ran: Array<unknown> = []
afterEach(() => ran.splice(0))
const save = tool({
  name: "save",
  description: "Saves a text",
  parameters: z.object({ text: z.string() }),
  execute: ({ text }) => `${ran.push(text)} saved`
})

const run = (model: LanguageModelV4, more: { readonly streamIdleTimeoutMs?: number } = {}) =>
  Chat.run(Engine.make({ adapter: aiSdk(model), tools: [save] }), [Message.user("save it")], {
    maxToolArgumentCharacters: 5_000,
    ...more
  })

const chatModel = ({ url }: EventServer) => createOpenAICompatible({ name: "local", baseURL: url })("small")
const openAi = ({ url }: EventServer) => createOpenAI({ apiKey: "none", baseURL: url }).chat("small")
const claude = ({ url }: EventServer) => createAnthropic({ apiKey: "none", baseURL: url })("claude-small")

const call = (index: number, more: object) => chatChunk({ tool_calls: [{ index, type: "function", ...more }] })
const fragment = (index: number, text: string) => ({ index, function: { arguments: text } })
const answer = [chatChunk({ content: "Done." }), chatChunk({}, "stop"), "[DONE]"]

describe("PART10. arguments beyond `maxToolArgumentCharacters`", () => {
  test.each([
    ["openai-compatible", chatModel],
    ["openai", openAi]
  ])("close the request of %s, and the model reads the bound; an earlier call runs", async (_, modelOf) => {
    const server = await endless(
      [
        call(0, { id: "c1", function: { name: "save", arguments: '{"text":"first"}' } }),
        call(1, { id: "c2", function: { name: "save", arguments: '{"text":"' } })
      ],
      call(1, fragment(1, "x".repeat(1_000))),
      answer
    )
    const { thread, haltedReason, finalResponse } = await run(modelOf(server))
    await server.closed(0)
    expect(haltedReason).toBe("completed")
    expect(finalResponse?.outputText).toBe("Done.")
    expect(ran).toEqual(["first"])
    expect(thread.messages.slice(1, 4)).toMatchObject([
      { toolCalls: [{ id: "c1" }, { id: "c2", arguments: null }] },
      { outcome: "completed" },
      { outcome: "invalid", content: expect.stringContaining("at most 5000 are allowed") }
    ])
  })

  test("close the request of anthropic; the signed reasoning is repeated, and the usage so far counts", async () => {
    const block = (index: number, content_block: object) => ({ type: "content_block_start", index, content_block })
    const delta = (index: number, given: object) => ({ type: "content_block_delta", index, delta: given })
    const started = {
      type: "message_start",
      message: { id: "m", model: "c", role: "assistant", content: [], usage: { input_tokens: 70, output_tokens: 1 } }
    }
    const text = [
      { ...started },
      block(0, { type: "text", text: "" }),
      delta(0, { type: "text_delta", text: "Done." }),
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
      { type: "message_stop" }
    ]
    const server = await endless(
      [
        started,
        block(0, { type: "thinking", thinking: "" }),
        delta(0, { type: "thinking_delta", thinking: "Hm." }),
        delta(0, { type: "signature_delta", signature: "signed" }),
        { type: "content_block_stop", index: 0 },
        block(1, { type: "tool_use", id: "c1", name: "save", input: {} })
      ],
      delta(1, { type: "input_json_delta", partial_json: "\n".repeat(1_000) }),
      text
    )
    const { usage, finalResponse } = await run(claude(server))
    await server.closed(0)
    expect(finalResponse?.outputText).toBe("Done.")
    expect(JSON.stringify(server.bodies[1])).toContain('"signature":"signed"')
    expect(usage).toMatchObject({ inputTokens: 140 })
    expect(ran).toEqual([])
  })

  test("a call that has no arguments yet when another is too large does not run", async () => {
    const server = await endless(
      [
        call(0, { id: "c1", function: { name: "save", arguments: "" } }),
        call(1, { id: "c2", function: { name: "save", arguments: '{"text":"' } })
      ],
      call(1, fragment(1, "x".repeat(1_000))),
      answer
    )
    const { thread } = await run(openAi(server))
    await server.closed(0)
    expect(thread.messages.slice(2, 4)).toMatchObject([
      { outcome: "invalid", content: expect.stringContaining("ended before the call had all of its arguments") },
      { outcome: "invalid" }
    ])
  })
})

describe("ASRC9. a reply that has failed, whose provider goes on", () => {
  const begun = [chatChunk({ content: "Let me" })]

  test.each([
    ["a part of a call whose beginning was lost", call(0, fragment(0, "x")), openAi],
    ["a frame that is no JSON", '{"choices":[{"del', chatModel],
    ["an error in the middle", { error: { message: "overloaded" } }, openAi]
  ])("%s closes the request, and keeps the text", async (_, fault, modelOf) => {
    const server = await endless([...begun, fault], chatChunk({ content: " more" }), answer)
    const { haltedReason, thread } = await run(modelOf(server))
    await server.closed(0)
    expect(haltedReason).toBe("error")
    expect(server.bodies).toHaveLength(1)
    expect(JSON.stringify(thread)).toContain("Let me")
  })

  test("parts of a call whose name was lost reach no reader: the time limit of a silent stream closes the request", async () => {
    const server = await endless(begun, call(0, { id: "c1", ...fragment(0, "x") }), answer)
    const { haltedReason, thread } = await run(chatModel(server), { streamIdleTimeoutMs: 200 })
    await server.closed(0)
    expect(haltedReason).toBe("error")
    expect(JSON.stringify(thread)).toContain("Let me")
  })

  test("the usage that follows a failure still counts", async () => {
    const server = await eventServer((response) =>
      sendStream(response, [
        ...begun,
        { error: { message: "overloaded" } },
        chatChunk({}, "stop", { usage: { prompt_tokens: 30, completion_tokens: 2, total_tokens: 32 } }),
        "[DONE]"
      ])
    )
    servers.push(server)
    const { usage, haltedReason } = await run(openAi(server))
    expect(haltedReason).toBe("error")
    expect(usage).toMatchObject({ inputTokens: 30 })
  })
})
