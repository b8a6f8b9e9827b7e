/**
 * The agents of stored conversations, and the conversations of sub-agents: their ids, the parents that they name, and the buckets:
 * the units of conversations that many machines share out among themselves.
 */
import * as z from "zod"

/** The name of an agent, and the version of the definition that it last had. */
export const AgentRef = z.lazy(() => z.object({ name: z.string(), version: z.string() }).readonly())

export type AgentRef = z.infer<typeof AgentRef>

/**
 * The call that a conversation was begun for: the chat of the call, its id, and how many chats are above.
 *
 * **Units**: `depth` is 1 for a child of a conversation that a user began.
 */
export const ParentRef = z.lazy(() =>
  z.object({ chat: z.string(), call: z.string(), depth: z.number().int().positive() }).readonly()
)

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

/** The id of a child of this chat. */
export const childId = (parent: string, suffix: string): string => `${rootOf(parent)}${mark}${suffix}`

/** The least number of digits of a short id. Two children of one chat have the same only by chance; then a longer id is needed. */
const fewDigits = 8

/** The short id by which a model calls a child again: the name of its agent, and the first digits of its id. */
export const shortIdOf = (child: string, agent: string): string => `${agent}-${digitsOf(child).slice(0, fewDigits)}`

/** The name of the agent in the id of a child. */
export const agentIn = (child: string): string => {
  const own = child.slice(child.lastIndexOf("/") + 1)
  return own.slice(0, Math.max(0, own.lastIndexOf("-")))
}

/** The children that a short id, or a longer one, can mean. */
export const withShortId = (children: ReadonlyArray<string>, shortId: string): ReadonlyArray<string> => {
  const digits = digitsOf(shortId)
  return digits.length < fewDigits ? [] : children.filter((child) => digitsOf(child).startsWith(digits))
}

/** The child that the call with this digest of its key began. */
export const childOfCall = (children: ReadonlyArray<string>, digits: string): string | undefined =>
  children.find((child) => digitsOf(child) === digits)

const digitsOf = (id: string): string => id.slice(id.lastIndexOf("-") + 1)

/** The number of buckets. It and the hash are part of what stores have, and never change. */
export const buckets = 4_096

const encoder = new TextEncoder()

/**
 * The bucket of a conversation: FNV-1a (32 bit) over the UTF-8 bytes of its id, modulo 4,096. The conversation of a sub-agent
 * has the bucket of the one that it belongs to.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Store } from "@troupe/chat/store"
 *
 * Store.bucketOf("conversation-42") // => 1_943
 * ```
 */
export const bucketOf = (id: string): number => {
  let hash = 0x81_1c_9d_c5
  for (const byte of encoder.encode(rootOf(id))) hash = Math.imul(hash ^ byte, 0x01_00_01_93)
  return (hash >>> 0) % buckets
}
