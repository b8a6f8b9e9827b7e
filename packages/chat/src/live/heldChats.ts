/** The chats that a Troupe holds strongly, by id and by bucket. */
import { bucketOf } from "../record/index.ts"

/**
 * A map of chats by id.
 *
 * **Details**: a node of a cluster releases its buckets one after another. A program without a cluster never asks for buckets, and
 * has no index of them.
 */
export class HeldChats<Living> extends Map<string, Living> {
  readonly #bucketOf: (id: string) => number
  /** The ids of each bucket, from the first question on. */
  #ids: Map<number, Set<string>> | undefined

  constructor(bucket: (id: string) => number = bucketOf) {
    super()
    this.#bucketOf = bucket
  }

  /** The chats of these buckets. Only the first call looks at all chats. */
  ofBuckets(buckets: Iterable<number>): ReadonlyArray<Living> {
    const ids = (this.#ids ??= this.#indexed())
    return Array.from(new Set(buckets), (bucket) => [...(ids.get(bucket) ?? [])])
      .flat()
      .flatMap((id) => this.get(id) ?? [])
  }

  override set(id: string, living: Living): this {
    if (this.#ids !== undefined && !this.has(id)) this.#add(this.#ids, id)
    return super.set(id, living)
  }

  override delete(id: string): boolean {
    const isDeleted = super.delete(id)
    if (isDeleted && this.#ids !== undefined) this.#remove(this.#ids, id)
    return isDeleted
  }

  override clear(): void {
    super.clear()
    this.#ids = undefined
  }

  #indexed(): Map<number, Set<string>> {
    const ids = new Map<number, Set<string>>()
    for (const id of this.keys()) this.#add(ids, id)
    return ids
  }

  #add(ids: Map<number, Set<string>>, id: string): void {
    const bucket = this.#bucketOf(id)
    const chats = ids.get(bucket)
    if (chats === undefined) ids.set(bucket, new Set([id]))
    else chats.add(id)
  }

  #remove(ids: Map<number, Set<string>>, id: string): void {
    const bucket = this.#bucketOf(id)
    const chats = ids.get(bucket)
    chats?.delete(id)
    if (chats?.size === 0) ids.delete(bucket)
  }
}
