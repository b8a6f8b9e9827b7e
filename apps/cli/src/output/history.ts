/**
 * A thread as lines of text.
 *
 * @module
 */
import { Message } from "@troupe/chat/messages"
import type { Paint } from "./paint.ts"
import { argumentText, shortened } from "./toolLines.ts"

const longest = 240

/** One line for each message, and one for each call a message makes. */
export const historyLines = (messages: ReadonlyArray<Message.Message>, paint: Paint): ReadonlyArray<string> =>
  messages.length === 0
    ? [paint.quiet("  nothing has been said yet")]
    : messages.flatMap((message) => messageLines(message, paint))

const messageLines = (message: Message.Message, paint: Paint): ReadonlyArray<string> => {
  const said = shortened(Message.text(message), longest)
  switch (message.role) {
    case "system":
      return [paint.quiet(`  rules  ${said}`)]
    case "user":
      return [`  ${paint.strong("you")}    ${said}`]
    case "tool":
      return [paint.quiet(`  tool   ${said}`)]
    case "assistant": {
      const calls = (message.toolCalls ?? []).map((call) =>
        paint.quiet(`  calls  ${call.name}${argumentText(call.arguments)}`)
      )
      return said === "" ? calls : [`  ${paint.accent("model")}  ${said}`, ...calls]
    }
  }
}
