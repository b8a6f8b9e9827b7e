import { Fake, tool } from "@troupe/chat"
import OpenAI from "openai"
import { describe, expect, it } from "vitest"
import { type HandModel, handModel } from "../double/handModel.ts"
import { framesIn, type Served, served, until } from "../double/served.ts"
import { serving } from "../double/serving.ts"

type StreamEvent = OpenAI.Responses.ResponseStreamEvent

const clientOf = (url: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey: "key", maxRetries: 0 })

const all = async (stream: AsyncIterable<StreamEvent>): Promise<ReadonlyArray<StreamEvent>> => {
  const events: Array<StreamEvent> = []
  for await (const event of stream) events.push(event)
  return events
}

const textOf = (events: ReadonlyArray<StreamEvent>): string =>
  events.map((event) => (event.type === "response.output_text.delta" ? event.delta : "")).join("")

const hello = () => Fake.make({ script: [{ text: "Hel" }, { text: "lo" }, { finish: "stop" }] })

describe("a response that is streamed again", () => {
  it("RESPSEQ1. numbers each event by its place, a fragment by its last character", async () => {
    const { url } = await serving({ adapter: hello() })
    const client = clientOf(url)
    const events = await all(await client.responses.create({ model: "troupe", input: "Hi", stream: true }))
    const numbers = events.map(({ sequence_number }) => sequence_number)
    expect(numbers.toSorted((one, other) => one - other)).toEqual(numbers)
    expect(new Set(numbers).size).toBe(numbers.length)
    const [first] = events
    if (first?.type !== "response.created") throw new Error("the first event is another")
    const again = await all(await client.responses.retrieve(first.response.id, { stream: true }))
    expect(textOf(again)).toBe("Hello")
    expect(again.at(-1)).toEqual(events.at(-1))
  })

  it("RESPSEQ2. goes on after the number that the client has, also within a fragment", async () => {
    const { url } = await serving({ adapter: hello() })
    const client = clientOf(url)
    const events = await all(await client.responses.create({ model: "troupe", input: "Hi", stream: true }))
    const [first] = events
    if (first?.type !== "response.created") throw new Error("the first event is another")
    const whole = events.findLast(({ type }) => type === "response.output_text.delta")?.sequence_number ?? 0
    for (const [left, text] of ["", "o", "lo", "llo", "ello", "Hello"].entries()) {
      const rest = await client.responses.retrieve(first.response.id, { stream: true, starting_after: whole - left })
      expect(textOf(await all(rest))).toBe(text)
    }
    const last = events.at(-1)?.sequence_number ?? 0
    const nothing = await client.responses.retrieve(first.response.id, { stream: true, starting_after: last })
    expect(await all(nothing)).toEqual([])
  })

  it("follows a response in background from its beginning to its end", async () => {
    const model = handModel()
    const { url } = await serving({ adapter: model.adapter })
    const client = clientOf(url)
    const { id } = await client.responses.create({ model: "troupe", input: "Hi", background: true })
    await model.whenOpened(1)
    model.text("Once ")
    const stream = await client.responses.retrieve(id, { stream: true })
    model.text("upon")
    model.finish("stop", "Once upon")
    const events = await all(stream)
    expect(textOf(events)).toBe("Once upon")
    expect(events[0]).toMatchObject({ type: "response.created", response: { id, status: "in_progress" } })
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { status: "completed" } })
  })

  it("RESPITEM1. has the step before a decision, while the turn behind that decision runs", async () => {
    const model = handModel()
    const toolCall = { id: "p0", name: "pay", arguments: {}, rawArguments: "{}" }
    const { ask } = await served({
      adapter: model.adapter,
      tools: [tool({ name: "pay", execute: () => "paid" })],
      permissions: { ask: () => "suspend" }
    })
    const begun = ask("POST", "/v1/responses", { model: "troupe", input: "Pay" }, { "x-troupe-chat": "c" })
    await model.whenOpened(1)
    model.text("Let me pay. ")
    model.say({ type: "tool_call_completed", ...toolCall })
    const message = { role: "assistant" as const, content: "Let me pay. ", toolCalls: [toolCall] }
    model.say({ type: "message_completed", message, finishReason: "tool_calls" })
    model.end()
    expect((await begun).status).toBe(409)
    const page = await ask("GET", "/v1/conversations/c/items?order=asc")
    const [{ id: asked } = { id: "" }] = ((await page.json()) as { readonly data: ReadonlyArray<{ id: string }> }).data
    const id = asked.replace(/^msg_(?<key>[\w-]+)\.0$/u, "resp_$<key>")
    await ask("POST", "/chats/c/approvals/p0", { type: "allow" })
    await model.whenOpened(2)
    const stream = await ask("GET", `/v1/responses/${id}?stream=true`)
    model.finish("stop", "Done.")
    const events = framesIn(await stream.text()).map(({ json }) => json as StreamEvent)
    expect(textOf(events)).toBe("Let me pay. Done.")
    const last = events.at(-1)
    if (last?.type !== "response.completed") throw new Error("the last event is another")
    const done = events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item] : []))
    expect(last.response.output).toEqual(done)
  })

  it.each(["-1", "x", "1.5"])("refuses starting_after=%s", async (after) => {
    const { url } = await serving({ adapter: hello() })
    const { id } = await clientOf(url).responses.create({ model: "troupe", input: "Hi" })
    const response = await fetch(`${url}/v1/responses/${id}?stream=true&starting_after=${after}`)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { type: "invalid_request_error", code: "invalid_input", param: "starting_after" }
    })
  })
})

describe("FOLLOWTURN4. a turn that ends after it was asked for, and before it is read", () => {
  const ended = async (path: (ask: Served["ask"], model: HandModel) => Promise<string>): Promise<string> => {
    const model = handModel()
    const { ask, troupe } = await served({ adapter: model.adapter })
    const stream = await ask("GET", await path(ask, model))
    model.finish("stop", "Once")
    const [summary] = (await troupe.list()).chats
    const chat = await troupe.chat(summary?.id ?? "")
    await until(() => chat.getSnapshot()?.context.phase === "idle")
    return stream.text()
  }

  it("gives its end to a client of the AI SDK", async () => {
    const text = await ended(async (ask, model) => {
      await ask("POST", "/chats/c/messages", { input: "Hi" })
      await model.whenOpened(1)
      return "/api/chat/c/stream"
    })
    expect(text).toContain('"type":"finish"')
  })

  it("gives its end to a client of OpenAI's responses", async () => {
    const text = await ended(async (ask, model) => {
      const response = await ask("POST", "/v1/responses", { model: "troupe", input: "Hi", background: true })
      await model.whenOpened(1)
      return `/v1/responses/${((await response.json()) as { readonly id: string }).id}?stream=true`
    })
    expect(text).toContain("event: response.completed")
  })
})
