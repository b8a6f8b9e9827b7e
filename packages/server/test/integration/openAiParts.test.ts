import { createOpenAI } from "@ai-sdk/openai"
import { Fake } from "@troupe/chat"
import type { AdapterEvent } from "@troupe/chat/events"
import type { Adapter, Request } from "@troupe/chat/models"
import { generateText, streamText } from "ai"
import OpenAI from "openai"
import { describe, expect, it } from "vitest"
import { serving } from "../double/serving.ts"

const clientOf = (url: string, headers: Record<string, string> = {}) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: "key", maxRetries: 0, defaultHeaders: headers })

const base64 = "iVBORw0KGgo="
const png = { type: "file", file: { base64 }, mediaType: "image/png" } as const
const tides = { type: "source", id: "s0", source: { url: "https://example.org/tides" }, title: "Tides" } as const
const report = { type: "source", id: "s1", source: { mediaType: "application/pdf", filename: "a.pdf" } } as const
const search = { type: "provider_tool_call", id: "p0", name: "web_search", arguments: { query: "tides" } } as const
const found = { type: "provider_tool_result", toolCallId: "p0", name: "web_search", result: [{ hits: 2 }] } as const
const failed = { ...found, result: "too many", isError: true } as const
const lone = { ...found, toolCallId: "p9", result: "late" } as const

type Part = NonNullable<Extract<AdapterEvent, { type: "message_completed" }>["message"]["parts"]>[number]

/** A model whose replies have these parts; the fragments have only the reasoning and the text. */
const replying = (...replies: ReadonlyArray<ReadonlyArray<Part>>): Adapter.Adapter & { requests: Array<Request> } => {
  const requests: Array<Request> = []
  return {
    name: "parts",
    requests,
    stream: async function* (request): AsyncGenerator<AdapterEvent> {
      const parts = replies[Math.min(requests.push(request), replies.length) - 1] ?? []
      const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
      yield { type: "message_started", message: { role: "assistant", content: "" } }
      for (const [at, part] of parts.entries()) {
        if (part.type === "reasoning") yield { type: "reasoning_delta", id: `r${at}`, delta: part.text }
        if (part.type === "text") yield { type: "text_delta", id: `t${at}`, delta: part.text }
      }
      if (text !== "") yield { type: "text_completed", id: null, text }
      yield { type: "message_completed", message: { role: "assistant", content: text, parts }, finishReason: "stop" }
    }
  }
}

const text = (said: string) => ({ type: "text", text: said }) as const
const thought = { type: "reasoning", text: "Let me see" } as const
const all = [thought, search, found, text("High "), tides, text("water"), report, png] as const

const url = { type: "url_citation", url: "https://example.org/tides", title: "Tides", start_index: 5, end_index: 5 }

describe("a response", () => {
  it("RESPITEM3. has the sources of a reply, its images and the calls that the provider ran", async () => {
    const { url: at } = await serving({ adapter: replying(all) })
    const client = clientOf(at)
    const response = await client.responses.create({ model: "troupe", input: "Tides?" })
    expect(response.output).toMatchObject([
      { type: "reasoning", summary: [{ text: "Let me see" }] },
      {
        type: "message",
        status: "completed",
        content: [
          {
            type: "output_text",
            text: "High water",
            annotations: [url, { type: "file_citation", file_id: "s1", filename: "a.pdf", index: 10 }]
          }
        ]
      },
      {
        type: "mcp_call",
        server_label: "provider",
        name: "web_search",
        arguments: '{"query":"tides"}',
        status: "completed",
        output: '[{"hits":2}]',
        error: null
      },
      { type: "image_generation_call", status: "completed", result: base64, output_format: "png" }
    ])
    expect((await client.responses.retrieve(response.id)).output).toEqual(response.output)
  })

  it("RESPITEM1. streams them as events that add up, and again from any number", async () => {
    const { url: at } = await serving({ adapter: replying(all) })
    const client = clientOf(at)
    const events: Array<OpenAI.Responses.ResponseStreamEvent> = []
    for await (const event of await client.responses.create({ model: "troupe", input: "Tides?", stream: true })) {
      events.push(event)
    }
    const last = events.at(-1)
    if (last?.type !== "response.completed") throw new Error("the response did not complete")
    const done = events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item] : []))
    expect(done).toEqual(last.response.output)
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        "response.output_text.annotation.added",
        "response.mcp_call.in_progress",
        "response.mcp_call_arguments.done",
        "response.mcp_call.completed",
        "response.image_generation_call.completed"
      ])
    )
    const whole = await client.responses.stream({ model: "troupe", input: "Tides?" }).finalResponse()
    expect(whole.output.map(({ type }) => type)).toEqual(done.map(({ type }) => type))
    for (const after of events.keys()) {
      const known = events[after]
      if (known === undefined || known === last) continue
      const again: Array<unknown> = []
      const query = { stream: true, starting_after: known.sequence_number } as const
      for await (const event of await client.responses.retrieve(last.response.id, query)) {
        again.push([event.type, event.sequence_number])
      }
      expect(again).toEqual(events.slice(after + 1).map(({ type, sequence_number }) => [type, sequence_number]))
    }
  })

  it("RESPITEM3. gives sources without a text an empty one, and a result without its call a call", async () => {
    const { url: at } = await serving({ adapter: replying([search, failed, { ...search, id: "p1" }, lone, tides]) })
    const client = clientOf(at)
    const response = await client.responses.create({ model: "troupe", input: "Tides?" })
    expect(response.output).toMatchObject([
      { type: "message", content: [{ text: "", annotations: [{ start_index: 0 }] }] },
      { type: "mcp_call", status: "failed", output: null, error: { content: "too many" } },
      { type: "mcp_call", status: "incomplete", output: null, error: null },
      { type: "mcp_call", status: "completed", arguments: "{}", output: "late" }
    ])
    expect((await client.responses.retrieve(response.id)).output).toEqual(response.output)
  })

  it("RESPRUN2. takes its own output back as the thread of a response that is not stored", async () => {
    const adapter = replying(all, [text("Fine")])
    const { url: at } = await serving({ adapter })
    const client = clientOf(at)
    const asked = { role: "user", content: "Tides?" } as const
    const { output } = await client.responses.create({ model: "troupe", input: [asked], store: false })
    const input = [asked, ...output, { role: "user", content: "And?" } as const]
    const next = await client.responses.create({
      model: "troupe",
      input: input as OpenAI.Responses.ResponseInput,
      store: false
    })
    expect(next.output_text).toBe("Fine")
    expect(adapter.requests[1]?.messages).toMatchObject([
      { role: "user", content: "Tides?" },
      {
        role: "assistant",
        content: "High water",
        parts: [
          { type: "text", text: "High water" },
          { type: "image", image: { base64, mediaType: "image/png" } }
        ]
      },
      { role: "user", content: "And?" }
    ])
  })

  it("shows the AI SDK the sources and the calls that the provider ran", async () => {
    const { url: at } = await serving({ adapter: replying(all) })
    const model = createOpenAI({ baseURL: `${at}/v1`, apiKey: "key" })("troupe")
    const whole = await generateText({ model, prompt: "Tides?" })
    const streamed = streamText({ model, prompt: "Tides?" })
    await streamed.consumeStream()
    for (const { text: said, sources, toolResults } of [
      whole,
      { text: await streamed.text, sources: await streamed.sources, toolResults: await streamed.toolResults }
    ]) {
      expect(said).toBe("High water")
      expect(sources).toMatchObject([{ url: "https://example.org/tides", title: "Tides" }, { filename: "a.pdf" }])
      expect(toolResults.map(({ toolName }) => toolName)).toContain("mcp.web_search")
    }
  })
})

