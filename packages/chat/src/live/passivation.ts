/**
 * Unloads idle chats: ends their processes, and drops the references to them. References to chats, weak or strong.
 *
 * Owns: the references to the chats of a Troupe, and when they are checked. Does not own the chats; `LiveChat.idleSince`
 * decides whether a chat is idle.
 *
 * PASS1. The process of a chat at rest ends when nothing happened in the chat, and no observer watched it, for `afterMs`,
 *        at most a quarter of that later. A process with unsaved data is never ended so.
 * PASS2. Passivation is invisible to the holder of a chat's address: its data can be read, and a send, a decision or an
 *        observer starts a process again, from the store. An input sent while a process ends goes to the next process,
 *        once.
 * PASS3. A chat without a process and without references is garbage-collected, and only its stored data remains. A chat
 *        whose `SessionEnd` hooks must still run is kept.
 * ADMIT1. When as many chats have a process as may have one, another one is loaded only in place of an idle chat, which
 *         is unloaded. If no chat is idle, the chat is refused before anything is loaded. A chat in use is never refused.
 * PASS4. While no chat has a process there is no timer. The timer never keeps the program alive.
 *
 * When an input is sent while a chat is passivated:
 *   1. the chat is checked and is idle; in the same tick its process ends, and the chat has no process.
 *   2. a later send finds no process, and asks the Troupe for one, which loads the record from the store.
 *   3. an earlier send had made the chat busy, and step 1 did not happen.
 */
import type { Clock } from "@troupe/otp"
import { type ChatEnv, recalledBy } from "../loop/index.ts"
import type { Conversation } from "../record/index.ts"
import { inBackground } from "../async/index.ts"
import { bucketOf } from "../record/index.ts"

/** A chat that can be unloaded. */
interface Unloaded {
  readonly pid: unknown
  /** Since when the chat is idle; `undefined` if it is not. */
  readonly idleSince: (now: number) => number | undefined
  /** Ends the chat's process until the chat is used again. */
  readonly passivate: () => void
  /** Whether the chat must stay in memory. */
  readonly needsEnd: boolean
}

/** A requested chat. */
interface Kept {
  readonly chat: Unloaded
}

