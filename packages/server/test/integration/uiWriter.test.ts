import { HttpAgent } from "@ag-ui/client"
import { Fake, tool } from "@troupe/chat"
import { Store } from "@troupe/chat/store"
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai"
import { describe, expect, it } from "vitest"
import { UiWriter } from "../../src/index.ts"
import { mixedReply } from "../double/mixedReply.ts"
import { serving } from "../double/serving.ts"
import { kept } from "../double/uiClient.ts"

type Respond = Extract<Parameters<typeof Fake.make>[0], { readonly respond: unknown }>["respond"]

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

type WithContext = { readonly context: Readonly<Record<string, unknown>> }

const said = (id: string): UIMessage => ({ id, role: "user", parts: [{ type: "text", text: "How warm?" }] })

const note = (_: unknown, { context }: WithContext) =>
  UiWriter.of(context)?.write({ type: "data-note", id: "n", data: 1 })

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

  it("UIWRITE1. has its data in another answer that keeps its call, and a hook has not", async () => {
    let runs = 0
    const weather = writing((write) => write?.(ready))
    const { url, post } = await serving({
      adapter: asking(),
      tools: [weather],
      hooks: {
        PreIteration: [
          (_, { context }) =>
            void (runs++ === 1 && UiWriter.of(context)?.write({ type: "data-note", id: "n", data: 1 }))
        ]
      }
    })
    expect((await read(await send(url, "u1"))).parts).toHaveLength(2)
    const body = { trigger: "regenerate-message", id: "c", messages: [said("u1")] }
    expect(await (await post("/api/chat", body)).text()).not.toContain("data-note")
    expect(dataIn((await kept(url))[1])).toEqual([ready])
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

  it("UIWRITE3. gets an error for a part that is too long", async () => {
    const found: Array<string> = []
    const long = (id: string) => ({ type: "data-long", id, data: "x".repeat(500) }) as const
    const weather = writing((write) => {
      found.push(tried(write, { type: "data-weather", data: "x".repeat(1_001) }))
      for (const id of ["a", "a", "b"]) found.push(tried(write, long(id)))
    })
    const { url } = await serving({ adapter: asking(), tools: [weather] }, { limits: { messageCharacters: 1_000 } })
    await read(await send(url, "u1"))
    await read(await send(url, "u1", "u2"))
    const turn = ["ValidationError", "written", "written", "ValidationError"]
    expect(found).toEqual([...turn, ...turn])
    expect((await kept(url)).map((message) => dataIn(message).length)).toEqual([0, 1, 0, 1])
  })

  it("UIWRITE3. keeps the data of older replies in memory no longer, and has it from their messages", async () => {
    const adapter = Fake.make({ respond: () => [{ text: "Hi" }, { finish: "stop" }] })
    const { url } = await serving(
      {
        adapter,
        hooks: {
          PreIteration: [
            (_, { context }) => UiWriter.of(context)?.write({ type: "data-long", id: "a", data: "x".repeat(500) })
          ]
        }
      },
      { limits: { messageCharacters: 1_000 } }
    )
    await read(await send(url, "u1"))
    expect((await kept(url)).map((message) => dataIn(message).length)).toEqual([0, 1])
    await read(await send(url, "u1", "u2"))
    expect((await kept(url)).map((message) => dataIn(message).length)).toEqual([0, 1, 0, 1])
  })

  it("UIWRITE4. writes parts that a reader has after a restart of the program, on each wire", async () => {
    const store = Store.memory()
    const weather = writing((write) => {
      write?.({ type: "data-weather", id: "w1", data: "loading" })
      write?.(ready)
      write?.({ type: "data-note", data: "gone", transient: true })
    })
    const first = await serving({ adapter: asking(), tools: [weather], store })
    await read(await send(first.url, "u1"))
    await first.troupe.stop()
    const { url } = await serving({ adapter: asking(), tools: [weather], store })
    expect(dataIn((await kept(url))[1])).toEqual([ready])
    expect((await read(await send(url, "u1"))).parts).toEqual([ready])
    const agUi = (await (await fetch(`${url}/ag-ui/c/messages`)).json()) as { messages: ReadonlyArray<object> }
    expect(agUi.messages).toContainEqual({
      id: "u1.reply.data-weather.w1",
      role: "activity",
      activityType: "data-weather",
      content: { data: ready.data }
    })
    const own = await (await fetch(`${url}/chats/c`)).text()
    expect(own).toContain(JSON.stringify({ written_data: [ready] }))
  })

  it("UIWRITE4. stores the part that a hook writes behind the call, once and in its last form", async () => {
    const weather = writing((write) => write?.({ type: "data-weather", id: "w1", data: "loading" }))
    const { url, troupe } = await serving({
      adapter: asking(),
      tools: [weather],
      hooks: { PostToolUse: [(_, { context }) => UiWriter.of(context)?.write(ready)] }
    })
    await read(await send(url, "u1"))
    const { messages } = (await troupe.chat("anna/c")).thread
    expect(messages.flatMap(({ metadata }) => metadata?.["written_data"] ?? [])).toEqual([ready])
  })

  it.each([
    ["before a reply that only speaks", Fake.make({ respond: () => [{ text: "Hi" }, { finish: "stop" }] }), 0],
    ["after the last call", asking(), 1]
  ])("UIWRITE4. stores the part that a hook writes %s with the reply, on each wire", async (_, adapter, iteration) => {
    const store = Store.memory()
    const options = {
      adapter,
      tools: [writing(() => {})],
      store,
      hooks: {
        PreIteration: [
          ({ iteration: now }: { readonly iteration: number }, { context }: WithContext) =>
            void (now === iteration && UiWriter.of(context)?.write(ready))
        ]
      }
    }
    const first = await serving(options)
    expect((await read(await send(first.url, "u1"))).parts).toEqual([ready])
    await first.troupe.stop()
    const { url, troupe } = await serving(options)
    expect(dataIn((await kept(url))[1])).toEqual([ready])
    expect((await read(await send(url, "u1"))).parts).toEqual([ready])
    expect(await (await fetch(`${url}/ag-ui/c/messages`)).text()).toContain('"activityType":"data-weather"')
    const { messages } = (await troupe.chat("anna/c")).thread
    expect(messages.at(-1)).toMatchObject({ role: "assistant", metadata: { written_data: [ready] } })
  })

  it.each([
    ["Stop", { PreIteration: [] }],
    ["Stop, beside a part that was stored before", { PreIteration: [note] }]
  ])(
    "UIWRITE4, HOOK6 stores the part that a hook writes at %s with the reply, on each wire",
    async (_title, before) => {
      const store = Store.memory()
      const adapter = Fake.make({ respond: () => [{ text: "Hi" }, { finish: "stop" }] })
      const hooks = { ...before, Stop: [(_: unknown, { context }: WithContext) => UiWriter.of(context)?.write(ready)] }
      const first = await serving({ adapter, store, hooks })
      const { parts } = await read(await send(first.url, "u1"))
      expect(parts).toHaveLength(1 + before.PreIteration.length)
      await read(await send(first.url, "u1", "u2"))
      await first.troupe.stop()
      const { url, troupe } = await serving({ adapter, store, hooks })
      const replies = (await kept(url)).filter(({ role }) => role === "assistant")
      expect(replies.map(dataIn)).toEqual([parts, parts])
      expect(await (await fetch(`${url}/ag-ui/c/messages`)).text()).toContain('"activityType":"data-weather"')
      const { messages } = (await troupe.chat("anna/c")).thread
      expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"])
      expect(await troupe.history("anna/c")).toHaveLength(6)
    }
  )

  it("UIWRITE4. stores the part of a turn that is cancelled within its reply", async () => {
    const store = Store.memory()
    const reading = Promise.withResolvers<void>()
    const adapter = Fake.make({ respond: () => [{ text: "Hi" }, { hang: true }] })
    const hooks = {
      PreIteration: [(_: unknown, { context }: WithContext) => UiWriter.of(context)?.write(ready)]
    }
    const first = await serving({ adapter, store, hooks })
    const stream = await send(first.url, "u1")
    const reads = (async () => {
      for await (const chunk of stream as unknown as AsyncIterable<UIMessageChunk>)
        if (chunk.type === "text-delta") reading.resolve()
    })()
    await reading.promise
    await (await first.troupe.chat("anna/c")).cancel()
    await reads
    await first.troupe.stop()
    const { url } = await serving({ adapter, store, hooks })
    expect(dataIn((await kept(url))[1])).toEqual([ready])
  })

  it("UIWRITE7. writes in a turn that goes on by itself after a restart, for live readers and with the reply", async () => {
    const store = Store.memory()
    const began = Promise.withResolvers<void>()
    const opened = Promise.withResolvers<void>()
    const crawl = tool({ name: "crawl", background: true, execute: () => new Promise<never>(() => {}) })
    const weather = tool({
      name: "weather",
      execute: async (_, { context }) => {
        began.resolve()
        await opened.promise
        UiWriter.of(context)?.write(ready)
        return "warm"
      }
    })
    const calling = (name: string): ReturnType<Respond> => [{ toolCall: { id: name, name } }, { finish: "tool_calls" }]
    const respond: Respond = ({ messages }) => {
      const last = messages.at(-1)
      if (last?.role === "tool") return [{ text: "Warm" }, { finish: "stop" }]
      return calling(JSON.stringify(last?.content).includes("How warm?") ? "crawl" : "weather")
    }
    const options = { adapter: Fake.make({ respond }), tools: [crawl, weather], store, drainMs: 10 }
    const first = await serving(options)
    await read(await send(first.url, "u1"))
    await first.troupe.stop()
    const second = await serving(options)
    await began.promise
    const stream = await new DefaultChatTransport({ api: `${second.url}/api/chat` }).reconnectToStream({ chatId: "c" })
    opened.resolve()
    expect((await read(stream ?? new ReadableStream())).data).toEqual([ready])
    await second.troupe.stop()
    const { url } = await serving(options)
    expect(dataIn((await kept(url)).at(-1))).toEqual([ready])
  })

  it.each<[why: string, part: unknown, says: string]>([
    ["no object", "data", 'part: must be { type: "data-…", data }'],
    ["null", null, 'part: must be { type: "data-…", data }'],
    ["another type", { type: "weather", data: 1 }, 'for example "data-weather"'],
    ["a type without a name", { type: "data-", data: 1 }, 'for example "data-weather"'],
    ["a reserved type", { type: "data-troupe-error", data: 1 }, "must not begin with data-troupe-"],
    ["an empty id", { ...ready, id: "" }, "leave it out for none"],
    ["an id that is no text", { ...ready, id: 1 }, "must be text"],
    ["a text for a boolean", { ...ready, transient: "yes" }, "transient: must be true or false"],
    ["an unknown field", { ...ready, status: "done" }, "status: is unknown; a part has type, id, data, transient"],
    ["no data", { type: "data-weather" }, "data: has no JSON form"],
    ["data without a JSON form", { type: "data-weather", data: 1n }, "data: has no JSON form"]
  ])("UIWRITE5. gets an error that says what to write, for %s", async (_, part, says) => {
    let error: unknown
    const weather = writing((write) => {
      try {
        write?.(part as Parameters<Write>[0])
      } catch (thrown) {
        error = thrown
      }
    })
    const { url } = await serving({ adapter: asking(), tools: [weather] })
    expect((await read(await send(url, "u1"))).data).toEqual([])
    expect(error).toMatchObject({ _tag: "ValidationError", message: expect.stringContaining(says) as string })
  })

  it("UIWRITE5. gets an error for a part that comes after its turn, also in a later turn", async () => {
    const writers: Array<Write> = []
    const late: Array<string> = []
    const weather = writing((write) => {
      for (const earlier of writers) late.push(tried(earlier, ready))
      if (write !== undefined) writers.push(write)
    })
    const { url } = await serving({ adapter: asking(), tools: [weather] })
    await read(await send(url, "u1"))
    expect(tried(writers[0], ready)).toBe("ToolError")
    expect((await read(await send(url, "u1", "u2"))).data).toEqual([])
    expect(late).toEqual(["ToolError"])
  })
})

