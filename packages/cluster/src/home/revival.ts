/**
 * The start of what ran in the buckets that a node has gained.
 *
 * Owns: the chats that are to be started. Does not own the chats.
 *
 * CLUSTER8. A conversation that ran, or had waiting inputs, when its home ended is started by its next home, though nobody
 *           asks for it. Until then other requests for it wait, because a new input would abandon the interrupted turn.
 * CLUSTER9. With `resume` its turn is retried at most twice over moves, and never with a call whose outcome is not known. The
 *           store counts the retries.
 */
import type { LocalChatRef, RunningTroupe } from "@troupe/chat"
import { SessionError } from "@troupe/chat/errors"
import { type Conversation, Store } from "@troupe/chat/store"

/** The functions that a revival needs. */
export interface RevivalParts {
  readonly store: Pick<Store.SessionStore, "list" | "load" | "history" | "claim">
  readonly troupe: () => Pick<RunningTroupe, "chat">
  /** Resolves with whether this node is the home of the bucket, once that is known. */
  readonly ready: (bucket: number) => Promise<boolean>
  readonly onMoved: "resume" | "interrupt"
  readonly report: (error: unknown) => void
}

/** How many chats are started at once. */
const atOnce = 8

const mostRetries = 2

export class Revival {
  readonly #parts: RevivalParts
  readonly #waiting = new Set<string>()
  readonly #starting = new Set<string>()
  /** The buckets that are being listed, and how many times. */
  readonly #listing = new Map<number, number>()
  #isStopped = false

  constructor(parts: RevivalParts) {
    this.#parts = parts
  }

  /** Starts what ran in these buckets. */
  readonly revive = (buckets: ReadonlySet<number>): void => {
    for (const bucket of buckets) this.#count(bucket, 1)
    void this.#find(buckets)
      .catch(this.#parts.report)
      .finally(() => {
        for (const bucket of buckets) this.#count(bucket, -1)
      })
  }

  /** Whether the chat has not been started yet, or it is not known yet whether it ran. */
  readonly isPending = (id: string): boolean =>
    this.#waiting.has(id) || this.#starting.has(id) || this.#listing.has(Store.bucketOf(id))

  /** Starts nothing more. */
  stop(): void {
    this.#isStopped = true
    this.#waiting.clear()
  }

  #count(bucket: number, change: number): void {
    const count = (this.#listing.get(bucket) ?? 0) + change
    if (count === 0) this.#listing.delete(bucket)
    else this.#listing.set(bucket, count)
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
      for (const { id } of page.chats) if (!this.#isStopped) this.#waiting.add(id)
      this.#next()
      after = page.next
    } while (after !== undefined)
  }

  #next(): void {
    for (const id of this.#waiting) {
      if (this.#starting.size >= atOnce) return
      // A bucket may be lost and gained again while its chat is being started.
      if (this.#starting.has(id)) continue
      this.#waiting.delete(id)
      this.#starting.add(id)
      void this.#start(id)
        .catch(this.#parts.report)
        .finally(() => {
          this.#starting.delete(id)
          this.#next()
        })
    }
  }

  async #start(id: string): Promise<void> {
    const { store, troupe, onMoved, ready } = this.#parts
    if (!(await ready(Store.bucketOf(id)))) return
    const record = await store.load(id)
    const chat = await troupe().chat(id)
    if (onMoved === "interrupt" || record === undefined) return
    if (record.running && isKnown(record) && (await this.#mayRetry(id, record.version ?? 0))) return retry(chat)
    if (!record.running) chat.resume()
  }

  /** CLUSTER9: claims the next retry of the turn, which is named by the entry that has its input. */
  async #mayRetry(id: string, newest: number): Promise<boolean> {
    const { store } = this.#parts
    const entries = await store.history(id, { after: Math.max(0, newest - recent), limit: recent })
    const asked = entries.findLast(({ messages }) => messages.some(({ role }) => role === "user"))?.seq ?? 0
    for (let retries = 0; retries < mostRetries; retries++) {
      try {
        await store.claim(`resume:${id}`, asked * (mostRetries + 1) + retries)
      } catch (error) {
        if (error instanceof SessionError && error.reason === "store_fenced") continue
        throw error
      }
      await store.claim(`resume:${id}`, asked * (mostRetries + 1) + retries + 1)
      return true
    }
    return false
  }
}

/** How many of the newest entries are searched for the input of the turn. */
const recent = 500

/** Whether the outcome of each call of an open step is known. */
const isKnown = ({ open }: Conversation): boolean =>
  open === undefined || open.calls.every(({ state }) => state !== "intended")

const retry = async (chat: LocalChatRef): Promise<void> => {
  await chat.retry().return()
}
