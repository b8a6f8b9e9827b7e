/**
 * The clients that read the turns of chats, and the effect of their disconnects.
 *
 * Owns: how many clients read each chat, and which turn all of them left. Does not own the turns, which it cancels through
 * their chats.
 *
 * READERS1. With `onDisconnect: "cancel"`, a turn is cancelled when its last reader disconnects, and no other turn is. With
 *           `"continue"` it continues.
 * READERS2. A turn counts as left from the disconnect of its last reader until another client reads it. A message that does
 *           not choose otherwise interrupts such a turn.
 * READERS3. When a client leaves, its decision, retry or results that have not begun are withdrawn. An accepted input stays.
 */
import type { LocalChatRef } from "@troupe/chat"
import type { ChatSnapshot, LiveTurn } from "@troupe/chat/chats"
import { HttpError } from "../errors/index.ts"
import { taken } from "../link/index.ts"

/** The effect of a disconnect on the turn that the client read. */
export type OnDisconnect = "continue" | "cancel"

/**
 * Whether the client of a request has left. A signal that is aborted with an `HttpError` is that of a node that passes the answer on
 * and closes, or is gone: its client may ask another node.
 */
export const clientHasLeft = ({ aborted, reason }: AbortSignal): boolean => aborted && !(reason instanceof HttpError)

/** Resolves when the chat has accepted a turn, or its client has left. Throws the reason of a refusal (READERS3). */
export const takenFor = async (
  { signal }: Pick<Request, "signal">,
  chat: LocalChatRef,
  turn: LiveTurn
): Promise<void> => {
  if (isInput(turn)) return taken(turn)
  const leave = (): void => {
    // A turn that has begun cannot be withdrawn, and its end needs no client.
    if (clientHasLeft(signal)) chat.withdraw(turn).catch(() => {})
  }
  signal.addEventListener("abort", leave, { once: true })
  if (signal.aborted) leave()
  try {
    await taken(turn)
  } finally {
    signal.removeEventListener("abort", leave)
  }
}

/** Whether the turn has an input, which the store has once it is accepted. */
const isInput = ({ turn: { messages } }: LiveTurn): boolean => messages[0]?.role === "user"

/** The turn that a client reads: its own, or without `turn` the running one. */
export interface TurnRead {
  readonly chat: LocalChatRef
  readonly turn?: LiveTurn | undefined
}

type RunningTurn = NonNullable<ChatSnapshot["context"]["turn"]>

const runningIn = (chat: LocalChatRef): RunningTurn | undefined => {
  const context = chat.getSnapshot()?.context
  return context?.result === undefined ? context?.turn : undefined
}

export class TurnReaders {
  readonly #onDisconnect: OnDisconnect
  readonly #counts = new WeakMap<LocalChatRef, number>()
  readonly #left = new WeakSet<RunningTurn>()

  constructor(onDisconnect: OnDisconnect) {
    this.#onDisconnect = onDisconnect
  }

  /** Adds a reader. Call the returned function once, with whether the client disconnected before the end. */
  read({ chat, turn }: TurnRead): (disconnected: boolean) => void {
    this.#add(chat, 1)
    for (const one of [runningIn(chat), turn?.turn]) if (one !== undefined) this.#left.delete(one)
    return (disconnected) => {
      if (this.#add(chat, -1) > 0 || !disconnected) return
      const running = runningIn(chat)
      for (const one of [running, turn?.turn]) if (one !== undefined) this.#left.add(one)
      if (this.#onDisconnect === "cancel") void this.#cancel(chat, turn, turn?.id ?? running?.delivery?.id)
    }
  }

  /** Whether all clients have left the turn that runs (READERS2). */
  hasLeft(chat: LocalChatRef): boolean {
    const running = runningIn(chat)
    return running !== undefined && this.#left.has(running)
  }

  #add(chat: LocalChatRef, change: number): number {
    const count = (this.#counts.get(chat) ?? 0) + change
    this.#counts.set(chat, count)
    return count
  }

  /** Cancels the turn with this id, once it runs, unless it has a reader again. */
  async #cancel(chat: LocalChatRef, turn: LiveTurn | undefined, id: string | undefined): Promise<void> {
    if (turn !== undefined) await Promise.race([turn.delivery, turn.ended])
    const isLeft = this.#counts.get(chat) === 0 && turn?.over !== true
    if (!isLeft || id === undefined) return
    // No caller is left. A turn that could not be cancelled has its own end.
    await chat.cancel({ turn: id }).catch(() => {})
  }
}
