/**
 * The start of what ran in the buckets that a node has gained.
 *
 * Owns: the chats that are to be started, and the buckets in which they are being searched. Does not own the chats.
 *
 * CLUSTER8. A conversation that ran, or had waiting inputs, when its home ended is started by its next home, without a
 *           request.
 * CLUSTER9. With `resume` its turn is retried after each home that leaves. After homes that are gone, which the chat may have caused,
 *           it is retried at most twice. It is never retried while a call of unknown outcome waits for a person: `onUnknown` of its
 *           tool says whether it does. The store counts the retries, and knows which home has left (`handOver`).
 * CLUSTER12. A node that has `maxLiveChats` busy chats refuses another one before it loads it: that chat is started when a
 *            request for it finds a place.
 * CLREVIVE1. While `isDue` of a chat is true, its node answers no request for it: the turn that ran is resumed before any other
 *          input begins a turn. A chat that is asked for is started before the others.
 * CLREVIVE2. A search that fails is made again until it succeeds or the node stops. A start that fails because of the store is
 *          made again for about a minute. Meanwhile requests are answered.
 *
 * Why a request must wait:
 *   1. the turn of an input was cut by a move, and another input waits.
 *   2. the sender of the second input sends it again, and the next home starts its turn.
 *   3. the revival retries the last turn. This would be that of the second input: its answer would come twice.
 */
import type { LocalChatRef, RunningTroupe } from "@troupe/chat"
import { SessionError } from "@troupe/chat/errors"
import { Store } from "@troupe/chat/store"
import type { Clock } from "@troupe/otp"
import { pause } from "../placement/index.ts"

/** The functions that a revival needs. */
export interface RevivalParts {
  readonly store: Pick<Store.SessionStore, "list" | "load" | "history" | "claim">
  readonly troupe: () => Pick<RunningTroupe, "chat">
  /** Resolves with whether this node is the home of the bucket, once that is known. */
  readonly ready: (bucket: number) => Promise<boolean>
  readonly onMoved: "resume" | "interrupt"
  readonly report: (error: unknown) => void
  readonly clock: Clock.Clock
}

/** How many chats are started at once. */
const atOnce = 8

const mostRetries = 2

/** How many marks follow one entry of a chat: twice the moves of a turn between two of its entries. */
const mostMarks = 1_024

/** The pause before a search or a start is made again, at first and at most. */
const firstPauseMs = 500
const longestPauseMs = 30_000

export class Revival {
  readonly #parts: RevivalParts
  readonly #waiting = new Set<string>()
  readonly #starting = new Set<string>()
  readonly #searched = new Map<number, object>()
  readonly #stopped = new AbortController()

  constructor(parts: RevivalParts) {
    this.#parts = parts
  }