/** The outcome of a write. */
const tried = (write: Write | undefined, part: Parameters<Write>[0]): string => {
  try {
    write?.(part)
    return "written"
  } catch (error) {
    return Reflect.get(error as object, "_tag") as string
  }
}

describe("UIWRITE1. a client of another protocol", () => {
  const weather = writing((write) => {
    write?.(ready)
    write?.({ type: "data-note", data: "soon", transient: true })
  })

  it("of AG-UI gets custom events, also when it reads the reply again", async () => {
    const { url } = await serving({ adapter: asking(), tools: [weather] })
    const agent = new HttpAgent({ url: `${url}/ag-ui`, threadId: "c" })
    const seen: Array<object> = []
    agent.subscribe({
      onCustomEvent: ({ event: { name, value } }) => void seen.push({ name, value: value as unknown })
    })
    agent.addMessage({ id: "u1", role: "user", content: "How warm?" })
    await agent.runAgent()
    const written = { name: "data-weather", value: { id: "w1", data: ready.data } }
    const own = seen.filter((event) => !JSON.stringify(event).includes("troupe"))
    expect(own).toEqual([written, { name: "data-note", value: { data: "soon", transient: true } }])
    seen.length = 0
    await agent.runAgent()
    expect(seen).toEqual([written])
  })

  it("of the own routes gets events, and the parts with the result in a snapshot", async () => {
    const { url, post } = await serving({ adapter: asking(), tools: [weather] })
    const headers = { "content-type": "application/json", accept: "text/event-stream" }
    const body = await (await post("/chats/c/messages", { input: "How warm?" }, { headers })).text()
    const frames = body.split("\n\n").filter((frame) => frame.includes('"type":"data"'))
    expect(frames.map((frame) => JSON.parse(frame.replace("data: ", "")) as unknown)).toEqual([
      { type: "data", part: ready },
      { type: "data", part: { type: "data-note", data: "soon", transient: true } }
    ])
    expect(await (await fetch(`${url}/chats/c`)).text()).toContain(JSON.stringify({ written_data: [ready] }))
  })

  it("of OpenAI has no writer", async () => {
    let has = true
    const asks = writing((write) => void (has = write !== undefined))
    const { post } = await serving({ adapter: asking(), tools: [asks] })
    const messages = [{ role: "user", content: "How warm?" }]
    await (await post("/v1/chat/completions", { model: "troupe", messages })).text()
    expect(has).toBe(false)
  })
})
