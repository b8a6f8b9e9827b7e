import { Fake, tool, Troupe } from "@troupe/chat"
import { Store } from "@troupe/chat/store"
import type { AdapterEvent } from "@troupe/chat/events"
import type { Adapter, Response as Reply } from "@troupe/chat/models"
import type { UIMessage } from "ai"
import { describe, expect, it } from "vitest"
import { handModel } from "../double/handModel.ts"
import { serving } from "../double/serving.ts"
import { chunksOf, kept, messageOf } from "../double/uiClient.ts"

const said = (id: string, text = "Hi") => ({ id, role: "user", parts: [{ type: "text", text }] })

/** The last event of a model that reports its name and its usage. */
const completed = (finishReason: NonNullable<Reply["finishReason"]>, outputTokens: number): AdapterEvent => ({
  type: "message_completed",
  message: { role: "assistant", content: "" },
  finishReason,
  usage: { inputTokens: 10, outputTokens, extra: { own: true } },
  metadata: { model: "north-1" }
})

const usage = (inputTokens: number, outputTokens: number) => ({
  inputTokens,
  outputTokens,
  totalTokens: inputTokens + outputTokens
})

/** A model that calls `pay`, and then answers. */
const paying: Adapter.Adapter = {
  name: "paying",
  stream: async function* ({ messages }): AsyncGenerator<AdapterEvent> {
    yield { type: "message_started", message: { role: "assistant", content: "" } }
    if (messages.at(-1)?.role === "tool") {
      yield { type: "text_delta", id: null, delta: "Paid" }
      yield completed("stop", 2)
      return
    }
    yield { type: "tool_call_completed", id: "c0", name: "pay", arguments: {}, rawArguments: "{}" }
    yield completed("tool_calls", 5)
  }
}

describe("the metadata of a reply", () => {
  it("UIMETA1. has times, model and usage, the same in the stream, posted again, and loaded", async () => {
    const { post, url } = await serving({ adapter: paying, tools: [tool({ name: "pay", execute: () => "paid" })] })
    const body = { id: "c", messages: [said("u1")] }
    const chunks = chunksOf(await (await post("/api/chat", body)).text())
    const message = await messageOf(chunks)
    const metadata = message?.metadata as { readonly startedAt: number; readonly endedAt: number }
    expect(metadata).toEqual({
      startedAt: expect.any(Number),
      endedAt: expect.any(Number),
      model: "north-1",
      usage: usage(20, 7)
    })
    expect(metadata.endedAt).toBeGreaterThanOrEqual(metadata.startedAt)
    expect(chunks[0]).toEqual({
      type: "start",
      messageId: "u1.reply",
      messageMetadata: { startedAt: metadata.startedAt }
    })
    expect(await messageOf(chunksOf(await (await post("/api/chat", body)).text()))).toEqual(message)
    expect((await kept(url)).at(-1)).toEqual(message)
  })

  it("UIMETA2. counts each turn of the reply once, over an approval", async () => {
    const { post, url } = await serving({
      adapter: paying,
      tools: [tool({ name: "pay", execute: () => "paid" })],
      permissions: { ask: () => "suspend" }
    })
    const asked = await messageOf(chunksOf(await (await post("/api/chat", { id: "c", messages: [said("u1")] })).text()))
    expect(asked?.metadata).toMatchObject({ usage: usage(10, 5) })
    const approved = JSON.parse(JSON.stringify(asked)) as UIMessage
    for (const part of approved.parts) {
      if ("approval" in part)
        Object.assign(part, { state: "approval-responded", approval: { id: "c0", approved: true } })
    }
    const answered = await post("/api/chat", { id: "c", messages: [approved] })
    const message = await messageOf(chunksOf(await answered.text()), approved)
    expect(message?.metadata).toMatchObject({
      startedAt: Reflect.get(asked?.metadata as object, "startedAt"),
      usage: usage(20, 7)
    })
    expect((await kept(url)).at(-1)?.metadata).toEqual(message?.metadata)
  })

  it("UIMETA1. of a turn that its sender left, is that of the turn, not of the reader that finds it", async () => {
    const model = handModel()
    const { post, url, troupe } = await serving({ adapter: model.adapter })
    const gone = new AbortController()
    await post("/api/chat", { id: "c", messages: [said("u1")] }, { signal: gone.signal })
    await model.whenOpened(1)
    model.text("Once")
    gone.abort()
    const resumed = await fetch(`${url}/api/chat/c/stream`)
    model.say(completed("stop", 3))
    model.end()
    const message = await messageOf(chunksOf(await resumed.text()))
    expect(message?.metadata).toMatchObject({ model: "north-1", usage: usage(10, 3) })
    await (await troupe.chat("anna/c")).leave()
    expect((await kept(url)).at(-1)?.metadata).toEqual(message?.metadata)
  })

  it("of a cancelled reply comes before the abort", async () => {
    const model = handModel()
    const { post, url } = await serving({ adapter: model.adapter })
    const response = await post("/api/chat", { id: "c", messages: [said("u1")] })
    await model.whenOpened(1)
    model.text("Once")
    await fetch(`${url}/api/chat/c/stop`, { method: "POST" })
    const chunks = chunksOf(await response.text())
    expect(chunks.slice(-2)).toEqual([
      {
        type: "message-metadata",
        messageMetadata: { startedAt: expect.any(Number), endedAt: expect.any(Number) }
      },
      { type: "abort", reason: "cancelled" }
    ])
    expect((await kept(url)).at(-1)?.metadata).toEqual((await messageOf(chunks))?.metadata)
  })

  it("of a regenerated reply begins anew", async () => {
    const { post } = await serving({
      adapter: Fake.make({ script: [{ text: "Hi" }, { usage: { outputTokens: 1 } }, { finish: "stop" }] })
    })
    const body = { id: "c", messages: [said("u1")] }
    await (await post("/api/chat", body)).text()
    const again = await post("/api/chat", { ...body, trigger: "regenerate-message" })
    expect((await messageOf(chunksOf(await again.text())))?.metadata).toMatchObject({ usage: { outputTokens: 1 } })
  })
})

