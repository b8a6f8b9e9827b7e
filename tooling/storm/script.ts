/** The model of a storm: its texts depend only on the input, so that a repeated reply has the same text. */
import type { Fake } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import type { Request } from "@troupe/chat/models"

/** The end of an input that asks for a call that writes. */
export const writes = " and writes"

/** The end of an input that asks for a sub-agent whose call writes. */
export const delegates = " and delegates"

/** The answer to an input, at the end of a reply. */
const answerTo = (input: string): string => `The answer to ${input}.`

/** The inputs that a reply answers. */
export const answersIn = (reply: string): ReadonlyArray<string> =>
  Array.from(reply.matchAll(/The answer to ([^.]*)\./gu), ([, input = ""]) => input)

const words = ["a", "reply", "that", "streams", "for", "a", "while,", "word", "by", "word."]

/**
 * Calls the tool first if the input asks for it, then answers. As a real model does, it also answers earlier inputs without
 * an answer: a turn that was interrupted more often than it is resumed ends without one, and the next input goes on.
 */
export const respond = ({ messages }: Request): Fake.Script => {
  const at = messages.findLastIndex(({ role }) => role === "user")
  const asked = messages[at]
  const input = asked === undefined ? "nothing" : Message.text(asked)
  const answered = new Set(
    messages.flatMap((message) => (message.role === "user" ? [] : answersIn(Message.text(message))))
  )
  const open = messages
    .slice(0, Math.max(0, at))
    .flatMap((message) => (message.role === "user" ? [Message.text(message)] : []))
    .filter((text) => !answered.has(text))
  const answers = [...open, input].map(answerTo).join(" ")
  const begun = { text: `So you say ${input}. ` }
  if (at === messages.length - 1) {
    if (input.endsWith(writes)) return [begun, ...called(`note ${input}`, "note")]
    if (input.endsWith(delegates)) return [begun, ...called(`ask ${input}`, "clerk", { input })]
  }
  const streamed = words.flatMap((word) => [{ text: `${word} ` }, { delayMs: 40 }])
  return [begun, { text: "This is " }, ...streamed, { text: answers }, { finish: "stop" }]
}

/** The sub-agent: it calls the tool, and answers when it has the result. */
export const clerk = ({ messages }: Request): Fake.Script => {
  const task = messages.find(({ role }) => role === "user")
  if (messages.at(-1)?.role === "user")
    return called(`note ${task === undefined ? "nothing" : Message.text(task)}`, "note")
  return [{ text: "It " }, { delayMs: 100 }, { text: "is noted" }, { finish: "stop" }]
}

const called = (id: string, name: string, args: Readonly<Record<string, unknown>> = {}): Fake.Script => [
  { delayMs: 50 },
  { toolCall: { id, name, arguments: args } },
  { finish: "tool_calls" }
]
