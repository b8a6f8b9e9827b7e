/** The model of a storm: its texts depend only on the input, so that a repeated reply has the same text. */
import type { Fake } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import type { Request } from "@troupe/chat/models"

/** The end of an input that asks for a call that writes. */
export const writes = " and writes"

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
  if (input.endsWith(writes) && at === messages.length - 1) {
    const toolCall = { id: `note ${input}`, name: "note", arguments: {} }
    return [begun, { delayMs: 50 }, { toolCall }, { finish: "tool_calls" }]
  }
  const streamed = words.flatMap((word) => [{ text: `${word} ` }, { delayMs: 40 }])
  return [begun, { text: "This is " }, ...streamed, { text: answers }, { finish: "stop" }]
}