describe("a completion", () => {
  it("OPENAI3. has the reasoning, the pages that are sources, and the images", async () => {
    const { url: at } = await serving({ adapter: replying(all) })
    const { completions } = clientOf(at).chat
    const request = { model: "troupe", messages: [{ role: "user" as const, content: "Tides?" }] }
    const whole = (await completions.create(request)).choices[0]?.message
    const { type: _, ...url_citation } = url
    const more = {
      reasoning_content: "Let me see",
      annotations: [{ type: "url_citation", url_citation }],
      images: [{ type: "image_url", image_url: { url: `data:image/png;base64,${base64}` } }]
    }
    expect(whole).toMatchObject({ content: "High water", ...more })
    const deltas: Array<object> = []
    for await (const { choices } of await completions.create({ ...request, stream: true })) {
      if (choices[0] !== undefined) deltas.push(choices[0].delta)
    }
    for (const [name, value] of Object.entries(more)) expect(deltas).toContainEqual({ [name]: value })
  })

  it("OPENAI3. takes reasoning and images of an earlier answer back", async () => {
    const adapter = replying([text("Fine")])
    const { url: at } = await serving({ adapter })
    const answer = {
      role: "assistant",
      content: "High water",
      reasoning_content: "Let me see",
      images: [{ type: "image_url", image_url: { url: `data:image/png;base64,${base64}` } }]
    } as const
    const messages = [{ role: "user", content: "Tides?" }, answer, { role: "user", content: "And?" }] as const
    await clientOf(at).chat.completions.create({ model: "troupe", messages: [...messages] })
    expect(adapter.requests[0]?.messages[1]).toMatchObject({
      parts: [
        { type: "reasoning", text: "Let me see" },
        { type: "text", text: "High water" },
        { type: "image", image: { base64, mediaType: "image/png" } }
      ]
    })
  })
})

describe("the tools of a client", () => {
  const parameters = { type: "object", properties: {}, additionalProperties: false }

  it.each([true, false])("reach the model with strict: %s, one call in a message", async (strict) => {
    const adapter = Fake.make({ respond: () => [{ text: "Fine" }, { finish: "stop" }] })
    const { url: at } = await serving({ adapter })
    const client = clientOf(at)
    const tool = { name: "where", parameters, strict }
    const response = await client.responses.create({
      model: "troupe",
      input: "Where?",
      tools: [{ type: "function", ...tool }],
      parallel_tool_calls: false
    })
    expect(response.parallel_tool_calls).toBe(false)
    await client.chat.completions.create({
      model: "troupe",
      messages: [{ role: "user", content: "Where?" }],
      tools: [{ type: "function", function: tool }],
      parallel_tool_calls: false
    })
    expect(adapter.requests).toMatchObject(
      Array.from({ length: 2 }, () => ({
        tools: [{ name: "where", metadata: { strict } }],
        options: { parallelToolCalls: false }
      }))
    )
  })
})
