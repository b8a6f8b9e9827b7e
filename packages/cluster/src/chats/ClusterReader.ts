/**
 * A reader of the events of a chat of the cluster, over moves of the chat.
 *
 * Owns: its stream, and the cursor of the last item. Does not own the chat.
 *
 * CLUSTER6. A reader's stream ends because the reader leaves, because the chat or this node is stopped, or with a typed
 *           refusal. A move, or a cut connection, appears as a snapshot, or not at all.
 */
import type { ChatRef } from "@troupe/chat"
import { SessionError } from "@troupe/chat/errors"
import type { Event } from "@troupe/chat/events"
import { Codec } from "@troupe/chat/store"
import type { ChatView } from "@troupe/chat/view"
import { Channel } from "@troupe/otp"
import { HttpError } from "@troupe/server/HttpError"
import { chatErrorOf, type NodeClient, passingFor, pause, type SentFrame } from "./nodeClient.ts"

type AttachOptions = NonNullable<Parameters<ChatRef["attach"]>[0]>
type ChatItem = NonNullable<Awaited<ReturnType<ReturnType<ChatRef["attach"]>["next"]>>["value"]>

const firstPauseMs = 50
const longestPauseMs = 1_000

export class ClusterReader extends Channel.Reader<ChatItem> {
  readonly #items: AsyncGenerator<ChatItem, undefined>
  readonly #left = new AbortController()
  readonly #leave = (): void => this.#left.abort()
  readonly #signal: AbortSignal | undefined
  /** Leaves no listener on the signal of the caller. */
  readonly #forget = (): void => this.#signal?.removeEventListener("abort", this.#leave)

  constructor(client: NodeClient, path: string, start: () => Promise<unknown>, options: AttachOptions = {}) {
    super()
    const { signal, cursor, ...slow } = options
    this.#signal = signal
    if (signal?.aborted === true) this.#leave()
    else signal?.addEventListener("abort", this.#leave, { once: true })
    this.#items = itemsOf({ client, path, start, cursor, slow }, this.#left.signal, this.#forget)
  }

  next(): Promise<IteratorResult<ChatItem, undefined>> {
    return this.#items.next()
  }

  return(): Promise<IteratorResult<ChatItem, undefined>> {
    this.#leave()
    this.#forget()
    return this.#items.return(undefined)
  }
}

/** The stream of a reader, and where it begins. */
interface Source {
  readonly client: NodeClient
  readonly path: string
  readonly start: () => Promise<unknown>
  readonly cursor: string | undefined
  /** How the home handles a slow reader. */
  readonly slow: Pick<AttachOptions, "whenSlow" | "maxUnread">
}

/** `over` is called when the stream is over, once it has begun. */
async function* itemsOf(
  { client, path, start, cursor: from, slow }: Source,
  left: AbortSignal,
  over: () => void
): AsyncGenerator<ChatItem, undefined> {
  const signal = AbortSignal.any([left, client.closed])
  const isPassing = passingFor(client)
  let cursor = from
  let pauseMs = firstPauseMs
  try {
    while (!signal.aborted) {
      try {
        const { frames } = await client.open(`${path}${queryOf({ ...slow, cursor })}`, signal)
        for await (const frame of frames) {
          const item = itemOf(frame)
          if (item === undefined) continue
          cursor = item.cursor
          pauseMs = firstPauseMs
          yield item
        }
        // The home ends the stream when the chat was stopped.
        return undefined
      } catch (error) {
        if (signal.aborted) return undefined
        if (isUnknown(error)) await started(start, signal)
        else if (!isPassing(error)) throw error
      }
      await pause(client, pauseMs, signal)
      pauseMs = Math.min(longestPauseMs, 2 * pauseMs)
    }
    return undefined
  } finally {
    over()
  }
}

/** The query of the defined options. */
const queryOf = (options: Omit<AttachOptions, "signal">): string => {
  const query = Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return query.length === 0 ? "" : `?${new URLSearchParams(query)}`
}

/** Starts the chat. A start that ends with the reader fails no caller. */
const started = async (start: () => Promise<unknown>, signal: AbortSignal): Promise<void> => {
  try {
    await start()
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** A chat that has not stored anything is unknown after a move. */
const isUnknown = (error: unknown): boolean =>
  (error instanceof HttpError && error.code === "unknown_chat") ||
  (error instanceof SessionError && error.reason === "unknown_chat")

const itemOf = ({ id: cursor, data }: SentFrame): ChatItem | undefined => {
  if (data["type"] === "closing") throw new SessionError("moved", "The node of this chat is closing")
  if (data["type"] === "failed") throw chatErrorOf(data)
  if (cursor === undefined) return undefined
  return data["type"] === "snapshot"
    ? { type: "snapshot", cursor, view: data["view"] as ChatView.ChatView }
    : { type: "event", cursor, event: eventOf(data) }
}

/** The event of a frame. */
export const eventOf = (data: SentFrame["data"]): Event => Codec.fromJson("Event", data)
