/**
 * A client whose connection breaks at random frames, and that reconnects as its protocol says, has the same as one whose
 * connection never broke.
 */
import { expect, it } from "@effect/vitest"
import { tool } from "@troupe/chat"
import type { UIMessage } from "ai"
import { Effect, Schema } from "effect"
import { describe } from "vitest"
import { runsOf } from "../../../../tooling/verify/volume.ts"
import { type HandModel, handModel } from "../double/handModel.ts"
import { type Served, served, turn as hop, until } from "../double/served.ts"
import { chunksOf, messageOf, withoutTimes } from "../double/uiClient.ts"

/** A turn with reasoning, a tool of the server, a file, and at its end a call that the client answers. */
const happenings = (model: HandModel): ReadonlyArray<() => void | Promise<void>> => [
  () => model.say({ type: "reasoning_delta", id: "r0", delta: "Let me " }),
  () => model.say({ type: "reasoning_delta", id: "r0", delta: "think." }),
  () => model.say({ type: "reasoning_delta", id: "r1", delta: "Again." }),
  () => model.text("I lo"),
  () => model.text("ok."),
  () => model.say({ type: "tool_call_started", id: "s0", name: "rain" }),
  () => model.say({ type: "tool_call_delta", id: "s0", argumentsDelta: '{"day"' }),
  () => model.say({ type: "tool_call_delta", id: "s0", argumentsDelta: ":1}" }),
  () =>
    model.say({
      type: "tool_call_completed",
      id: "s0",
      name: "rain",
      arguments: { day: 1 },
      rawArguments: '{"day":1}'
    }),
  () => {
    const parts = [
      { type: "reasoning", text: "Let me think." },
      { type: "reasoning", text: "Again." },
      { type: "text", text: "I look." },
      { type: "tool_call", toolCallId: "s0" }
    ] as const
    const message = { role: "assistant", content: "I look.", parts } as const
    model.say({ type: "message_completed", message, finishReason: "tool_calls" })
    model.end()
  },
  () => model.whenOpened(2),
  () => model.text("It rai"),
  () => model.text("ns. 🌧"),
  () => model.say({ type: "tool_call_started", id: "c0", name: "where" }),
  () => model.say({ type: "tool_call_delta", id: "c0", argumentsDelta: '{"exact"' }),
  () => model.say({ type: "tool_call_delta", id: "c0", argumentsDelta: ":true}" }),
  () =>
    model.say({
      type: "tool_call_completed",
      id: "c0",
      name: "where",
      arguments: { exact: true },
      rawArguments: '{"exact":true}'
    }),
  () => {
    const parts = [
      { type: "text", text: "It rains. 🌧" },
      { type: "file", file: { base64: "iVBORw0KGgo=" }, mediaType: "image/png" },
      { type: "tool_call", toolCallId: "c0" }
    ] as const
    const message = { role: "assistant", content: "It rains. 🌧", parts } as const
    model.say({ type: "message_completed", message, finishReason: "tool_calls" })
    model.end()
  }
]

const length = happenings(handModel()).length

/** A break of the connection: before which happening, how long the client reads before it, and is away behind it. */
const Break = Schema.Struct({
  at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: length })),
  reads: Schema.Literals([0, 1, 3, 20]),
  away: Schema.Literals([0, 1, 20])
})
type Break = typeof Break.Type

const Breaks = Schema.Array(Break).check(Schema.isMaxLength(6))

/** A wire: the first request, and the request of a client that has read this much; `undefined` when there is no more. */
interface Wire {
  /** The text after which a client can reconnect, and the text of the last frame. */
  readonly begins: string
  readonly ends: string
  readonly begin: (server: Served) => Promise<Response>
  readonly resume: (server: Served, read: string) => Promise<Response | undefined>
  /** What the client has, from the bodies of its connections. */
  readonly made: (server: Served, bodies: ReadonlyArray<string>) => Promise<unknown>
}

/** The whole frames of a body: the rest was cut off. */
const whole = (body: string): string => body.slice(0, body.lastIndexOf("\n\n") + 2)

const hops = async (count: number): Promise<void> => {
  for (let left = count; left > 0; left--) await hop()
}

/** Follows the turn over a wire, and breaks the connection. */
const followed = async (wire: Wire, breaks: ReadonlyArray<Break>): Promise<unknown> => {
  const model = handModel()
  const tools = [
    tool({ name: "rain", execute: ({ day }) => ({ day, rain: true }) }),
    tool({ name: "where", manual: true })
  ]
  const server = await served({ adapter: model.adapter, tools }, { limits: { requestsPerMinute: 1_000_000 } })
  const bodies: Array<string> = []
  const connected = (response: Response) => {
    expect(response.status).toBe(200)
    const at = bodies.push("") - 1
    return readingInto(response, (text) => void (bodies[at] = text))
  }
  const pending = wire.begin(server)
  await model.whenOpened(1)
  let connection: ReturnType<typeof connected> | undefined = connected(await pending)
  await until(() => bodies[0]?.includes(wire.begins) === true)
  const all = happenings(model)
  for (let at = 0; at <= all.length; at++) {
    for (const { reads, away } of breaks.filter((one) => one.at === at)) {
      await hops(reads)
      await connection?.leave()
      await hops(away)
      const resumed = await wire.resume(server, bodies.map(whole).join(""))
      connection = resumed === undefined ? undefined : connected(resumed)
    }
    await all[at]?.()
  }
  if (connection !== undefined) await until(() => bodies.join("").includes(wire.ends))
  await connection?.leave()
  const chat = await server.troupe.chat("anna/c")
  await until(() => chat.getSnapshot()?.context.phase === "awaitingTools")
  return wire.made(server, bodies.map(whole))
}

