/**
 * The messages and questions of agents, for clients of foreign protocols.
 *
 * AGENTMSG1. A message of an agent names its sender: in the messages that a client loads, and in the stream of the turn that reads it,
 *            once, when the step that reads it ends.
 */
import type { Event } from "@troupe/chat/events"
import { Message } from "@troupe/chat/messages"
import { isStep } from "./chatReply.ts"

/** The agent that sent a message: its chat, and whether it is a message (`tell`) or a question (`ask`). */
interface AgentSender {
  readonly chat: string
  readonly kind: string
}

/** The sender of a message of an agent; `undefined` for another message. */
export const senderOf = ({ role, metadata }: Message.Message): AgentSender | undefined => {
  const sender: unknown = role === "user" ? metadata?.["from"] : undefined
  if (typeof sender !== "object" || sender === null) return undefined
  const [chat, kind]: ReadonlyArray<unknown> = [Reflect.get(sender, "chat"), Reflect.get(sender, "kind")]
  return typeof chat === "string" && typeof kind === "string" ? { chat, kind } : undefined
}

/** The messages of agents that a step was the first to read, with their senders. */
export const agentMessages = ({
  thread: { messages }
}: Extract<Event, { readonly type: "step_completed" }>): ReadonlyArray<AgentSender & { readonly text: string }> => {
  const at = messages.findLastIndex(isStep)
  const before = messages.findLastIndex((message, index) => index < at && message.role !== "user")
  return messages.slice(before + 1, Math.max(0, at)).flatMap((message) => {
    const sender = senderOf(message)
    return sender === undefined ? [] : [{ ...sender, text: Message.text(message) }]
  })
}
