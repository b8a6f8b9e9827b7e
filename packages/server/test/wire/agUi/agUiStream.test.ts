import { EventSchemas as earlierSchemas } from "@ag-ui/client-0.0.59"
import { EventSchemas } from "@ag-ui/core/schemas"
import { askUser, Fake, tool, Troupe } from "@troupe/chat"
import type { Event } from "@troupe/chat/events"
import type { Message } from "@troupe/chat/messages"
import { describe, expect, it } from "vitest"
import { agUiMessages } from "../../../src/wire/agUi/agUiMessages.ts"
import { type AgUiEvent, AgUiStream } from "../../../src/wire/agUi/agUiStream.ts"

const shot = [
  { type: "text", text: "The page" },
  { type: "image", image: { base64: "iVBORw0KGgo=", mediaType: "image/png" } }
]

const turnOf = async (scripts: ReadonlyArray<Fake.Script>) => {
  const tools = [
    tool({ name: "echo", execute: (args) => args }),
    tool({ name: "shot", execute: () => shot }),
    tool({ name: "asks", execute: () => askUser("Which?") }),
    tool({ name: "byHand", manual: true })
  ]
  const troupe = await Troupe.start({ adapter: Fake.make({ scripts }), tools, includeRawChunks: true })
  const chat = await troupe.chat("c")
  const events: Array<Event> = []
  for await (const event of chat.send("Go")) events.push(event)
  return { events, messages: chat.thread.messages }
}

const streamOf = (isCurrent = true) =>
  new AgUiStream({ threadId: "c", runId: "r", reply: "m0.reply", steps: 0, calls: [], isCurrent, resultIds: new Map() })

interface Notified {
  readonly id: string
  readonly role: string
  content?: unknown
  activityType?: string
  toolCallId?: string
  toolCalls?: Array<{
    readonly id: string
    readonly type: string
    readonly function: { readonly name: string; arguments: string }
  }>
}

/** What a client makes of a run: what is begun is ended, in order, and every event is of a form that it reads. */
const read = (events: ReadonlyArray<AgUiEvent>, isCurrent = true): ReadonlyArray<Notified> => {
  const schemas = isCurrent ? EventSchemas : earlierSchemas
  const messages: Array<Notified> = []
  const open = new Set<string>()
  const of = (id: unknown, role: string): Notified => {
    const known = messages.find((message) => message.id === id)
    if (known !== undefined) return known
    const made: Notified = { id: String(id), role }
    messages.push(made)
    return made
  }
  for (const event of events) {
    expect({ event, isKnown: schemas.safeParse(event).success }).toEqual({ event, isKnown: true })
    const named = [event["messageId"], event["toolCallId"], event["stepName"]].find((name) => typeof name === "string")
    const key = `${event.type.replace(/_(?:START|STARTED|END|FINISHED)$/u, "")} ${named ?? ""}`
    if (/_START(?:ED)?$/u.test(event.type)) open.add(key)
    if (/_(?:END|FINISHED)$/u.test(event.type)) expect(open.delete(key)).toBe(true)
    if (event.type === "TEXT_MESSAGE_CONTENT") {
      const message = of(event["messageId"], "assistant")
      message.content = [message.content, event["delta"]].join("")
    } else if (event.type === "REASONING_MESSAGE_CONTENT") {
      const message = of(event["messageId"], "reasoning")
      message.content = [message.content, event["delta"]].join("")
    } else if (event.type === "TOOL_CALL_START") {
      const message = of(event["parentMessageId"], "assistant")
      message.toolCalls ??= []
      message.toolCalls.push({
        id: String(event["toolCallId"]),
        type: "function",
        function: { name: String(event["toolCallName"]), arguments: "" }
      })
    } else if (event.type === "TOOL_CALL_ARGS") {
      const call = messages.flatMap(({ toolCalls = [] }) => toolCalls).findLast(({ id }) => id === event["toolCallId"])
      if (call !== undefined) call.function.arguments += String(event["delta"])
    } else if (event.type === "TOOL_CALL_RESULT") {
      messages.push({
        id: String(event["messageId"]),
        role: "tool",
        toolCallId: String(event["toolCallId"]),
        content: event["content"]
      })
    } else if (event.type === "ACTIVITY_SNAPSHOT") {
      const { messageId, activityType, content } = event
      messages.push({ id: String(messageId), role: "activity", activityType: String(activityType), content })
    }
  }
  expect([...open]).toEqual([])
  return messages
}

