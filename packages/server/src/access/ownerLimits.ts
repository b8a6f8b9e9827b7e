/**
 * The usage of each owner: requests of the last minute, open streams, live conversations, pending answers, and what waits.
 *
 * Owns: the counts. Does not own the streams or the chats.
 *
 * OWNER1. An owner never has more open streams, or more conversations that are live through this server, than the limits
 *         allow.
 * OWNER2. The counts of owners without usage are removed, and so are ended conversations, before their number doubles.
 * OWNER3. Beside one answer, the large answers that an owner's clients have not taken are together at most `answerBytes`.
 *         Answers of requests that may have changed something are counted, but never refused.
 * OWNER4. The requests of an owner that have no answer yet, and its inputs that wait in conversations, are together at most `waiting`.
 *         Beside one, their bodies have at most `waitingBytes`. A request beyond a limit is refused before its chat has it.
 */
import type { ChatRef } from "@troupe/chat"
import { HttpError } from "../errors/index.ts"

export interface OwnerLimits {
  readonly conversations: number
  readonly requestsPerMinute: number
  readonly streams: number
  readonly answerBytes: number
  readonly waiting: number
  readonly waitingBytes: number
}

/** A request that has no answer yet, or its input that waits. */
export interface Wait {
  /** Counts so many bytes more of its body. Throws an `HttpError` (429) when the limit is exceeded. */
  readonly add: (bytes: number) => void
  /** Called when it is over; further calls do nothing. */
  readonly end: () => void
}

/** The usage of one owner. */
export interface Owner {
  tokens: number
  /** When the tokens were last counted. */
  at: number
  streams: number
  /** The bytes of the large answers that clients have not taken. */
  bytes: number
  /** The number and the bytes of what waits. */
  waiting: number
  waitingBytes: number
  /** The Troupe's ids of the chats that were alive at the last check, and the number of pending requests for each. */
  readonly chats: Map<string, number>
  /** The number of chats at which ended ones are removed. */
  lookAt: number
}

const minuteMs = 60_000
const fewest = 1_024

export class Owners {
  readonly #limits: OwnerLimits
  readonly #now: () => number
  readonly #isAlive: (id: string) => boolean
  readonly #programs: () => number
  readonly #owners = new Map<string, Owner>()
  #sweepAt = fewest

  /**
   * `isAlive` returns whether a chat of the Troupe has a process. `programs` returns the number of programs that share the
   * bound of bytes, each of which has an equal part.
   */
  constructor(
    limits: OwnerLimits,
    now: () => number,
    isAlive: (id: string) => boolean,
    programs: () => number = () => 1
  ) {
    this.#limits = limits
    this.#now = now
    this.#isAlive = isAlive
    this.#programs = programs
  }

  /** The usage of an owner whose requests another program counts. */
  owner(name: string): Owner {
    return this.#of(name)
  }

  /** Counts a request. Throws an `HttpError` (429) when the limit is exceeded. */
  request(name: string): Owner {
    const owner = this.#of(name)
    const perMs = this.#limits.requestsPerMinute / minuteMs
    this.#refill(owner)
    if (owner.tokens < 1) {
      const retryAfterMs = Math.ceil((1 - owner.tokens) / perMs)
      throw new HttpError("rate_limited", "Too many requests; wait as long as retry-after says", { retryAfterMs })
    }
    owner.tokens -= 1
    return owner
  }

  /** Counts a stream. Throws an `HttpError` (429) when the limit is exceeded. */
  openStream(owner: Owner): void {
    if (owner.streams >= this.#limits.streams) {
      throw new HttpError("too_many_streams", `More than ${this.#limits.streams} streams at once; close one first`, {
        retryAfterMs: 1_000
      })
    }
    owner.streams += 1
  }

  /**
   * Counts a large answer. Throws an `HttpError` (429) for one that exceeds the limit with the pending ones (OWNER3).
   */
  hold(owner: Owner, bytes: number): void {
    const answerBytes = this.#limits.answerBytes / Math.max(1, this.#programs())
    if (owner.bytes > 0 && owner.bytes + bytes > answerBytes) {
      throw new HttpError(
        "too_many_bytes",
        `Answers of more than ${answerBytes} bytes wait to be read; read those that were asked for, and ask again`,
        { retryAfterMs: 1_000 }
      )
    }
    owner.bytes += bytes
  }

