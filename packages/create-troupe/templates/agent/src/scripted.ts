/** A model that needs no key: it chooses a tool by the words of the last message. Delete it when you have a real one. */
import { Fake } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"

/** Streams a text, word by word. */
const says = (text: string, wordDelayMs: number): Fake.Script => [
  ...text.split(/(?<= )/).flatMap((word) => [{ delayMs: wordDelayMs }, { text: word }]),
  { finish: "stop" }
]

const calls = (id: string, name: string, args: object): Fake.Script => [
  { toolCall: { id, name, arguments: { ...args } } },
  { finish: "tool_calls" }
]

export const scripted = (wordDelayMs = 40) =>
  Fake.make({
    respond: ({ messages }) => {
      const last = messages.at(-1)
      const text = last === undefined ? "" : Message.text(last)
      const order = /\d+/.exec(text)?.[0] ?? "42"
      const id = `call-${messages.length}`
      if (last?.role === "tool") return says(`I have asked the shop. ${text}.`, wordDelayMs)
      if (/refund|money/i.test(text)) return calls(id, "refund", { order, euros: 24 })
      if (/order|mugs|parcel/i.test(text)) return calls(id, "look_up_order", { order })
      return says("Hello! I am a scripted model. Ask where order 42 is, or ask for a refund of order 42.", wordDelayMs)
    }
  })
