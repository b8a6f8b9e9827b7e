/**
 * Buckets of conversations, and the shards that the engine places.
 *
 * **Details**: a bucket is a part of all conversations, by the hash of the conversation's id. A shard is a group of buckets
 * that move together. All numbers here are part of the database's schema (`protocol`).
 *
 * @module
 */

/** The number of buckets. */
export const bucketCount = 4_096

/** The number of shards. It divides the number of buckets. */
export const shardCount = 256

/** The numbers that all nodes of a cluster must have in common. A change of any makes the nodes refuse to join. */
export const protocol: Readonly<Record<string, string>> = {
  buckets: String(bucketCount),
  hash: "fnv1a32-utf8",
  placement: "1",
  shards: String(shardCount)
}

/** The shard of a bucket. */
export const shardOf = (bucket: number): number => bucket % shardCount

/** The buckets of a shard. */
export const bucketsOf = (shard: number): ReadonlyArray<number> =>
  Array.from({ length: bucketCount / shardCount }, (_, index) => shard + index * shardCount)
