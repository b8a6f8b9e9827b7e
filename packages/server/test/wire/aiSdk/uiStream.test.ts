import { once } from "node:events"
import { askUser, type LocalChatRef, Fake, tool, Troupe } from "@troupe/chat"
import type { AdapterEvent, Event } from "@troupe/chat/events"
import type { Adapter } from "@troupe/chat/models"
import { readUIMessageStream, type UIMessage, type UIMessageChunk, uiMessageChunkSchema } from "ai"
import { describe, expect, it } from "vitest"
import { isSaid, replyIn } from "../../../src/wire/chatReply.ts"
import { uiMessages } from "../../../src/wire/aiSdk/uiParts.ts"
import { UiStream } from "../../../src/wire/aiSdk/uiStream.ts"
import { type UiChunk } from "../../../src/wire/aiSdk/uiBlocks.ts"
import { streamOf } from "../../double/streamOf.ts"

const echo = tool({ name: "echo", execute: ({ x }) => ({ x }) })
const fails = tool({
  name: "fails",
  execute: () => {
    throw new Error("no")
  }
})
const asks = tool({ name: "asks", execute: () => askUser("Which?", { choices: ["a", "b"] }) })
const image = { type: "image", image: { base64: "iVBORw0KGgo=", mediaType: "image/png" } }
const shot = tool({
  name: "shot",
  execute: () => [{ type: "text", text: "The page", metadata: { providerOptions: {} } }, image]
})
const byHand = tool({ name: "byHand", manual: true })

const manual = new Set(["byHand"])

/** What the client makes of chunks: every one of a form that it reads. */
const read = async (chunks: ReadonlyArray<UiChunk>): Promise<UIMessage | undefined> => {
  const schema = uiMessageChunkSchema()
  for (const chunk of chunks) {
    const checked = await schema.validate?.(chunk)
    expect({ chunk, isKnown: checked?.success }).toEqual({ chunk, isKnown: true })
  }
  let message: UIMessage | undefined
  const stream = streamOf(chunks as unknown as ReadonlyArray<UIMessageChunk>)
  for await (const next of readUIMessageStream({ stream, terminateOnError: false })) message = next
  return message === undefined ? undefined : plain({ ...message, parts: message.parts.map(withoutId) })
}

/** The client of the AI SDK keeps the id of a block of reasoning, which a message does not have. */
const withoutId = (part: UIMessage["parts"][number]) => {
  if (part.type !== "reasoning") return part
  const { id: _, ...rest } = part as typeof part & { readonly id?: string }
  return rest
}

const plain = <A>(value: A): A => JSON.parse(JSON.stringify(value)) as A

const chatWith = async (scripts: ReadonlyArray<Fake.Script> | Adapter.Adapter): Promise<LocalChatRef> => {
  const troupe = await Troupe.start({
    adapter: "stream" in scripts ? scripts : Fake.make({ scripts }),
    tools: [echo, fails, asks, shot, byHand],
    includeRawChunks: true,
    permissions: { deny: ["forbidden"] }
  })
  return troupe.chat("c")
}

/** A reply with parts of every kind. */
const mixedReply: Adapter.Adapter = {
  name: "mixed",
  stream: async function* (request): AsyncGenerator<AdapterEvent> {
    yield { type: "message_started", message: { role: "assistant", content: "" } }
    if (request.messages.at(-1)?.role === "tool") {
      yield { type: "text_delta", id: "0", delta: "Done" }
      yield { type: "text_completed", id: "0", text: "Done" }
      yield { type: "message_completed", message: { role: "assistant", content: "Done" }, finishReason: "stop" }
      return
    }
    yield { type: "text_delta", id: "0", delta: "I search." }
    yield { type: "text_delta", id: "1", delta: "Twice a day." }
    yield { type: "text_completed", id: null, text: "I search.Twice a day." }
    yield { type: "tool_call_completed", id: "c0", name: "echo", arguments: { x: 1 }, rawArguments: '{"x":1}' }
    const message = {
      role: "assistant",
      content: "I search.Twice a day.",
      parts: [
        { type: "text", text: "I search." },
        { type: "provider_tool_call", id: "s0", name: "search", arguments: { q: "tides" } },
        { type: "provider_tool_result", toolCallId: "s0", name: "search", result: { found: 1 } },
        { type: "provider_tool_call", id: "s1", name: "search", arguments: {} },
        { type: "provider_tool_result", toolCallId: "s1", name: "search", result: "too many", isError: true },
        { type: "text", text: "Twice a day." },
        { type: "source", id: "u", source: { url: "https://example.org" }, title: "Tides" },
        { type: "source", id: "d", source: { mediaType: "application/pdf", filename: "a.pdf" }, title: "A" },
        { type: "file", file: { base64: "AAAA" }, mediaType: "image/png" },
        { type: "custom", kind: "p.other" },
        { type: "tool_call", toolCallId: "c0" }
      ]
    } as const
    yield { type: "message_completed", message, finishReason: "tool_calls" }
  }
}

