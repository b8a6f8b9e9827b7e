/** Describes an entry of a conversation's log in a line. */
import type { Message } from "@troupe/chat/messages"
import type { Store } from "@troupe/chat/store"
import { count, words } from "../../format/index.ts"

const contentText = (message: Message.Message): string =>
  typeof message.content === "string"
    ? message.content
    : message.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join(" ")

/** A message in a few words: its role, and its text. */
export interface SaidLine {
  readonly who: "user" | "assistant" | "tool" | "system"
  readonly text: string
}

/** The messages of an entry, one line each; a call and its result are named. */
export const saidIn = (commit: Store.Commit): ReadonlyArray<SaidLine> =>
  commit.messages.map((message) => {
    const calls = message.role === "assistant" ? (message.toolCalls ?? []) : []
    const called = calls.length === 0 ? "" : `calls ${calls.map(({ name }) => name).join(", ")}`
    const text = [contentText(message).trim(), called].filter((part) => part !== "").join(" · ")
    return { who: message.role, text: text === "" ? "(nothing)" : text }
  })

/** What a compaction of this entry did; `undefined` if it has none. */
export const compactedIn = ({ entries = [] }: Store.Commit): string | undefined => {
  const compacted = entries.findLast((entry) => entry.type === "Compacted")
  if (compacted === undefined) return undefined
  if (compacted.compaction === undefined) return "Compaction undone"
  const { upTo, tokens } = compacted.compaction
  return `Compacted: requests leave out ${count(upTo)} messages, ${count(tokens.before)} → ${count(tokens.after)} tokens`
}

/** The state of the turn, for an entry without a message. */
export const standingOf = ({ kind, from, state }: Store.Commit): string => {
  if (kind === "rewound") return `Rewound to #${from?.seq ?? "?"}`
  if (kind === "forked") return `Forked from ${from?.id ?? "another"} at #${from?.seq ?? "?"}`
  if (state.pendingQuestion !== undefined) return "Waits for an answer"
  if (state.pendingToolCalls.length > 0) return "Waits for results"
  if (!state.running && state.open !== undefined) return "Waits for a decision"
  if (state.running) return state.open === undefined ? "Turn goes on" : "Calls are under way"
  return state.lastHaltedReason === undefined ? "At rest" : `Turn ended: ${words(state.lastHaltedReason)}`
}
