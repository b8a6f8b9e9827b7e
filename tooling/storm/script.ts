/** The model of a storm: its texts depend only on the input, so that a repeated reply has the same text. */
import type { Fake } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import type { Request } from "@troupe/chat/models"

/** The end of an input that asks for a call that writes. */
export const writes = " and writes"

/** The end of the answer to an input. */
export const answerTo = (input: string): string => `The answer to ${input}.`

const words = ["a", "reply", "that", "streams", "for", "a", "while,", "word", "by", "word."]

/** Calls the tool first if the input asks for it, then answers. */
export const respond = ({ messages }: Request): Fake.Script => {
  const at = messages.findLastIndex(({ role }) => role === "user")
  const asked = messages[at]
  const input = asked === undefined ? "nothing" : Message.text(asked)
  const begun = { text: `So you say ${input}. ` }
  if (input.endsWith(writes) && at === messages.length - 1) {
    const toolCall = { id: `note ${input}`, name: "note", arguments: {} }
    return [begun, { delayMs: 50 }, { toolCall }, { finish: "tool_calls" }]
  }
  const streamed = words.flatMap((word) => [{ text: `${word} ` }, { delayMs: 40 }])
  return [begun, { text: "This is " }, ...streamed, { text: answerTo(input) }, { finish: "stop" }]
}