const eventsOf = async (turn: AsyncIterable<Event>): Promise<ReadonlyArray<Event>> => {
  const events: Array<Event> = []
  for await (const event of turn) events.push(event)
  return events
}

const replyChunks = (ui: UiStream, chat: LocalChatRef, events: ReadonlyArray<Event>) => [
  ...ui.start(replyIn(chat.thread.messages).name),
  ...events.flatMap((event) => ui.push(event))
]

const kept = (chat: LocalChatRef) => plain(uiMessages(chat.thread.messages, { manual, approvals: [] }).at(-1))

const turns: Readonly<Record<string, ReadonlyArray<Fake.Script>>> = {
  "an answer": [[{ text: "Hel" }, { text: "lo" }, { finish: "stop" }]],
  "a tool and an answer": [
    [
      { text: "Wait." },
      { toolCall: { id: "c0", name: "echo", arguments: { x: [1, "2"] } } },
      { toolCall: { id: "c1", name: "fails" } },
      { finish: "tool_calls" }
    ],
    [{ text: "Done" }, { finish: "stop" }]
  ],
  "a result with an image": [
    [{ toolCall: { id: "c0", name: "shot" } }, { finish: "tool_calls" }],
    [{ text: "Done" }, { finish: "stop" }]
  ],
  "the same call id in two steps": [
    [{ toolCall: { id: "c0", name: "echo", arguments: { x: 1 } } }, { finish: "tool_calls" }],
    [{ toolCall: { id: "c0", name: "echo", arguments: { x: 2 } } }, { finish: "tool_calls" }],
    [{ text: "Twice" }, { finish: "length" }]
  ],
  "reasoning before and after a text, and a call": [
    [
      { reasoning: "Hm" },
      { text: "I " },
      { reasoning: "or " },
      { reasoning: "not" },
      { text: "look." },
      { toolCall: { id: "c0", name: "echo", arguments: { x: 1 } } },
      { finish: "tool_calls" }
    ],
    [{ reasoning: "So" }, { text: "Done" }, { finish: "stop" }]
  ],
  "a question": [[{ toolCall: { id: "c0", name: "asks" } }, { finish: "tool_calls" }]],
  "a call of the client's": [
    [{ toolCall: { id: "c0", name: "byHand", arguments: { y: 1 } } }, { finish: "tool_calls" }]
  ],
  "a tool that does not exist": [
    [{ toolCall: { id: "c0", name: "nope" } }, { finish: "tool_calls" }],
    [{ text: "Sorry" }, { finish: "stop" }]
  ],
  "arguments that are none": [
    [{ toolCall: { id: "c0", name: "echo", rawArguments: '{"x":' } }, { finish: "tool_calls" }],
    [{ text: "Sorry" }, { finish: "stop" }]
  ]
}

it("TPART2 the output of a result with parts is the list of its parts, without metadata", async () => {
  const chat = await chatWith(turns["a result with an image"] ?? [])
  await eventsOf(chat.send("Go"))
  expect(kept(chat)).toMatchObject({
    parts: [
      {},
      { type: "tool-shot", state: "output-available", output: [{ type: "text", text: "The page" }, image] },
      {},
      {}
    ]
  })
  expect(JSON.stringify(kept(chat))).not.toContain("metadata")
})

