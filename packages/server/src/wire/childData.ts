/**
 * The event of a child as data of a protocol that has no form for it: the text, the reasoning and the calls of the child.
 *
 * CHILDDATA1. The ends of steps and turns, raw chunks and errors of a child are left out: the result of the call has its outcome.
 */
import type { Event } from "@troupe/chat/events"
import type { PendingApproval } from "@troupe/chat/tools"
import { eventText } from "./eventJson.ts"

type ChildEvent = Extract<Event, { readonly type: "child_event" }>

const leftOut: ReadonlySet<Event["type"]> = new Set<Event["type"]>([
  "step_completed",
  "chat_completed",
  "raw_chunk",
  "error"
])

/** The fields of a child's event as JSON; `undefined` for an event that is left out. */
export const childData = (given: ChildEvent): Readonly<Record<string, unknown>> | undefined => {
  let event: Event = given
  while (event.type === "child_event") event = event.event
  if (leftOut.has(event.type)) return undefined
  const { type: _, ...data } = JSON.parse(eventText(given)) as Record<string, unknown>
  return data
}

/** Whether a person answers the wait of a sub-agent with a text: a question, or a call that waits for its result. */
export const isAnswered = ({ kind }: Pick<PendingApproval, "kind">): boolean =>
  kind === "question" || kind === "tool_result"

/** Whether this is the address of a wait below a call. */
export const isBelow = (id: string | undefined, toolCallId: string): boolean =>
  id?.startsWith(`${toolCallId}/~/`) === true

/** What a client gets of a compaction: that it ran, and how large requests are. */
export const compactedData = ({
  compaction: { upTo, tokens }
}: Extract<Event, { readonly type: "thread_compacted" }>): Readonly<Record<string, unknown>> => ({ upTo, tokens })
