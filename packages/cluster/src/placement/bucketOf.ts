/** The bucket of a conversation. */
import { bucketCount } from "./bucket.ts"

const encoder = new TextEncoder()

/** FNV-1a (32 bit) over the UTF-8 bytes of the id, modulo the number of buckets. */
export const bucketOf = (id: string): number => {
  let hash = 0x81_1c_9d_c5
  for (const byte of encoder.encode(id)) hash = Math.imul(hash ^ byte, 0x01_00_01_93)
  return (hash >>> 0) % bucketCount
}