/** References to the chats of a Troupe: strong while a chat has a process, weak afterwards. */
export class Passivation<Living extends Kept> {
  readonly #clock: Clock.Clock
  readonly #afterMs: number
  readonly #held = new HeldChats<Living>()
  readonly #isReviving: (id: string) => boolean
  readonly #released: (id: string) => void
  readonly #resting = new Map<string, WeakRef<Unloaded>>()
  /** Lives as long as the chat. */
  readonly #known = new WeakMap<Unloaded, Living>()
  readonly #collected = new FinalizationRegistry<string>((id) => {
    if (this.#resting.get(id)?.deref() === undefined) this.#resting.delete(id)
  })
  #timer: unknown
  #isStopped = false

  /** `released` is called when a chat is unloaded, and no longer held strongly. */
  constructor(
    clock: Clock.Clock,
    afterMs: number,
    isReviving: (id: string) => boolean,
    released: (id: string) => void
  ) {
    this.#clock = clock
    this.#afterMs = afterMs
    this.#isReviving = isReviving
    this.#released = released
  }

  /** The chats that are held strongly. */
  get held(): ReadonlyMap<string, Living> & Pick<HeldChats<Living>, "ofBuckets"> {
    return this.#held
  }

  /** The chat, if it is still in memory. */
  get(id: string): Living | undefined {
    const living = this.#held.get(id)
    if (living !== undefined) return living
    const chat = this.#resting.get(id)?.deref()
    return chat === undefined ? undefined : this.#known.get(chat)
  }

  /** All chats that are still in memory. */
  get all(): ReadonlyArray<Living> {
    const resting = Array.from(this.#resting.keys(), (id) => this.get(id))
    return [...this.#held.values(), ...resting.filter((living) => living !== undefined)]
  }

  /** Holds a chat strongly, because it is to have a process. */
  hold(id: string, living: Living | undefined = this.get(id)): void {
    if (living === undefined) return
    if (this.#resting.delete(id)) this.#collected.unregister(living.chat)
    this.#held.set(id, living)
    if (this.#timer === undefined) this.#arm()
  }

  forget(id: string): void {
    this.#held.delete(id)
    this.#resting.delete(id)
  }

  /**
   * Whether another chat may have a process, where at most so many may; unloads the chat that is idle for longest if that
   * makes room (ADMIT1).
   */
  admits(most: number): boolean {
    if (this.#held.size < most) return true
    const now = this.#clock.now()
    let count = 0
    let idle: { readonly id: string; readonly living: Living; readonly since: number } | undefined
    for (const [id, living] of this.#held) {
      const isStarting = this.#isReviving(id)
      if (!isStarting && living.chat.pid === undefined) continue
      count += 1
      const since = isStarting ? undefined : living.chat.idleSince(now)
      if (since !== undefined && since < (idle?.since ?? Infinity)) idle = { id, living, since }
    }
    if (count < most) return true
    if (idle === undefined) return false
    this.#passivate(idle.id, idle.living)
    return count === most
  }

  stop(): void {
    this.#isStopped = true
    this.#disarm()
  }

  #arm(): void {
    if (this.#afterMs === Infinity || this.#isStopped) return
    this.#timer = inBackground(this.#clock, () => this.#look(), this.#afterMs / 4)
  }

  #disarm(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    const now = this.#clock.now()
    let isLeft = false
    for (const [id, living] of this.#held) {
      const since = this.#isReviving(id) ? undefined : living.chat.idleSince(now)
      if (since !== undefined && now - since >= this.#afterMs) this.#passivate(id, living)
      else isLeft ||= living.chat.pid !== undefined || since === undefined
    }
    this.#timer = undefined
    if (isLeft) this.#arm()
  }

  /** PASS2, PASS3 */
  #passivate(id: string, living: Living): void {
    const { chat } = living
    chat.passivate()
    if (chat.needsEnd) return
    this.#held.delete(id)
    this.#released(id)
    this.#known.set(chat, living)
    this.#resting.set(id, new WeakRef(chat))
    this.#collected.register(chat, id, chat)
  }
}

/** Since when a chat rests, and whether the store has its newest record. */
export class RestWatch {
  /** The changes of the chat when it was last looked at, and since when it has not changed. */
  #seen: { readonly changes: number; readonly at: number } | undefined
  /** The newest save, until the store has it; a save that failed, until a later one succeeds. */
  #unstored: object | undefined

  /** Whether the store has the newest record. */
  get isStored(): boolean {
    return this.#unstored === undefined
  }

  /** Since when the chat has made so many changes; `undefined` stands for a chat that is busy. */
  since(changes: number | undefined, now: number): number | undefined {
    if (changes === undefined) this.#seen = undefined
    else if (this.#seen?.changes !== changes) this.#seen = { changes, at: now }
    return this.#seen?.at
  }

  /** Starts the time of rest again. */
  touched(): void {
    this.#seen = undefined
  }

  /** Stores a record; the chat does not rest before the store has it. */
  keep<A>(save: () => Promise<A>): Promise<A> {
    const saving = {}
    this.#unstored = saving
    return save().then((kept) => {
      if (this.#unstored === saving) this.#unstored = undefined
      return kept
    })
  }

  /** A record with what the process before knew of its running calls, by its environment. */
  recalled(record: Conversation | undefined, env: ChatEnv | undefined): Conversation | undefined {
    if (record === undefined || env === undefined) return record
    const recalled = recalledBy(env, record)
    this.unstored(recalled === record ? undefined : recalled)
    return recalled
  }

  /** Sets the record that the store does not have; `undefined` when it has all. */
  unstored(record: object | undefined): void {
    this.#unstored = record
  }
}

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