describe("the metadata of a user's message", () => {
  it("is stored with it, and loaded again from the store", async () => {
    const store = Store.memory()
    const adapter = Fake.make({ script: [{ text: "Hi" }, { finish: "stop" }] })
    const metadata = { mood: "good", at: 5, tags: ["a"] }
    const first = await serving({ adapter, store })
    await (await first.post("/api/chat", { id: "c", messages: [{ ...said("u1"), metadata }] })).text()
    expect((await kept(first.url))[0]).toEqual({
      id: "u1",
      role: "user",
      metadata,
      parts: [{ type: "text", text: "Hi", state: "done" }]
    })
    await (await first.troupe.chat("anna/c")).leave()
    expect((await kept(first.url))[0]?.metadata).toEqual(metadata)
    const other = await Troupe.start({ adapter, store })
    expect((await other.chat("anna/c")).thread.messages[0]?.metadata).toMatchObject({ client_metadata: metadata })
    await other.stop()
    expect(JSON.stringify(adapter.requests[0]?.messages[0]?.content)).toBe('"Hi"')
  })

  it("counts for the length of the message", async () => {
    const { post } = await serving(
      { adapter: Fake.make({ script: [{ finish: "stop" }] }) },
      { limits: { messageCharacters: 100 } }
    )
    const long = await post("/api/chat", { id: "c", messages: [{ ...said("u1"), metadata: "x".repeat(101) }] })
    expect(long.status).toBe(413)
  })
})

describe("a generated image", () => {
  it("arrives when it is all of the answer, live and loaded", async () => {
    const drawing: Adapter.Adapter = {
      name: "drawing",
      stream: async function* (): AsyncGenerator<AdapterEvent> {
        yield { type: "message_started", message: { role: "assistant", content: "" } }
        const parts = [{ type: "file", file: { base64: "iVBORw0KGgo=" }, mediaType: "image/png" }] as const
        yield { type: "message_completed", message: { role: "assistant", content: "", parts }, finishReason: "stop" }
      }
    }
    const { post, url } = await serving({ adapter: drawing })
    const message = await messageOf(
      chunksOf(await (await post("/api/chat", { id: "c", messages: [said("u1")] })).text())
    )
    expect(message?.parts).toEqual([
      { type: "step-start" },
      { type: "file", mediaType: "image/png", url: "data:image/png;base64,iVBORw0KGgo=" }
    ])
    expect((await kept(url)).at(-1)).toEqual(message)
  })
})
