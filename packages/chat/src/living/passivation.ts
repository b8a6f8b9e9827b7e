/**
 * Ends the processes of chats that nobody has used for a while, and lets go of those chats.
 *
 * Owns: how the Troupe holds its chats, and when it looks at them. Does not own the chats; whether one can rest is its own to
 * say (`LiveChat.idleSince`).
 *
 * PASS1. The process of a chat at rest ends when nothing happened in the chat, and nobody watched it, for `afterMs`; at the
 *        latest a quarter of that later. What the store does not have is never ended so.
 * PASS2. Who holds the chat's address notices nothing: what is read is there, and what is sent, decided or watched starts a
 *        process again, from the store. What is said while a process ends is said to the next, once.
 * PASS3. A chat that nobody holds, and that has no process, is collected, and costs nothing but what the store keeps; but one
 *        whose `SessionEnd` hooks are to be told at its end.
 * PASS4. While no chat has a process there is no timer; the one there is keeps no program alive.
 *
 * A send that comes while a chat is passivated:
 *   1. the chat is looked at, and at rest; in the same turn its process is dead and the chat has none any more.
 *   2. what is sent from here on finds no process, and asks the Troupe for one: it loads what the store has.
 *   3. what was sent before had made the chat busy, and step 1 did not happen.
 */
import type { Clock } from "@troupe/otp"
import { inBackground } from "../async/index.ts"
import type { LiveChat } from "./liveChat.ts"

/** What is kept of a chat that was asked for. */
export interface Kept {
  readonly chat: LiveChat
}

/** How the chats of a Troupe are held: those with a process strongly, the others as long as somebody else does. */
export class Passivation<Living extends Kept> {
  readonly #clock: Clock.Clock
  readonly #afterMs: number
  readonly #held = new Map<string, Living>()
  readonly #isReviving: (id: string) => boolean
  readonly #released: (id: string) => void
  readonly #resting = new Map<string, WeakRef<LiveChat>>()
  /** As long as the chat itself. */
  readonly #known = new WeakMap<LiveChat, Living>()
  readonly #collected = new FinalizationRegistry<string>((id) => {
    if (this.#resting.get(id)?.deref() === undefined) this.#resting.delete(id)
  })
  #timer: unknown
  #isStopped = false

  /** `releaseHeld` hears of a chat that is held strongly no longer. */
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
  get held(): ReadonlyMap<string, Living> {
    return this.#held
  }

  /** The chat, if it is held by anybody. */
  get(id: string): Living | undefined {
    const living = this.#held.get(id)
    if (living !== undefined) return living
    const chat = this.#resting.get(id)?.deref()
    return chat === undefined ? undefined : this.#known.get(chat)
  }

  /** All that are held by anybody. */
  get all(): ReadonlyArray<Living> {
    const resting = Array.from(this.#resting.keys(), (id) => this.get(id))
    return [...this.#held.values(), ...resting.filter((living) => living !== undefined)]
  }

  /** The chat is to have a process. */
  hold(id: string, living: Living | undefined = this.get(id)): void {
    if (living === undefined) return
    if (this.#resting.delete(id)) this.#collected.unregister(living.chat)
    this.#held.set(id, living)
    if (this.#timer === undefined) this.#arm()
  }

  forget(id: string): void {
    this.#held.delete(id)
    this.#resting.delete(id)
    this.#released(id)
  }

  /** Nothing is passivated any more. */
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