/** Reads a response, and passes on all of its text so far. `leave` breaks the connection. */
const readingInto = (response: Response, read: (text: string) => void) => {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ""
  const all = async (): Promise<void> => {
    for (;;) {
      const next = await reader?.read()
      if (next === undefined || next.done) return
      read((text += decoder.decode(next.value, { stream: true })))
    }
  }
  const done = all()
  return {
    leave: async (): Promise<void> => {
      await reader?.cancel()
      await done
    }
  }
}

/** The frames of a body: each with its id and its data. */
const framesOf = (body: string) =>
  body.split("\n\n").flatMap((frame) => {
    const data = /^data: (?<data>.*)$/mu.exec(frame)?.groups?.["data"]
    const id = /^id: (?<id>.*)$/mu.exec(frame)?.groups?.["id"]
    return data === undefined ? [] : [{ id, json: JSON.parse(data) as Readonly<Record<string, unknown>> }]
  })

/** Joins consecutive fragments of the same text, which a slow reader gets joined too. */
const joinedBy =
  (field: string, key: (event: Readonly<Record<string, unknown>>) => unknown) =>
  (events: ReadonlyArray<Readonly<Record<string, unknown>>>) => {
    const all: Array<Readonly<Record<string, unknown>>> = []
    for (const event of events) {
      const before = all.at(-1)
      if (before !== undefined && field in event && field in before && key(before) === key(event)) {
        all[all.length - 1] = { ...event, [field]: `${String(before[field])}${String(event[field])}` }
      } else all.push(event)
    }
    return all
  }

const joined = joinedBy("delta", ({ type, id, item_id, summary_index }) =>
  JSON.stringify([type, id, item_id, summary_index])
)
const joinedArguments = joinedBy("argumentsDelta", ({ type, id }) => JSON.stringify([type, id]))

const aiSdk: Wire = {
  begins: "data:",
  ends: "[DONE]",
  begin: ({ ask }) =>
    ask("POST", "/api/chat", {
      id: "c",
      messages: [{ id: "u1", role: "user", parts: [{ type: "text", text: "Go" }] }]
    }),
  resume: async ({ ask }) => {
    const response = await ask("GET", "/api/chat/c/stream")
    return response.status === 204 ? undefined : response
  },
  made: async ({ ask }, bodies) => {
    const response = await ask("GET", "/api/chat/c/messages")
    const { messages } = (await response.json()) as { readonly messages: ReadonlyArray<UIMessage> }
    // A client that returned after the end gets 204, and loads the messages.
    if (bodies.at(-1)?.includes("[DONE]") === true) {
      expect(await messageOf(chunksOf(bodies.at(-1) ?? ""))).toEqual(messages.at(-1))
    }
    return withoutTimes(messages.at(-1))
  }
}

const own: Wire = {
  begins: "data:",
  ends: '"type":"chat_completed"',
  begin: async ({ ask }) => {
    await ask("POST", "/chats/c/messages", { input: "Go" })
    return ask("GET", "/chats/c/events?cursor=turn")
  },
  resume: ({ ask }, read) => {
    const cursor = framesOf(read).findLast(({ id }) => id !== undefined)?.id ?? ""
    return ask("GET", "/chats/c/events", undefined, { "last-event-id": cursor })
  },
  made: (_, bodies) => {
    const events = framesOf(bodies.join("")).map(({ json }) => json)
    const text = JSON.stringify(joinedArguments(joined(events)))
    return Promise.resolve(JSON.parse(text.replaceAll(/[\da-f]{8}-[\da-f-]{27}/gu, "id")))
  }
}

const responses: Wire = {
  begins: "response.created",
  ends: "event: response.completed",
  begin: ({ ask }) =>
    ask("POST", "/v1/responses", { model: "troupe", input: "Go", stream: true }, { "x-troupe-chat": "c" }),
  resume: ({ ask }, read) => {
    const id = /"id":"(?<id>resp_[\w-]+)"/u.exec(read)?.groups?.["id"]
    const after = framesOf(read).at(-1)?.json["sequence_number"]
    return ask("GET", `/v1/responses/${id}?stream=true&starting_after=${String(after)}`)
  },
  made: (_, bodies) => {
    const text = bodies.join("")
    const key = /"id":"resp_(?<key>[\w-]+)"/u.exec(text)?.groups?.["key"] ?? ""
    const same = text.replaceAll(key, "key").replaceAll(/"created_at":\d+/gu, '"created_at":0')
    return Promise.resolve(joined(framesOf(same).map(({ json }) => json)))
  }
}

describe("a connection that breaks at random frames", () => {
  const wires = {
    "UI1. the AI SDK's UI message stream": aiSdk,
    "ATT1. the events of a chat": own,
    "RESPSEQ2. OpenAI's responses": responses
  }
  for (const [name, wire] of Object.entries(wires)) {
    let unbroken: Promise<unknown> | undefined
    it.effect.prop(
      `${name}: the client misses nothing and repeats nothing`,
      { breaks: Breaks },
      ({ breaks }) =>
        Effect.promise(async () =>
          expect(await followed(wire, breaks)).toEqual(await (unbroken ??= followed(wire, [])))
        ),
      runsOf(25)
    )
  }
})
