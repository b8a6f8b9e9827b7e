/** The messages of agents in a chat, as plain data (OBSERVE7). */
import { beginningOf, isRecord } from "../errors/index.ts"
import type { ChatContext } from "../loop/index.ts"
import { type Message, text } from "../model/index.ts"
import type { ProcessNode } from "./observed.ts"

type AgentMessages = NonNullable<ProcessNode["agentMessages"]>

const newest = 5
const longestText = 200

/** How many messages are looked at, so that a look costs the same for every thread. */
const lookedAt = 100

const sentBy = ({ role, metadata, content }: Message): AgentMessages => {
  const sender = role === "user" ? metadata?.["from"] : undefined
  if (!isRecord(sender)) return []
  const { chat, kind } = sender
  if (typeof chat !== "string" || typeof kind !== "string") return []
  // The first line names the sender.
  const said = text({ role: "user", content: content ?? "" })
  return [{ from: chat, kind, text: beginningOf(said.slice(said.indexOf("\n") + 1), longestText) }]
}

const known = new WeakMap<object, AgentMessages>()

/** The newest messages of agents in a thread and its inbox; the same list while neither changes. `undefined` if there are none. */
export const agentMessagesOf = (
  context: Pick<ChatContext, "record" | "inbox"> | undefined
): AgentMessages | undefined => {
  if (context === undefined) return undefined
  const { record, inbox } = context
  const { messages } = record.thread
  const waiting = inbox.flatMap((input) => input.messages)
  const found = [...messages.slice(-lookedAt), ...waiting].flatMap(sentBy).slice(-newest)
  const before = known.get(messages)
  if (before !== undefined && JSON.stringify(before) === JSON.stringify(found)) return before
  if (found.length === 0) return undefined
  known.set(messages, found)
  return found
}
