/**
 * The clients that read the turns of chats, and the effect of their disconnects.
 *
 * Owns: how many clients read each chat, which turn all of them left, and which answers they have read since the server started. Does
 * not own the turns, which it cancels through their chats.
 *
 * READERS1. With `onDisconnect: "cancel"`, a turn is cancelled when its last reader disconnects, and no other turn is. With
 *           `"continue"` it continues.
 * READERS2. A turn counts as left from the disconnect of its last reader until another client reads it. A message that does
 *           not choose otherwise interrupts such a turn.
 * READERS3. When a client leaves, its decision, retry or results that have not begun are withdrawn. An accepted input stays.
 * READERS4. An answer is read when a client has read it to its end. An answer of which this server has seen no reader is read if a
 *           client was reading when its last message was made, as that message says.
 */
import type { LocalChatRef } from "@troupe/chat"
import type { LiveTurn } from "@troupe/chat/chats"
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

/**
 * The turn that a client reads: its own, or without `turn` the running one. `answered` names the message that the chat has answered
 * last. A look at a chat where nothing runs counts as no reader of a turn.
 */
export interface TurnRead {
  readonly chat: LocalChatRef
  readonly turn?: LiveTurn | undefined
  readonly answered?: (() => string | undefined) | undefined
  readonly isLook?: boolean | undefined
}

/** The most answers of a chat that are remembered. */
const mostAnswers = 1_000

type RunningTurn = NonNullable<LocalChatRef["turn"]>

export class TurnReaders {
  readonly #onDisconnect: OnDisconnect
  readonly #counts = new WeakMap<LocalChatRef, number>()
  readonly #left = new WeakSet<RunningTurn>()
  readonly #answers = new WeakMap<LocalChatRef, Map<string, boolean>>()

  constructor(onDisconnect: OnDisconnect) {
    this.#onDisconnect = onDisconnect
  }

  /** Adds a reader. Call the returned function once, with whether the client disconnected before the end. */
  read({ chat, turn, answered, isLook = false }: TurnRead): (disconnected: boolean) => void {
    if (isLook) return (disconnected) => void (!disconnected && this.#remember(chat, answered?.(), true))
    this.#add(chat, 1)
    for (const one of [chat.turn, turn?.turn]) if (one !== undefined) this.#left.delete(one)
    return (disconnected) => {
      if (turn !== undefined || !disconnected) this.#remember(chat, answered?.(), !disconnected)
      if (this.#add(chat, -1) > 0 || !disconnected) return
      const running = chat.turn
      for (const one of [running, turn?.turn]) if (one !== undefined) this.#left.add(one)
      if (this.#onDisconnect === "cancel") void this.#cancel(chat, turn, turn?.id ?? running?.delivery?.id)
    }
  }

  /** Whether all clients have left the turn that runs (READERS2). */
  hasLeft(chat: LocalChatRef): boolean {
    const running = chat.turn
    return running !== undefined && this.#left.has(running)
  }

  /** Whether a client reads the chat now. */
  isReading(chat: LocalChatRef): boolean {
    return (this.#counts.get(chat) ?? 0) > 0
  }

  /** Whether a client has read the answer to the message of this name; `undefined` if it is unknown here (READERS4). */
  hasRead(chat: LocalChatRef, name: string): boolean | undefined {
    return this.#answers.get(chat)?.get(name)
  }

  #remember(chat: LocalChatRef, name: string | undefined, isRead: boolean): void {
    if (name === undefined || chat.turn !== undefined) return
    const answers = this.#answers.get(chat) ?? new Map<string, boolean>()
    this.#answers.set(chat, answers)
    answers.set(name, isRead || answers.get(name) === true)
    for (const first of answers.keys()) {
      if (answers.size <= mostAnswers) break
      answers.delete(first)
    }
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
