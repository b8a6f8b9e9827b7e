/** The agents of stored conversations, and the conversations of sub-agents: their ids, and the parents that they name. */
import * as z from "zod"

/** The name of an agent, and the version of the definition that it last had. */
export const AgentRef = z.object({ name: z.string(), version: z.string() }).readonly()

export type AgentRef = z.infer<typeof AgentRef>

/**
 * The call that a conversation was begun for: the chat of the call, its id, and how many chats are above.
 *
 * **Units**: `depth` is 1 for a child of a conversation that a user began.
 */
export const ParentRef = z.object({ chat: z.string(), call: z.string(), depth: z.number().int().positive() }).readonly()

export type ParentRef = z.infer<typeof ParentRef>

const mark = "/~/"

/** Whether an id is that of a sub-agent's conversation. */
export const isChildId = (id: string): boolean => id.includes(mark)

/** The id of the conversation that a user began, above all sub-agents. */
export const rootOf = (id: string): string => {
  const at = id.indexOf(mark)
  return at === -1 ? id : id.slice(0, at)
}

/** The address of a wait of a child, in the chat of the call: the id of the call, and what the child calls the wait. */
export const addressOf = (toolCallId: string, id: string): string => `${toolCallId}${mark}${id}`

/** The id of the call in an address; the id itself for a call of the chat's own. */
export const callOf = (address: string): string => rootOf(address)

/** The children of a record that belong to a call which is not over: of the open step, or of a background task, by its id. */
export const childrenLeft = (
  children: ReadonlyArray<string>,
  open: unknown,
  tasks: ReadonlyArray<{ readonly id: string }> = []
): ReadonlyArray<string> =>
  open === undefined ? children.filter((child) => tasks.some(({ id }) => child.endsWith(`-${id}`))) : children

/** The id of a child of this chat. */
export const childId = (parent: string, suffix: string): string => `${rootOf(parent)}${mark}${suffix}`
