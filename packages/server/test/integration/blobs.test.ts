/** Images and files that the store has, as clients of each protocol read them. */
import { createHash } from "node:crypto"
import { Fake, tool } from "@troupe/chat"
import type { AdapterEvent } from "@troupe/chat/events"
import type { Adapter, Request } from "@troupe/chat/models"
import { describe, expect, it } from "vitest"
import { serving } from "../double/serving.ts"

const bytes = Uint8Array.from({ length: 60_000 }, (_, at) => (at * 7) % 251)
const base64 = Buffer.from(bytes).toString("base64")
const blob = createHash("sha256").update(bytes).digest("hex")
const path = (chat: string, type = "image%2Fpng") => `/chats/${chat}/blobs/${blob}?type=${type}&bytes=60000`
const image = { type: "image", image: { base64, mediaType: "image/png" } } as const
const says = () => Fake.make({ respond: () => [{ text: "A cat." }, { finish: "stop" }] })

/** A model that draws the image. */
const drawing = (): Adapter.Adapter & { readonly requests: Array<Request> } => {
  const requests: Array<Request> = []
  return {
    name: "drawing",
    requests,
    stream: async function* (request): AsyncGenerator<AdapterEvent> {
      requests.push(request)
      const parts = [
        { type: "text", text: "Here." } as const,
        { type: "file", file: { base64 }, mediaType: "image/png" } as const
      ]
      yield { type: "message_started", message: { role: "assistant", content: "" } }
      yield { type: "text_delta", id: null, delta: "Here." }
      yield { type: "message_completed", message: { role: "assistant", content: "Here.", parts }, finishReason: "stop" }
    }
  }
}

const sent = (chat: string, input: unknown) => [`/chats/${chat}/messages?wait`, { input }] as const

describe("BLOBURL1. an image that the store has", () => {
  it("has a URL in the view, which answers with its bytes, and is cached without end", async () => {
    const { post, url } = await serving({ adapter: says() })
    await (await post(...sent("a b", [image]))).text()
    const view = (await (await fetch(`${url}/chats/a%20b`)).json()) as { messages: Array<{ content: Array<unknown> }> }
    const found = { blob, bytes: 60_000, mediaType: "image/png", url: path("a%20b") }
    expect(view.messages[0]?.content).toEqual([{ type: "image", image: found }])
    const got = await fetch(url + found.url)
    expect(new Uint8Array(await got.arrayBuffer())).toEqual(bytes)
    expect(Object.fromEntries(got.headers)).toMatchObject({
      "content-type": "image/png",
      "content-length": "60000",
      "cache-control": "private, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
      etag: `"${blob}"`
    })
    const again = await fetch(url + found.url, { headers: { "if-none-match": `"${blob}"` } })
    expect([again.status, await again.text()]).toEqual([304, ""])
  })

  it("is sent as bytes to save unless a browser shows its type, and is found only in its own conversation", async () => {
    const { post, url } = await serving({ adapter: says() })
    await (await post(...sent("a", [image]))).text()
    await (await post(...sent("b", "Hello"))).text()
    for (const type of ["text%2Fhtml", "image%2Fpng%0d%0ax", ""]) {
      const { headers } = await fetch(url + path("a", type))
      expect(headers.get("content-type")).toBe("application/octet-stream")
      expect(headers.get("content-disposition")).toBe("attachment")
    }
    for (const other of [path("b"), path("none"), "/chats/a/blobs/x", `/chats/a/blobs/${"0".repeat(64)}`]) {
      expect((await fetch(url + other)).status).toBe(404)
    }
  })

  it("is the path of a file for clients of the AI SDK and AG-UI, who can send it again", async () => {
    const adapter = says()
    const { post, url } = await serving({ adapter })
    const file = { type: "file", mediaType: "image/png", url: `data:image/png;base64,${base64}` }
    await (await post("/api/chat", { id: "c", messages: [{ id: "u1", role: "user", parts: [file] }] })).text()
    const { messages } = (await (await fetch(`${url}/api/chat/c/messages`)).json()) as {
      messages: Array<{ parts: unknown }>
    }
    expect(messages[0]?.parts).toEqual([{ type: "file", mediaType: "image/png", url: path("c") }])
    const again = { id: "u2", role: "user", parts: [{ ...file, url: path("c") }] }
    await (await post("/api/chat", { id: "c", messages: [messages[0], messages[1], again] })).text()
    expect(adapter.requests[1]?.messages[2]?.content).toEqual([image])
    const stolen = await post("/api/chat", { id: "d", messages: [again] })
    expect([stolen.status, await stolen.text()]).toEqual([422, expect.stringContaining("must_refer_to_a_blob")])
  })

  it("POST2 is the same message when it is posted again, as base64 text or by its path, and another image is an edit", async () => {
    const adapter = says()
    const { post } = await serving({ adapter })
    const file = (url: string) => ({ type: "file", mediaType: "image/png", url })
    const inline = file(`data:image/png;base64,${base64}`)
    const ui = (part: object) => post("/api/chat", { id: "c", messages: [{ id: "u1", role: "user", parts: [part] }] })
    for (const part of [inline, inline, file(path("c"))]) expect((await ui(part)).status).toBe(200)
    const changed = Buffer.from(bytes.toReversed()).toString("base64")
    expect((await ui(file(`data:image/png;base64,${changed}`))).status).toBe(409)
    expect(adapter.requests.length).toBe(1)
  })

  it("that a model drew is a path in the stream of the AI SDK, and base64 text in OpenAI's responses", async () => {
    const { post, url } = await serving({ adapter: drawing() })
    const stream = await (
      await post("/api/chat", {
        id: "c",
        messages: [{ id: "u1", role: "user", parts: [{ type: "text", text: "Draw" }] }]
      })
    ).text()
    expect(stream).toContain(`"url":"${path("c")}"`)
    expect(stream).not.toContain(base64)
    const made = (await (await post("/v1/responses", { model: "troupe", input: "Draw" })).json()) as {
      id: string
      output: unknown
    }
    const drawn = { type: "image_generation_call", result: base64 }
    expect(made.output).toMatchObject([{ type: "message" }, drawn])
    const read = (await (await fetch(`${url}/v1/responses/${made.id}`)).json()) as { output: unknown }
    expect(read.output).toMatchObject([{ type: "message" }, drawn])
  })

  it("is a path in the events, and each client gets the bytes of a tool's image once", async () => {
    const look = tool({ name: "look", execute: () => [image] })
    const calls = () => [{ toolCall: { id: "c1", name: "look", arguments: {} } }, { finish: "tool_calls" as const }]
    const adapter = Fake.make({
      respond: ({ messages }) => (messages.at(-1)?.role === "tool" ? [{ text: "Seen." }, { finish: "stop" }] : calls())
    })
    const { post, url } = await serving({ adapter, tools: [look] })
    const own = await (
      await post(
        "/chats/own/messages",
        { input: "Look" },
        { headers: { accept: "text/event-stream", "content-type": "application/json" } }
      )
    ).text()
    const ui = await (
      await post("/api/chat", {
        id: "ui",
        messages: [{ id: "u1", role: "user", parts: [{ type: "text", text: "Look" }] }]
      })
    ).text()
    for (const [chat, text] of [
      ["own", own],
      ["ui", ui]
    ] as const) {
      expect(text).not.toContain(base64.slice(0, 100))
      expect(text).toContain(path(chat))
      expect(new Uint8Array(await (await fetch(url + path(chat))).arrayBuffer())).toEqual(bytes)
    }
  })
})
