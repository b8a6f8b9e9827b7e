/** The messages of a thread with their calls. A list is made anew only when the thread or its decisions change. */
import type { Message } from "@troupe/chat/messages"
import type { ChatView } from "@troupe/chat/view"
import { calledIn, resultsOf, type ShownCall } from "../call/index.ts"

/** A message of a thread, its place there, and its calls. */
export interface Entry {
  /** Where the message is in the thread, from 0. */
  readonly index: number
  /** What a person or the model wrote. */
  readonly message: Message.Message
  /** The tool calls of a reply, with their results. */
  readonly calls: ReadonlyArray<ShownCall>
  /** Whether it is the last message of the thread that a person or the model wrote. */
  readonly isLast: boolean
}

/** The entries, and the decisions that belong to none of their calls. */
export interface Entries {
  readonly entries: ReadonlyArray<Entry>
  readonly others: ChatView.ChatView["approvals"]
}

/** The messages of a thread; those of tools are shown with their calls. */
export const entriesOf = ({ messages, approvals }: Pick<ChatView.ChatView, "messages" | "approvals">): Entries => {
  const results = resultsOf(messages)
  const shown = messages.flatMap((message, index) =>
    message.role === "tool" || message.role === "system" ? [] : [{ message, index }]
  )
  const entries = shown.map(({ message, index }, place): Entry => {
    const calls = message.role === "assistant" ? (message.toolCalls ?? []) : []
    return {
      index,
      message,
      calls: calls.map((call) => calledIn(call, results, results.has(call.id) ? [] : approvals)),
      isLast: place === shown.length - 1
    }
  })
  const placed = new Set(entries.flatMap(({ calls }) => calls.flatMap((call) => call.approvals)))
  return { entries, others: approvals.filter((approval) => !placed.has(approval)) }
}