  /** Counts a request until its wait is over. Throws an `HttpError` (429) when the limit is exceeded (OWNER4). */
  wait(owner: Owner): Wait {
    const { waiting, waitingBytes } = this.#limits
    const programs = Math.max(1, this.#programs())
    if (owner.waiting > 0 && owner.waiting + 1 > waiting / programs) {
      throw tooMuchWaits(`More than ${waiting} requests and messages wait`)
    }
    owner.waiting += 1
    let own = 0
    let isOver = false
    return {
      add: (bytes) => {
        const others = owner.waitingBytes - own
        if (others > 0 && owner.waitingBytes + bytes > waitingBytes / programs) {
          throw tooMuchWaits(`Requests and messages of more than ${waitingBytes} bytes wait`)
        }
        own += bytes
        owner.waitingBytes += bytes
      },
      end: () => {
        if (isOver) return
        isOver = true
        owner.waiting -= 1
        owner.waitingBytes -= own
      }
    }
  }

  /** Returns the chat of `open`, started if there is none. Throws an `HttpError` (429) when too many are live. */
  async chat<Chat extends ChatRef>(owner: Owner, id: string, open: () => Promise<Chat>): Promise<Chat> {
    if (!owner.chats.has(id)) this.#makeRoom(owner)
    // Reserves its place before the chat is requested (OWNER1).
    owner.chats.set(id, (owner.chats.get(id) ?? 0) + 1)
    try {
      return await open()
    } finally {
      const asked = (owner.chats.get(id) ?? 1) - 1
      owner.chats.set(id, asked)
      if (asked === 0 && !this.#isAlive(id)) owner.chats.delete(id)
    }
  }

  #makeRoom(owner: Owner): void {
    const { conversations } = this.#limits
    if (owner.chats.size < Math.min(conversations, owner.lookAt)) return
    this.#forgetEnded(owner)
    owner.lookAt = Math.max(fewest, 2 * owner.chats.size)
    if (owner.chats.size < conversations) return
    throw new HttpError(
      "too_many_conversations",
      `More than ${conversations} conversations are alive at once; delete one, or wait until one is idle`,
      { retryAfterMs: minuteMs }
    )
  }

  #of(name: string): Owner {
    const known = this.#owners.get(name)
    if (known !== undefined) return known
    if (this.#owners.size >= this.#sweepAt) this.#sweep()
    const owner = {
      tokens: this.#limits.requestsPerMinute,
      at: this.#now(),
      streams: 0,
      bytes: 0,
      waiting: 0,
      waitingBytes: 0,
      chats: new Map(),
      lookAt: fewest
    }
    this.#owners.set(name, owner)
    return owner
  }

  #refill(owner: Owner): void {
    const now = this.#now()
    const { requestsPerMinute } = this.#limits
    owner.tokens = Math.min(requestsPerMinute, owner.tokens + ((now - owner.at) * requestsPerMinute) / minuteMs)
    owner.at = now
  }

  #forgetEnded({ chats }: Owner): void {
    for (const [id, asked] of chats) if (asked === 0 && !this.#isAlive(id)) chats.delete(id)
  }

  /** OWNER2. */
  #sweep(): void {
    for (const [name, owner] of this.#owners) {
      this.#refill(owner)
      this.#forgetEnded(owner)
      const isIdle = owner.streams === 0 && owner.bytes === 0 && owner.waiting === 0 && owner.chats.size === 0
      const isUnused = isIdle && owner.tokens >= this.#limits.requestsPerMinute
      if (isUnused) this.#owners.delete(name)
    }
    this.#sweepAt = Math.max(fewest, 2 * this.#owners.size)
  }
}

/**
 * What one request uses of its owner's limits. `openStream`, `hold`, `wait` and `chat` throw an `HttpError` (429) when a limit is
 * exceeded.
 */
export interface Usage {
  readonly openStream: () => void
  readonly closeStream: () => void
  /** Counts a large answer of so many bytes; `add` counts one that is never refused. */
  readonly hold: (bytes: number) => void
  readonly add: (bytes: number) => void
  readonly release: (bytes: number) => void
  /** Counts the request until its wait is over (OWNER4). */
  readonly wait: () => Wait
  /** The chat of `open`, counted while it is alive. */
  readonly chat: <Chat extends ChatRef>(id: string, open: () => Promise<Chat>) => Promise<Chat>
}

/** Counts a request of this owner in this program. Throws an `HttpError` (429) when the limit is exceeded. */
export const usageHere = (owners: Owners, name: string): Usage => {
  const owner = owners.request(name)
  return {
    ...bytesOf(owners, owner),
    openStream: () => owners.openStream(owner),
    closeStream: () => void (owner.streams -= 1),
    chat: (id, open) => owners.chat(owner, id, open)
  }
}

const bytesOf = (owners: Owners, owner: Owner): Pick<Usage, "hold" | "add" | "release" | "wait"> => ({
  hold: (bytes) => owners.hold(owner, bytes),
  add: (bytes) => void (owner.bytes += bytes),
  release: (bytes) => void (owner.bytes -= bytes),
  wait: () => owners.wait(owner)
})

/** A request that the home of its owner has admitted. */
export interface Admitted {
  /** Whether the request may open a stream. */
  readonly streams: boolean
  /** Called when its stream is over. */
  readonly closed: () => void
  /** Counts a chat that is asked for, once while it is alive. Rejects with an `HttpError` (429) when too many are alive. */
  readonly chat: (id: string) => Promise<void>
}

/** The use of an admitted request. Its wait, and the bytes of its answer, are counted in this program. */
export const usageElsewhere = (owners: Owners, name: string, { streams, closed, chat }: Admitted): Usage => ({
  ...bytesOf(owners, owners.owner(name)),
  openStream: () => {
    if (!streams) throw tooManyStreams()
  },
  closeStream: closed,
  chat: async (id, open) => {
    await chat(id)
    return open()
  }
})

const tooMuchWaits = (what: string): HttpError =>
  new HttpError("inbox_full", `${what}; wait for an answer, or withdraw messages, and send it again`, {
    retryAfterMs: 1_000
  })

const tooManyStreams = (): HttpError =>
  new HttpError("too_many_streams", "Too many streams and requests at once; close a stream first", {
    retryAfterMs: 1_000
  })
