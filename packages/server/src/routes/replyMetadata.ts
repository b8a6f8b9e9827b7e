/**
 * The metadata of replies, which no store has.
 *
 * Owns: the metadata of the newest replies of a Troupe, and which turns are in it. Does not own the turns.
 *
 * UIMETA1. The metadata of a reply does not depend on its readers: it is the same in the sender's stream, in a stream that
 *          begins later, and in the loaded messages.
 * UIMETA2. The usage of a turn is added once to that of its reply.
 */
import type { LocalChatRef } from "@troupe/chat"
import type { ChatResult, LiveTurn } from "@troupe/chat/chats"
import type { Call } from "../http/index.ts"
import { type UiMetadata, withTurn } from "../wire/aiSdk/index.ts"

/** The most replies that are remembered. */
const most = 10_000

type Chat = Pick<LocalChatRef, "id">

/** A turn, by its result as clients see it. */
type Result = Pick<ChatResult, "steps">

interface Kept {
  metadata: UiMetadata
  readonly turns: WeakSet<Result>
}

export class ReplyMetadata {
  readonly #kept = new WeakMap<Call["troupe"], Map<string, Kept>>()

  /** The metadata of a reply, if it is remembered. */
  of(call: Call, chat: Chat, name: string): UiMetadata | undefined {
    return this.#all(call).get(keyOf(chat, name))?.metadata
  }

  /** Records a turn that begins a reply, or `continues` one, until the turn ends. */
  async begin(call: Call, chat: Chat, name: string, turn: LiveTurn, continues = false): Promise<void> {
    if (!continues) {
      this.#all(call).delete(keyOf(chat, name))
      this.#find(call, chat, name).metadata = { startedAt: nowOf(call) }
    }
    const kept = this.#find(call, chat, name)
    await turn.ended
    if (turn.failure !== undefined) kept.metadata = { ...kept.metadata, endedAt: nowOf(call) }
    else add(kept, call.shown.result(await turn.result()), nowOf(call))
  }

  /** Adds the result of a turn (UIMETA2), and returns the metadata of its reply. */
  ended(call: Call, chat: Chat, name: string, result: Result): UiMetadata {
    const kept = this.#find(call, chat, name)
    add(kept, result, nowOf(call))
    return kept.metadata
  }

  #all({ troupe }: Call): Map<string, Kept> {
    const all = this.#kept.get(troupe) ?? new Map<string, Kept>()
    this.#kept.set(troupe, all)
    return all
  }

  #find(call: Call, chat: Chat, name: string): Kept {
    const all = this.#all(call)
    const key = keyOf(chat, name)
    const found = all.get(key)
    if (found !== undefined) return found
    const made: Kept = { metadata: {}, turns: new WeakSet() }
    all.set(key, made)
    for (const first of all.keys()) {
      if (all.size <= most) break
      all.delete(first)
    }
    return made
  }
}

const nowOf = ({ troupe }: Call): number => Math.round(troupe.system.clock.now())

const keyOf = ({ id }: Chat, name: string): string => JSON.stringify([id, name])

/** Adds a turn once. The end of a reply whose beginning is unknown is unknown too: its turn may have ended earlier. */
const add = (kept: Kept, result: Result, now: number): void => {
  if (kept.turns.has(result)) return
  kept.turns.add(result)
  const metadata = withTurn(kept.metadata, result)
  kept.metadata = metadata.startedAt === undefined ? metadata : { ...metadata, endedAt: now }
}
