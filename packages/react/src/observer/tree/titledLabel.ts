/** The name of a process for people. */
import type { Observation } from "@troupe/chat/observe"

/** The label of a process; that of a chat has the title of the chat in place of its id. */
export const titledLabel = (
  { label, chat }: Pick<Observation.ProcessNode, "label" | "chat">,
  titleOf: ((chat: string) => string | undefined) | undefined
): string => {
  const title = chat !== undefined && label.startsWith("Chat ") ? titleOf?.(chat) : undefined
  return title === undefined ? label : `Chat ${title}`
}
