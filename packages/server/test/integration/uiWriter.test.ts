import { Fake, tool } from "@troupe/chat"
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai"
import { describe, expect, it } from "vitest"
import { UiWriter } from "../../src/index.ts"
import { mixedReply } from "../double/mixedReply.ts"
import { serving } from "../double/serving.ts"
import { kept } from "../double/uiClient.ts"

type Write = NonNullable<ReturnType<typeof UiWriter.of>>["write"]

const writing = (write: (write: Write | undefined) => unknown) =>
  tool({ name: "weather", execute: async (_, { context }) => (await write(UiWriter.of(context)?.write), "warm") })

const asking = () =>
  Fake.make({
    respond: ({ messages }) =>
      messages.at(-1)?.role === "tool"
        ? [{ text: "Warm" }, { finish: "stop" }]
        : [{ toolCall: { id: "c0", name: "weather" } }, { finish: "tool_calls" }]
  })

const said = (id: string): UIMessage => ({ id, role: "user", parts: [{ type: "text", text: "How warm?" }] })

/** Sends the last of these messages of the user. */
const send = (url: string, ...ids: ReadonlyArray<string>): Promise<ReadableStream<UIMessageChunk>> =>
  new DefaultChatTransport({ api: `${url}/api/chat` }).sendMessages({
    trigger: "submit-message",
    chatId: "c",
    messageId: undefined,
    messages: ids.map(said),
    abortSignal: undefined
  })

/** The message that a client has at the end, and the data parts that came. */
const read = async (stream: ReadableStream<UIMessageChunk>) => {
  const [chunks, copy] = stream.tee()
  let message: UIMessage | undefined
  for await (const next of readUIMessageStream({ stream: copy })) message = next
  const data: Array<UIMessageChunk> = []
  for await (const chunk of chunks as unknown as AsyncIterable<UIMessageChunk>) {
    if (chunk.type.startsWith("data-") && !chunk.type.startsWith("data-troupe-")) data.push(chunk)
  }
  return { parts: dataIn(message), data }
}

const dataIn = (message: UIMessage | undefined) => (message?.parts ?? []).filter(({ type }) => type.startsWith("data-"))

const ready = { type: "data-weather", id: "w1", data: { degrees: 21 } } as const

describe("a handler", () => {
  it("UIWRITE1. writes data parts into the reply, where the newest of an id stands, live and later", async () => {
    const weather = writing(async (write) => {
      write?.({ type: "data-weather", id: "w1", data: "loading" })
      await new Promise((resolve) => void setImmediate(resolve))
      write?.(ready)
      write?.({ type: "data-note", data: ["no id"] })
    })
    const { url, post } = await serving({ adapter: asking(), tools: [weather] })
    const { parts, data } = await read(await send(url, "u1"))
    expect(data.at(-1)).toMatchObject({ type: "data-note", data: ["no id"] })
    expect(parts).toMatchObject([ready, { type: "data-note", data: ["no id"] }])
    const [, reply] = await kept(url)
    expect(dataIn(reply)).toEqual(parts)
    expect((await read(await send(url, "u1"))).parts).toEqual(parts)
    const next = await read(await send(url, "u1", "u2"))
    expect(next.parts).toHaveLength(2)
    expect((await kept(url)).map((message) => dataIn(message).length)).toEqual([0, 2, 0, 2])
    const body = { trigger: "regenerate-message", id: "c", messageId: "u1.reply", messages: [said("u1")] }
    await (await post("/api/chat", body)).text()
    expect((await kept(url)).map((message) => dataIn(message).length)).toEqual([0, 2])
  })

  it("UIWRITE2. writes transient parts for the present readers alone", async () => {
    const weather = writing((write) => write?.({ ...ready, transient: true }))
    const { url } = await serving({ adapter: asking(), tools: [weather] })
    const { parts, data } = await read(await send(url, "u1"))
    expect(data).toEqual([{ ...ready, transient: true }])
    expect(parts).toEqual([])
    expect(dataIn((await kept(url))[1])).toEqual([])
  })

  it("UIWRITE1. keeps the data of a step that the client gets again", async () => {
    const where = tool({
      name: "where",
      execute: (_, { context }) => (UiWriter.of(context)?.write(ready), "Oslo")
    })
    const { url } = await serving({ adapter: mixedReply(), tools: [where] })
    expect((await read(await send(url, "u1"))).parts).toEqual([ready])
  })

  it("UIWRITE3. gets an error for a part that cannot be sent, and forgets the data of the oldest replies first", async () => {
    const found: Array<string> = []
    const attempt = (write: Write | undefined, part: unknown): void => {
      try {
        write?.(part as Parameters<Write>[0])
        found.push("written")
      } catch (error) {
        found.push(Reflect.get(error as object, "_tag") as string)
      }
    }
    const long = (id: string) => ({ type: "data-long", id, data: "x".repeat(500) })
    const weather = writing((write) => {
      attempt(write, { type: "weather", data: 1 })
      attempt(write, { type: "data-weather", id: 1, data: 1 })
      attempt(write, { type: "data-weather", data: 1n })
      attempt(write, { type: "data-weather", data: "x".repeat(1_001) })
      attempt(write, long("a"))
      attempt(write, long("a"))
      attempt(write, long("b"))
    })
    const { url } = await serving({ adapter: asking(), tools: [weather] }, { limits: { messageCharacters: 1_000 } })
    await read(await send(url, "u1"))
    await read(await send(url, "u1", "u2"))
    const turn = [...Array<string>(4).fill("ValidationError"), "written", "written", "ValidationError"]
    expect(found).toEqual([...turn, ...turn])
    expect((await kept(url)).map((message) => dataIn(message).length)).toEqual([0, 0, 0, 1])
  })

  it("has no writer in a turn of another protocol", async () => {
    let has = true
    const weather = writing((write) => void (has = write !== undefined))
    const { post } = await serving({ adapter: asking(), tools: [weather] })
    await (await post("/chats/c/messages?wait", { input: "How warm?" })).text()
    expect(has).toBe(false)
  })
})
