/**
 * Which agent serves a chat.
 *
 * Owns: nothing. The record names the agent; the table of agents has the definitions.
 *
 * AGENT3. A chat has the agent of its stored conversation, with the version of the present definition. A conversation without an
 *         entry has the agent that its waiting inputs were sent to, else the one that the caller gives, else that of the Troupe.
 * AGENT4. When the Troupe has no agent of the stored name, or none whose calls are open, the chat does not start, and nothing is
 *         written. A start with that agent continues the conversation.
 */
import { SessionError } from "../errors/index.ts"
import type { AgentRef, Conversation, InboxEntry } from "../record/index.ts"
import type { AgentTable } from "./agentTable.ts"

/** The agent that a caller gives for a chat; `replaces` is whether it replaces the stored one. */
export interface AskedAgent {
  readonly name: string
  readonly replaces?: boolean
}

/** Whether the store has an entry of the conversation. A store without a log has no numbers of entries. */
const isBegun = ({ version, thread }: Conversation): boolean => version !== undefined || thread.messages.length > 0

/** The stored name of the agent. */
const storedName = (record: Conversation | undefined): string | undefined =>
  record === undefined ? undefined : (record.agent ?? (isBegun(record) ? undefined : record.inbox?.[0]?.agent))?.name

/** An input as it is stored: with the agent of a conversation that has no entry yet (AGENT3). */
export const stamped = (
  input: InboxEntry,
  chat: (Pick<Conversation, "thread"> & { readonly agent?: AgentRef | undefined }) | undefined
): InboxEntry =>
  chat?.agent === undefined || chat.thread.messages.length > 0 ? input : { ...input, agent: chat.agent }

/** The agent of a chat that starts (AGENT3). */
export const agentOf = (
  agents: AgentTable,
  {
    record,
    before,
    asked
  }: {
    readonly record: Conversation | undefined
    readonly before: AgentRef | undefined
    readonly asked: AskedAgent | undefined
  }
): AgentRef | undefined => {
  if (asked?.replaces === true) return agents.ref(asked.name)
  const stored = storedName(record)
  if (stored !== undefined) return agents.ref(stored)
  if (record !== undefined && isBegun(record)) return undefined
  const name = before?.name ?? asked?.name ?? agents.usual
  return name === undefined ? undefined : agents.ref(name)
}

/** Throws a `SessionError` (`unknown_agent`) when the Troupe lacks an agent of the record (AGENT4). */
export const checkAgents = (
  agents: AgentTable,
  record: Conversation | undefined,
  asked: AskedAgent | undefined
): void => {
  const name = asked?.replaces === true ? undefined : storedName(record)
  for (const needed of [name, record?.open?.agent]) {
    if (needed !== undefined) agents.ref(needed)
  }
}

/** The error of a chat that has another agent than the caller gives. */
export const otherAgent = (id: string, agent: AgentRef | undefined, asked: AskedAgent): SessionError => {
  const has = agent === undefined ? "no agent" : `the agent ${agent.name}`
  const message = `The chat ${id} has ${has}; call chat.handoff("${asked.name}") to hand it over, or leave out the agent`
  return new SessionError("other_agent", message, { metadata: { id, agent: agent?.name } })
}