/** As messages stand in a snapshot, without the order that results, and calls that were not heard, came in. */
const sorted = (messages: ReadonlyArray<object>) => {
  const inOrder = (list: ReadonlyArray<{ readonly id: string }>) =>
    list.toSorted((one, other) => (one.id < other.id ? -1 : 1))
  return inOrder(messages as ReadonlyArray<Notified>).map((message) => {
    const { toolCalls } = message as Notified
    return toolCalls === undefined ? message : { ...message, toolCalls: inOrder(toolCalls) }
  })
}

const replyOf = (messages: ReadonlyArray<Message.Message>, isCurrent = true) =>
  agUiMessages(messages, isCurrent).slice(1)

const turns: Readonly<Record<string, ReadonlyArray<Fake.Script>>> = {
  "an answer": [[{ reasoning: "Hm" }, { reasoning: "m" }, { text: "Hel" }, { text: "lo" }, { finish: "stop" }]],
  "tools and an answer": [
    [
      { text: "Wait." },
      { toolCall: { id: "c0", name: "echo", arguments: { x: 1 } } },
      { toolCall: { id: "c1", name: "echo", rawArguments: '{"x":' } },
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
    [{ text: "Twice" }, { finish: "stop" }]
  ],
  "reasoning before and after a text, and a call": [
    [
      { reasoning: "Hm" },
      { text: "I look." },
      { reasoning: "or not" },
      { toolCall: { id: "c0", name: "echo", arguments: { x: 1 } } },
      { finish: "tool_calls" }
    ],
    [{ reasoning: "So" }, { text: "Done" }, { finish: "stop" }]
  ],
  "a question": [[{ toolCall: { id: "c0", name: "asks" } }, { finish: "tool_calls" }]],
  "a call of the client's": [[{ toolCall: { id: "c0", name: "byHand" } }, { finish: "tool_calls" }]]
}

it("TPART3, AGUI3. before version 1.0 a result with an image is its text, with a line for each part", async () => {
  const { messages } = await turnOf(turns["a result with an image"] ?? [])
  expect(replyOf(messages, false)).toMatchObject([
    {},
    { role: "tool", content: "The page\n[image image/png, 8 B]" },
    {}
  ])
})

describe("AGUI1, AGUI2. a run ends all it begins, and its messages are those of the thread", () => {
  for (const [title, scripts] of Object.entries(turns)) {
    for (const isCurrent of [true, false]) {
      it(`of ${title}, for a client of version ${isCurrent ? "1.0" : "0.0.59"}`, async () => {
        const { events, messages } = await turnOf(scripts)
        const stream = streamOf(isCurrent)
        const notified = read([...stream.start(), ...events.flatMap((event) => stream.push(event))], isCurrent)
        expect(sorted(notified)).toEqual(sorted(replyOf(messages, isCurrent)))
      })
    }

    // A snapshot has all reasoning so far in one message.
    if (title.startsWith("reasoning")) continue
    it(`of ${title}, not heard from any event of its first step on`, async () => {
      const { events, messages } = await turnOf(scripts)
      const stepEnd = events.findIndex(({ type }) => type === "step_completed")
      for (let seen = 0; seen <= stepEnd; seen++) {
        const partial = events
          .slice(0, seen)
          .map((event) => (event.type === "text_delta" ? event.delta : ""))
          .join("")
        const reasoning = events
          .slice(0, seen)
          .map((event) => (event.type === "reasoning_delta" ? event.delta : ""))
          .join("")
        const stream = streamOf()
        const notified = read([
          ...stream.start(),
          ...stream.snapshot([], 0, { text: partial, reasoning }),
          ...events.slice(seen).flatMap((event) => stream.push(event))
        ])
        expect({ seen, notified: sorted(notified) }).toEqual({ seen, notified: sorted(replyOf(messages)) })
      }
    })
  }
})
