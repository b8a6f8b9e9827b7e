/** The use of an owner's limits by one request. */
import type { ChatRef } from "@troupe/chat"
import { HttpError } from "../errors/index.ts"
import type { Owner, Owners, Wait } from "./ownerLimits.ts"

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

const tooManyStreams = (): HttpError =>
  new HttpError("too_many_streams", "Too many streams and requests at once; close a stream first", {
    retryAfterMs: 1_000
  })