  /** Starts what ran in these buckets. */
  readonly revive = (buckets: ReadonlySet<number>): void => {
    const search = {}
    for (const bucket of buckets) this.#searched.set(bucket, search)
    void this.#search(buckets, () => {
      for (const bucket of buckets) if (this.#searched.get(bucket) === search) this.#searched.delete(bucket)
    })
  }

  /** Whether this chat is to be started first (CLREVIVE1). A chat that waits is started now. */
  isDue(id: string): boolean {
    if (this.#waiting.has(id)) this.#begin(id)
    return this.#starting.has(id) || this.#searched.has(Store.bucketOf(id))
  }

  /** Marks these chats, which have left this home in mid-turn, so that their next homes do not count their retry (CLUSTER9). */
  async handOver(ids: ReadonlyArray<string>): Promise<void> {
    await Promise.all(ids.map((id) => this.#leave(id).catch(this.#parts.report)))
  }

  async #leave(id: string): Promise<void> {
    const record = await this.#parts.store.load(id)
    if (record?.running === true) await this.#mark(id, record.version ?? 0, 1)
  }

  /**
   * Claims the first mark that is not passed, of every `step`th one behind the entry of this number, and returns its place. The odd ones
   * are set by a home that leaves; the next home sets the even one behind, so that each is used once.
   */
  async #mark(id: string, newest: number, from: 0 | 1): Promise<number> {
    const step = 1 + from
    for (let place = from; place < mostMarks; place += step)
      if (await this.#claims(`left:${id}`, newest * mostMarks + place)) return place
    return 0
  }

  async #claims(key: string, value: number): Promise<boolean> {
    try {
      await this.#parts.store.claim(key, value)
      return true
    } catch (error) {
      if (error instanceof SessionError && error.reason === "store_fenced") return false
      throw error
    }
  }

  /** Whether the former home has left the chat in this state. */
  async #isHandedOver(id: string, newest: number): Promise<boolean> {
    const place = await this.#mark(id, newest, 0)
    return place % 2 === 1 && (await this.#claims(`left:${id}`, newest * mostMarks + place + 1))
  }

  /** Starts nothing more. */
  stop(): void {
    this.#stopped.abort()
    this.#waiting.clear()
    this.#searched.clear()
  }

  /** Searches the buckets until that succeeds. `searched` is called after the first search (CLREVIVE2). */
  async #search(buckets: ReadonlySet<number>, searched: () => void): Promise<void> {
    for (let pauseMs = firstPauseMs; !this.#stopped.signal.aborted; pauseMs = Math.min(longestPauseMs, 2 * pauseMs)) {
      try {
        return await this.#find(buckets)
      } catch (error) {
        this.#parts.report(error)
      } finally {
        searched()
      }
      await pause(this.#parts.clock, pauseMs, [this.#stopped.signal])
    }
  }

  async #find(buckets: ReadonlySet<number>): Promise<void> {
    let after: string | undefined
    do {
      const page = await this.#parts.store.list({
        running: true,
        bucket: [...buckets],
        limit: 500,
        ...(after === undefined ? {} : { after })
      })
      for (const { id } of page.chats) if (!this.#stopped.signal.aborted) this.#waiting.add(id)
      this.#next()
      after = page.next
    } while (after !== undefined)
  }

  #next(): void {
    for (const id of this.#waiting) {
      if (this.#starting.size >= atOnce) return
      this.#begin(id)
    }
  }

  #begin(id: string, pauseMs = firstPauseMs): void {
    // A chat whose former start has not ended waits for the end of that start.
    if (this.#starting.has(id)) return
    this.#waiting.delete(id)
    this.#starting.add(id)
    void this.#start(id)
      .catch((error: unknown) => {
        this.#parts.report(error)
        if (isOfStore(error) && pauseMs < longestPauseMs) void this.#again(id, pauseMs)
      })
      .finally(() => {
        this.#starting.delete(id)
        this.#next()
      })
  }

  /** CLREVIVE2 */
  async #again(id: string, pauseMs: number): Promise<void> {
    await pause(this.#parts.clock, pauseMs, [this.#stopped.signal])
    if (!this.#stopped.signal.aborted) this.#begin(id, Math.min(longestPauseMs, 2 * pauseMs))
  }

  async #start(id: string): Promise<void> {
    const { store, troupe, onMoved, ready } = this.#parts
    if (!(await ready(Store.bucketOf(id)))) return
    const record = await store.load(id)
    const chat = await troupe().chat(id)
    if (onMoved === "interrupt" || record === undefined) return
    // A turn that waits for a person's decision is not interrupted. The waiting inputs run after that decision.
    if (chat.getSnapshot()?.context.interrupted === undefined) chat.resume()
    else if (await this.#mayRetry(id, record.version ?? 0)) await retry(chat)
  }

  /** CLUSTER9: claims the next retry of the turn, which is named by the entry that has its input. */
  async #mayRetry(id: string, newest: number): Promise<boolean> {
    const { store } = this.#parts
    if (await this.#isHandedOver(id, newest)) return true
    const entries = await store.history(id, { after: Math.max(0, newest - recent), limit: recent })
    const asked = entries.findLast(({ messages }) => messages.some(({ role }) => role === "user"))?.seq ?? 0
    for (let retries = 0; retries < mostRetries; retries++) {
      if (!(await this.#claims(`resume:${id}`, asked * (mostRetries + 1) + retries))) continue
      await store.claim(`resume:${id}`, asked * (mostRetries + 1) + retries + 1)
      return true
    }
    return false
  }
}

/** Whether the store, or its database, caused the error. */
const isOfStore = (error: unknown): boolean => !(error instanceof SessionError) || error.reason === "store_failed"

/** How many of the newest entries are searched for the input of the turn. */
const recent = 500

const retry = async (chat: LocalChatRef): Promise<void> => {
  await chat.retry().return()
}
