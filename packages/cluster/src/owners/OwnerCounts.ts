/**
 * What owners use, counted at the home of each owner.
 *
 * Owns: the counts of the owners whose home this node is. Does not own the streams or the chats: the nodes that have them
 * hold a grant for each, and renew it.
 *
 * CLUSTER13. The limits of an owner are those of one server, whatever the number of nodes: all nodes ask the home of the
 *            owner's bucket.
 * COUNT1. A grant counts from its grant until it is released, or until it was not renewed for `keptMs`. A renewed grant
 *         that is not known counts from then on: the owner's bucket has moved here.
 */
import type { Clock } from "@troupe/otp"
import { HttpError } from "@troupe/server/HttpError"
import type { Server } from "@troupe/server"

/** A counted use of an owner: a request with its stream, or a chat that is alive. */
export interface Grant {
  readonly id: string
  readonly owner: string
  readonly kind: "stream" | "chat"
}

/** A request about the limits of an owner. `released` are grants that are over. */
export type OwnerAsk =
  | { readonly type: "admit"; readonly grant: Grant; readonly limits: Server.SharedLimits }
  | { readonly type: "chat"; readonly grant: Grant; readonly limits: Server.SharedLimits }
  | { readonly type: "renew"; readonly grants: ReadonlyArray<Grant> }
  | { readonly type: "release"; readonly grants: ReadonlyArray<Grant> }

/** Grants that are not renewed for this long are dropped, in milliseconds. */
const keptMs = 15_000

const minuteMs = 60_000

interface Usage {
  tokens: number
  at: number
  readonly grants: { readonly [Kind in Grant["kind"]]: Map<string, number> }
}

/** How many owners are kept before those without usage are removed. */
const fewest = 1_024

export class OwnerCounts {
  readonly #clock: Clock.Clock
  readonly #owners = new Map<string, Usage>()
  #sweepAt = fewest

  constructor(clock: Clock.Clock) {
    this.#clock = clock
  }

  /** Answers a request. Throws an `HttpError` (429) when a limit is exceeded. Returns whether the grant was given. */
  ask(ask: OwnerAsk): boolean {
    switch (ask.type) {
      case "admit":
        this.#request(ask.grant.owner, ask.limits)
        return this.#grant(ask.grant, ask.limits.streams)
      case "chat":
        if (this.#grant(ask.grant, ask.limits.conversations)) return true
        throw tooManyChats(ask.limits.conversations)
      case "renew":
        for (const grant of ask.grants) this.#keep(grant)
        return true
      case "release":
        for (const { owner, kind, id } of ask.grants) this.#owners.get(owner)?.grants[kind].delete(id)
        return true
    }
  }

  #request(owner: string, { requestsPerMinute }: Server.SharedLimits): void {
    const usage = this.#of(owner, requestsPerMinute)
    const now = this.#clock.now()
    const perMs = requestsPerMinute / minuteMs
    usage.tokens = Math.min(requestsPerMinute, usage.tokens + (now - usage.at) * perMs)
    usage.at = now
    if (usage.tokens < 1) {
      const retryAfterMs = Math.ceil((1 - usage.tokens) / perMs)
      throw new HttpError("rate_limited", "Too many requests; wait as long as retry-after says", { retryAfterMs })
    }
    usage.tokens -= 1
  }

  #grant(grant: Grant, most: number): boolean {
    const grants = this.#of(grant.owner).grants[grant.kind]
    if (!grants.has(grant.id) && grants.size >= most) this.#dropOld(grants)
    if (!grants.has(grant.id) && grants.size >= most) return false
    this.#keep(grant)
    return true
  }

  #keep({ owner, kind, id }: Grant): void {
    this.#of(owner).grants[kind].set(id, this.#clock.now() + keptMs)
  }

  #dropOld(grants: Map<string, number>): void {
    const now = this.#clock.now()
    for (const [id, until] of grants) if (until <= now) grants.delete(id)
  }

  #of(owner: string, tokens = Number.POSITIVE_INFINITY): Usage {
    const counts = this.#owners.get(owner)
    if (counts !== undefined) return counts
    if (this.#owners.size >= this.#sweepAt) this.#sweep()
    const usage = { tokens, at: this.#clock.now(), grants: { stream: new Map(), chat: new Map() } }
    this.#owners.set(owner, usage)
    return usage
  }

  /** Removes the owners without grants that made no request for a minute: their tokens are full again. */
  #sweep(): void {
    const now = this.#clock.now()
    for (const [owner, { at, grants }] of this.#owners) {
      this.#dropOld(grants.stream)
      this.#dropOld(grants.chat)
      if (grants.stream.size + grants.chat.size === 0 && now - at >= minuteMs) this.#owners.delete(owner)
    }
    this.#sweepAt = Math.max(fewest, 2 * this.#owners.size)
  }
}

const tooManyChats = (most: number): HttpError =>
  new HttpError(
    "too_many_conversations",
    `More than ${most} conversations are alive at once; delete one, or wait until one is idle`,
    { retryAfterMs: minuteMs }
  )
