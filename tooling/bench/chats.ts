/** Many chats at once: one model turn with two tool calls of 50 ms, then one of 50 text deltas. */
import { setTimeout as sleep } from "node:timers/promises"
import { type Adapter, Chat, Engine, Fake, tool, Troupe, user } from "@troupe/chat"

const toolMs = 50
const words = 50

const calls = ["c0", "c1"].map((id) => ({ toolCall: { id, name: "wait", arguments: { id } } }))
const wantsTools: Fake.Script = [...calls, { finish: "tool_calls" }]
const answers: Fake.Script = [...Array.from({ length: words }, () => ({ text: "word " })), { finish: "stop" }]

const adapter = (): Adapter.Adapter =>
  Fake.make({ respond: (request) => (request.messages.at(-1)?.role === "tool" ? answers : wantsTools) })

const wait = tool({
  name: "wait",
  description: "Waits a moment",
  execute: async ({ id }) => {
    await sleep(toolMs)
    return id
  }
})

const expected = { events: 18 + words, text: "word ".repeat(words) }

const check = (events: number, text: string): void => {
  if (events !== expected.events || text !== expected.text)
    throw new Error(`a chat gave ${events} events and ${text.length} characters`)
}

/** The same events from nested async generators, with nothing around them. */
export const chatsOnGenerators = async (count: number): Promise<void> => {
  async function* model(turn: number) {
    yield { type: "message_started" }
    if (turn === 0) {
      for (const { toolCall } of calls) {
        yield { type: "tool_call_started", ...toolCall }
        yield { type: "tool_call_completed", ...toolCall }
      }
    } else {
      for (let word = 0; word < words; word++) yield { type: "text_delta", delta: "word " }
      yield { type: "text_completed" }
    }
    yield { type: "message_completed" }
  }
  async function* chat() {
    yield* model(0)
    const results = await Promise.all(calls.map(async ({ toolCall }) => (await sleep(toolMs), toolCall.id)))
    for (const id of results) {
      yield { type: "tool_execution_started", id }
      yield { type: "tool_execution_completed", id }
      yield { type: "tool_result_encoded", id }
    }
    yield { type: "step_completed" }
    yield* model(1)
    yield { type: "step_completed" }
    yield { type: "chat_completed" }
  }
  await Promise.all(
    Array.from({ length: count }, async () => {
      let events = 0
      let text = ""
      for await (const event of chat()) {
        events++
        if ("delta" in event) text += event.delta
      }
      check(events, text)
    })
  )
}

/** `Chat.stream` on an engine and a thread. */
export const chatsOnValues = async (count: number): Promise<void> => {
  const engine = Engine.make({ adapter: adapter(), tools: [wait] })
  await Promise.all(
    Array.from({ length: count }, async () => {
      let events = 0
      let text = ""
      for await (const event of await Chat.stream(engine, [user("go")])) {
        events++
        if (event.type === "text_delta") text += event.delta
      }
      check(events, text)
    })
  )
}

/** Chat processes under a supervisor, each sent one message. */
export const chatsOnTroupe = async (count: number): Promise<void> => {
  const troupe = await Troupe.start({ adapter: adapter(), tools: [wait] })
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const chat = await troupe.chat(`chat-${index}`)
      let text = ""
      for await (const event of chat.send("go")) if (event.type === "text_delta") text += event.delta
      check(expected.events, text)
    })
  )
  await troupe.stop()
}