describe("UI1. a client has the same message, however it read it", () => {
  for (const [title, scripts] of Object.entries(turns)) {
    it(`of ${title}`, async () => {
      const chat = await chatWith(scripts)
      const events = await eventsOf(chat.send("Go"))
      const live = await read(replyChunks(new UiStream(manual), chat, events))
      const thread = kept(chat)
      expect(live).toEqual(thread)

      const said = new UiStream(manual)
      const { name, messages } = replyIn(chat.thread.messages)
      const replayed = await read([...said.start(name), ...said.said(messages)])
      expect(replayed).toEqual(thread)
    })
  }

  it("of files, sources and calls that the provider ran, in the order of the reply", async () => {
    const chat = await chatWith(mixedReply)
    const events = await eventsOf(chat.send("Go"))
    const live = await read(replyChunks(new UiStream(manual), chat, events))
    expect(live).toEqual(kept(chat))
    expect(live?.parts).toEqual([
      { type: "step-start" },
      { type: "text", text: "I search.", state: "done" },
      {
        type: "tool-search",
        toolCallId: "s0",
        providerExecuted: true,
        state: "output-available",
        input: { q: "tides" },
        output: { found: 1 }
      },
      {
        type: "tool-search",
        toolCallId: "s1",
        providerExecuted: true,
        state: "output-error",
        input: {},
        errorText: "too many"
      },
      { type: "text", text: "Twice a day.", state: "done" },
      { type: "source-url", sourceId: "u", url: "https://example.org", title: "Tides" },
      { type: "source-document", sourceId: "d", mediaType: "application/pdf", title: "A", filename: "a.pdf" },
      { type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA" },
      {
        type: "tool-echo",
        toolCallId: "c0",
        providerExecuted: true,
        state: "output-available",
        input: { x: 1 },
        output: { x: 1 }
      },
      { type: "step-start" },
      { type: "text", text: "Done", state: "done" }
    ])
  })

  it("with the replacement of the missed part, at any event", async () => {
    const chat = await chatWith(turns["a tool and an answer"] ?? [])
    const turn = chat.send("Go")
    const seen: Array<{ readonly event: Event; readonly standing: Parameters<UiStream["standing"]>[0] }> = []
    for await (const event of turn) {
      const context = chat.getSnapshot()?.context
      if (context === undefined) throw new Error("no snapshot")
      seen.push({
        event,
        standing: { messages: replyIn(context.thread.messages).messages, approvals: [], partial: { text: "" } }
      })
    }
    const stepsEnd = seen.findIndex(({ event }) => event.type === "step_completed")
    for (const lost of [0, 1, 2, 4, stepsEnd]) {
      const ui = new UiStream(manual)
      const chunks = [...ui.start("m0.reply")]
      for (const { event } of seen.slice(0, lost)) chunks.push(...ui.push(event))
      const committed = stepsOf(seen[stepsEnd]?.event)
      chunks.push(...ui.standing({ messages: committed, approvals: [], partial: { text: "" } }))
      for (const { event } of seen.slice(stepsEnd + 1)) chunks.push(...ui.push(event))
      expect(await read(chunks)).toEqual(kept(chat))
    }
  })

  it("with a step that was not heard from any of its events on, calls and all", async () => {
    for (const [title, scripts] of Object.entries(turns)) {
      const chat = await chatWith(scripts)
      const events = await eventsOf(chat.send("Go"))
      const stepEnd = events.findIndex(({ type }) => type === "step_completed")
      for (let observed = 0; observed <= stepEnd; observed++) {
        const before = events.slice(0, observed)
        const partial = before.map((event) => (event.type === "text_delta" ? event.delta : "")).join("")
        const ui = new UiStream(manual)
        const chunks = [
          ...ui.start("m0.reply"),
          ...ui.standing({ messages: [], approvals: [], partial: { text: partial } }),
          ...events.slice(observed).flatMap((event) => ui.push(event))
        ]
        expect({ title, observed, message: await read(chunks) }).toEqual({ title, observed, message: kept(chat) })
      }
    }
  })

  it("with text that was under way when it came back", async () => {
    const ui = new UiStream(manual)
    const chunks = [
      ...ui.start("m0.reply"),
      ...ui.standing({ messages: [], approvals: [], partial: { text: "Once " } }),
      ...ui.push({ type: "text_delta", id: null, delta: "upon" }),
      ...ui.push({ type: "text_completed", id: null, text: "Once upon" })
    ]
    expect((await read(chunks))?.parts).toEqual([
      { type: "step-start" },
      { type: "text", text: "Once upon", state: "done" }
    ])
  })
})

const stepsOf = (event: Event | undefined) => {
  if (event?.type !== "step_completed") throw new Error("no step")
  const { messages } = event.thread
  return messages.slice(messages.findLastIndex(isSaid) + 1)
}

describe("UI2. what is begun is ended", () => {
  it("reasoning before the text that follows it", async () => {
    const chat = await chatWith([
      [
        { reasoning: "Hm" },
        { reasoning: "m" },
        { rawChunk: { type: "source", url: "x" } },
        { text: "So" },
        { finish: "stop" }
      ]
    ])
    const ui = new UiStream(manual)
    const chunks = replyChunks(ui, chat, await eventsOf(chat.send("Go")))
    expect((await read(chunks))?.parts).toEqual([
      { type: "step-start" },
      { type: "reasoning", text: "Hmm", state: "done" },
      { type: "text", text: "So", state: "done" }
    ])
  })

  it("a text that was cancelled, before the abort", async () => {
    const chat = await chatWith([[{ text: "Once" }, { hang: true }]])
    const turn = chat.send("Go")
    const ui = new UiStream(manual)
    const chunks: Array<UiChunk> = []
    for await (const event of turn) {
      chunks.push(...ui.push(event))
      if (event.type === "text_delta") void chat.cancel()
    }
    expect(chunks.map(({ type }) => type)).toEqual([
      "start-step",
      "text-start",
      "text-delta",
      "text-end",
      "finish-step",
      "abort"
    ])
  })

  it("a reply that was cancelled before its first word says nothing of the calls before it", async () => {
    const chat = await chatWith([...(turns["a question"] ?? []), [{ hang: true }]])
    await eventsOf(chat.send("Go"))
    const ui = new UiStream(manual)
    const chunks: Array<UiChunk> = []
    for await (const event of chat.send("That one")) {
      chunks.push(...ui.push(event))
      if (event.type === "message_started") void chat.cancel()
    }
    expect(chunks.map(({ type }) => type)).toEqual(["start-step", "finish-step", "abort"])
  })

  it("a reply that was cancelled before its first word says nothing of the paused reply before it", async () => {
    const page = { type: "source", id: "u", source: { url: "https://example.org" } } as const
    const chat = await chatWith({
      name: "pausing",
      stream: async function* (request, { signal }): AsyncGenerator<AdapterEvent> {
        const isSecond = request.messages.at(-1)?.role === "assistant"
        yield { type: "message_started", message: { role: "assistant", content: "" } }
        if (isSecond) return void (await once(signal, "abort"))
        yield { type: "text_delta", id: null, delta: "Searching" }
        yield { type: "text_completed", id: null, text: "Searching" }
        const parts = [{ type: "text", text: "Searching" }, page] as const
        const message = { role: "assistant", content: "Searching", parts, metadata: { paused: true } } as const
        yield { type: "message_completed", message, finishReason: "stop" }
      }
    })
    const ui = new UiStream(manual)
    const chunks: Array<UiChunk> = []
    let started = 0
    for await (const event of chat.send("Go")) {
      chunks.push(...ui.push(event))
      if (event.type === "message_started" && ++started === 2) void chat.cancel()
    }
    const types = chunks.map(({ type }) => type)
    expect(types.filter((type) => type === "source-url")).toHaveLength(1)
    expect(types.slice(-4)).toEqual(["finish-step", "start-step", "finish-step", "abort"])
  })

  it.each([{ cuts: "cancel" }, { cuts: "error" }])("a reply with reasoning is said once: $cuts", async ({ cuts }) => {
    const end: Fake.Script = cuts === "cancel" ? [{ hang: true }] : [{ error: "rate_limited" }, { finish: "error" }]
    const chat = await chatWith([[{ reasoning: "I think" }, { text: "Hel" }, ...end]])
    const ui = new UiStream(manual)
    const chunks = [...ui.start("r")]
    for await (const event of chat.send("Go")) {
      chunks.push(...ui.push(event))
      if (event.type === "text_delta" && cuts === "cancel") void chat.cancel()
    }
    const thought = ["reasoning-start", "reasoning-delta", "reasoning-end"]
    const said = chunks.map(({ type }) => type).filter((type) => /^(?:reasoning|text)-/.test(type))
    expect(said).toEqual([...thought, "text-start", "text-delta", "text-end"])
    expect((await read(chunks))?.parts).toEqual(kept(chat)?.parts)
  })

  it("an error says its reason, and nothing of the program", async () => {
    const chat = await chatWith([[{ text: "Once" }, { error: "rate_limited" }, { finish: "error" }]])
    const ui = new UiStream(manual)
    const chunks = replyChunks(ui, chat, await eventsOf(chat.send("Go")))
    expect(chunks.at(-1)).toEqual({ type: "error", errorText: "The model request failed: rate limited" })
  })

  it("a step that begins again is reset", () => {
    const ui = new UiStream(manual)
    const started: Event = { type: "message_started", message: { role: "assistant", content: "" } }
    expect(
      [started, { type: "text_delta", id: null, delta: "x" } as const, started].flatMap((event) => ui.push(event))
    ).toEqual([
      { type: "start-step" },
      { type: "text-start", id: "text-1" },
      { type: "text-delta", id: "text-1", delta: "x" },
      { type: "reset-step" }
    ])
  })

  it("fragments of a call whose beginning was missed are not sent", () => {
    const ui = new UiStream(manual)
    expect(ui.push({ type: "tool_call_delta", id: "c", argumentsDelta: "{" })).toEqual([])
  })
})

describe("UI3. what the protocol has no word for is transient data", () => {
  it("a question, and why a turn ended", async () => {
    const chat = await chatWith(turns["a question"] ?? [])
    const ui = new UiStream(manual)
    const chunks = replyChunks(ui, chat, await eventsOf(chat.send("Go")))
    const data = chunks.filter(({ type }) => type.startsWith("data-"))
    expect(data).toEqual([
      {
        type: "data-troupe-question",
        transient: true,
        data: { toolCallId: "c0", question: "Which?", options: { choices: ["a", "b"] } }
      },
      { type: "data-troupe-halted", transient: true, data: { reason: "ask_user" } }
    ])
  })
})
