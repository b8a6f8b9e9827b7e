/** The name of a process for people. */
import type { Observation } from "@troupe/chat/observe"

/** The conversation of a sub-agent: below its root's id, the name of its agent and digits. */
const subAgent = /^Chat .*\/~\/(.+)-[^-/]+$/

/** The label of a process; that of a chat has the chat's title, or the name of its agent if it is a sub-agent's, in place of its id. */
export const titledLabel = (
  { label, chat }: Pick<Observation.ProcessNode, "label" | "chat">,
  titleOf: ((chat: string) => string | undefined) | undefined
): string => {
  const title = chat !== undefined && label.startsWith("Chat ") ? titleOf?.(chat) : undefined
  return title === undefined ? label.replace(subAgent, "Chat $1") : `Chat ${title}`
}
