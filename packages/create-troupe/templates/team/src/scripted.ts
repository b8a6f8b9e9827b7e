/** A model that needs no key, for both kinds of agents. Delete it when you have a real one. */
import { Fake } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"

/** Streams a text, word by word. */
const says = (text: string, wordDelayMs: number): Fake.Script => [
  ...text.split(/(?<= )/).flatMap((word) => [{ delayMs: wordDelayMs }, { text: word }]),
  { finish: "stop" }
]

const calls = (name: string, args: ReadonlyArray<object>): Fake.Script => [
  ...args.map((one, index) => ({ toolCall: { id: `${name}-${index}`, name, arguments: { ...one } } })),
  { finish: "tool_calls" }
]

/** The coordinator gives two tasks. A researcher looks one up, and asks a person about the other. */
export const scripted = (wordDelayMs = 40) =>
  Fake.make({
    respond: ({ messages, tools }) => {
      const [task = "", ...others] = messages.filter(({ role }) => role !== "system").map(Message.text)
      const results = messages.filter(({ role }) => role === "tool").map(Message.text)
      // The result of a researcher ends with its id, by which a model can call it again.
      const notes = results.map((result) => result.replace(/\s*\[agent: .+\]$/, ""))
      if (tools.some(({ name }) => name === "research")) {
        if (notes.length === 0) return calls("research", [{ input: "the weather" }, { input: "the guests" }])
        return says(`Here is the plan. ${notes.join(" ")}`, wordDelayMs)
      }
      if (others.length > 0) return says(`${others.at(-1)}.`, wordDelayMs)
      if (task.includes("guests")) return calls("ask", [{ question: "How many guests come?" }])
      return calls("look_up", [{ subject: task }])
    }
  })
