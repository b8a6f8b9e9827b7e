/** The buckets of conversations: the units that many machines share out among themselves. */
import { rootOf } from "./Child.ts"

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
