/**
 * The grants that this node holds for its streams and chats.
 *
 * Owns: the grants, and the timers of their renewal and release. Does not own the counts, which the home of each owner has.
 *
 * GRANT1. A grant is renewed each `renewMs` while its stream is open or its chat is alive, and released once afterwards.
 * GRANT3. A chat that is alive and has no grant, such as one that a move has brought here, gets one with its next request.
 * GRANT2. After `stop` no timer is left. The homes drop the grants of a node that is gone (COUNT1).
 */
import type { Clock } from "@troupe/otp"
import type { Server } from "@troupe/server"
import type { Grant, OwnerAsk } from "./OwnerCounts.ts"

/**
 * Sends a request to the home of an owner, and resolves with whether the grant was given. Rejects with its refusal. When
 * `closing` is aborted, the home is not looked for any longer.
 */
export type AskOwner = (owner: string, ask: OwnerAsk, closing?: AbortSignal) => Promise<boolean>

/** An admitted request: whether it may open a stream. `end` is called when its answer is over; further calls do nothing. */
export interface Seat {
  readonly streams: boolean
  readonly end: () => void
}

const renewMs = 5_000

/** Released grants are sent together. */
const releaseMs = 100

export class OwnerGrants {
  readonly #clock: Clock.Clock
  readonly #ask: AskOwner
  readonly #isAlive: (id: string) => boolean
  readonly #newId: () => string
  readonly #held = new Map<string, Grant>()
  #released: Array<Grant> = []
  #renewal: unknown
  #release: unknown
  #isStopped = false

  constructor(clock: Clock.Clock, ask: AskOwner, isAlive: (id: string) => boolean, newId: () => string) {
    this.#clock = clock
    this.#ask = ask
    this.#isAlive = isAlive
    this.#newId = newId
  }

  /** Counts a request, which may open a stream if a grant is left for it. */
  readonly admit = async (owner: string, limits: Server.SharedLimits, closing: AbortSignal): Promise<Seat> => {
    const grant: Grant = { id: this.#newId(), owner, kind: "stream" }
    const streams = await this.#ask(owner, { type: "admit", grant, limits }, closing)
    if (streams) this.#hold(grant)
    return { streams, end: () => this.#end(grant) }
  }

  /** Counts a chat that is asked for, unless it has a grant. A chat that was started without a request has none (GRANT3). */
  readonly admitChat = async (owner: string, id: string, limits: Server.SharedLimits): Promise<void> => {
    const grant: Grant = { id, owner, kind: "chat" }
    if (this.#held.has(nameOf(grant))) return
    await this.#ask(owner, { type: "chat", grant, limits })
    this.#hold(grant)
  }

  /** Ends all renewals (GRANT2). */
  stop(): void {
    this.#isStopped = true
    this.#clock.clearTimeout(this.#renewal)
    this.#clock.clearTimeout(this.#release)
    this.#held.clear()
  }

  #hold(grant: Grant): void {
    if (this.#isStopped) return
    this.#held.set(nameOf(grant), grant)
    this.#renewal ??= this.#clock.setTimeout(() => this.#renew(), renewMs)
  }

  #end(grant: Grant): void {
    if (!this.#held.delete(nameOf(grant)) || this.#isStopped) return
    this.#released.push(grant)
    this.#release ??= this.#clock.setTimeout(() => this.#sendReleased(), releaseMs)
  }

  #sendReleased(): void {
    this.#release = undefined
    const grants = this.#released
    this.#released = []
    this.#send("release", grants)
  }

  #renew(): void {
    this.#renewal = undefined
    for (const grant of this.#held.values()) {
      if (grant.kind === "chat" && !this.#isAlive(grant.id)) this.#end(grant)
    }
    if (this.#held.size === 0) return
    this.#send("renew", [...this.#held.values()])
    this.#renewal = this.#clock.setTimeout(() => this.#renew(), renewMs)
  }

  #send(type: "renew" | "release", all: ReadonlyArray<Grant>): void {
    for (const [owner, grants] of Map.groupBy(all, (grant) => grant.owner)) {
      // A grant that could not be released or renewed is dropped or renewed later (COUNT1).
      this.#ask(owner, { type, grants }).catch(() => false)
    }
  }
}

const nameOf = ({ kind, id }: Grant): string => `${kind} ${id}`
