/**
 * The data parts that handlers and hooks write into a reply.
 *
 * Owns: the parts of the replies of each chat, while the chat is in memory. Does not own the chats.
 *
 * UIWRITE1. A part that is not transient belongs to the reply of the turn that wrote it: every reader of that reply has it, also one
 *           that loads it later. A part with the type and the id of an earlier one replaces it.
 * UIWRITE2. A transient part reaches only the present readers.
 * UIWRITE3. A part has a JSON form. The parts of a chat have together at most `messageCharacters` characters: those of the oldest
 *           replies are forgotten first. A reader that does not read has at most 100 transient parts waiting, the newest.
 */
import type { LocalChatRef } from "@troupe/chat"
import { ValidationError } from "@troupe/chat/errors"
import { type Changes, dataFrames } from "../index.ts"
import type { UiDataPart } from "./uiData.ts"

/**
 * A part with data of the program.
 *
 * - `type`: begins with `data-`
 * - `id`: a later part with this type and id replaces this one
 * - `transient`: the part is not kept; `onData` of the present clients gets it
 */
export interface UiWritten {
  readonly type: `data-${string}`
  readonly id?: string | undefined
  readonly data: unknown
  readonly transient?: boolean | undefined
}

/** Writes data parts into the reply of the present turn. */
export interface Writer {
  /**
   * Writes a part.
   *
   * **Errors**: throws a `ValidationError` (`invalid_options`) for a part of another form, without a JSON form, or beyond the
   * limit of `messageCharacters`.
   */
  readonly write: (part: UiWritten) => void
}

type Kept = UiDataPart & { readonly id: string }
type Sent = UiDataPart & { readonly transient?: true }
type Listener = (reply: string, part: Sent) => void

const mostTransient = 100

/** The data of one chat. */
export class WrittenData {
  readonly #replies = new Map<string, Map<string, { readonly part: Kept; readonly characters: number }>>()
  readonly #listeners = new Set<Listener>()
  #characters = 0
  #made = 0

  /** The kept parts of a reply. */
  of(reply: string): ReadonlyArray<Kept> {
    return Array.from(this.#replies.get(reply)?.values() ?? [], ({ part }) => part)
  }

  /** Adds a part to a reply (UIWRITE3). */
  write(reply: string, part: UiWritten, mostCharacters: number): void {
    const { type, id, transient = false } = part
    if (typeof type !== "string" || !type.startsWith("data-")) throw refused("type", "must begin with data-")
    if (id !== undefined && typeof id !== "string") throw refused("id", "must be text")
    const text = jsonOf(part.data)
    if (text === undefined) throw refused("data", "has no JSON form")
    const characters = type.length + (id ?? "").length + text.length
    if (characters > mostCharacters) throw refused("data", `has more than ${mostCharacters} characters`)
    const data: unknown = JSON.parse(text)
    if (transient) return this.#notify(reply, { type, ...(id === undefined ? {} : { id }), data, transient: true })
    const kept: Kept = { type, id: id ?? `troupe-${++this.#made}`, data }
    const key = JSON.stringify([type, kept.id])
    const parts = this.#replies.get(reply) ?? new Map<string, { readonly part: Kept; readonly characters: number }>()
    const earlier = parts.get(key)?.characters ?? 0
    this.#makeRoom(reply, mostCharacters - characters + earlier)
    this.#characters += characters - earlier
    this.#replies.set(reply, parts.set(key, { part: kept, characters }))
    this.#notify(reply, kept)
  }

  /** Forgets the parts of a reply that begins anew. */
  forget(reply: string): void {
    for (const { characters } of this.#replies.get(reply)?.values() ?? []) this.#characters -= characters
    this.#replies.delete(reply)
  }

  /** Calls the listener for each part. Returns the function that removes it. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #notify(reply: string, part: Sent): void {
    for (const listener of this.#listeners) listener(reply, part)
  }

  /** Forgets the oldest other replies until there are at most so many characters. */
  #makeRoom(reply: string, most: number): void {
    for (const name of this.#replies.keys()) {
      if (this.#characters <= most) return
      if (name === reply) continue
      this.forget(name)
    }
    if (this.#characters > most) throw refused("data", "is too much: the parts of this reply have reached their limit")
  }
}

const all = new WeakMap<LocalChatRef, WrittenData>()

/** The data of a chat. */
export const writtenDataOf = (chat: LocalChatRef): WrittenData => {
  const known = all.get(chat) ?? new WrittenData()
  all.set(chat, known)
  return known
}

const jsonOf = (data: unknown): string | undefined => {
  try {
    return JSON.stringify(data)
  } catch {
    return undefined
  }
}

const refused = (field: string, reason: string): ValidationError =>
  new ValidationError("invalid_options", [{ field: [field], reason }])

/** The parts of a reply for one reader: at first those that are kept, and then each new one. */
export const dataChanges = (written: WrittenData, reply: string): Changes => {
  const waiting = new Map<string, Sent>(written.of(reply).map((part) => [JSON.stringify([part.type, part.id]), part]))
  const transient: Array<Sent> = []
  let wake: (() => void) | undefined
  const unsubscribe = written.subscribe((name, part) => {
    if (name !== reply) return
    if (part.transient !== true) waiting.set(JSON.stringify([part.type, part.id]), part)
    else if (transient.push(part) > mostTransient) transient.shift()
    wake?.()
  })
  return {
    look: () => {
      const parts = [...waiting.values(), ...transient.splice(0)]
      waiting.clear()
      return parts.length === 0 ? "" : dataFrames(parts)
    },
    orChange: (asked) =>
      new Promise((resolve, reject) => {
        wake = () => resolve(undefined)
        if (waiting.size > 0 || transient.length > 0) resolve(undefined)
        asked.then(resolve, reject)
      }),
    leave: () => {
      wake = undefined
      unsubscribe()
    }
  }
}

/** The name of the writer in a turn's `context`. */
export const key = "uiWriter"

const writers = new WeakSet<object>()

/** Whether a value was made here. */
export const isWriter = (value: unknown): value is Writer =>
  typeof value === "object" && value !== null && writers.has(value)

/** Makes the writer of a turn; `replyOf` returns the name of the reply that the turn continues. Its function is no data. */
export const writerOf = (written: WrittenData, replyOf: () => string, mostCharacters: number): Writer => {
  const write = (part: UiWritten): void => written.write(replyOf(), part, mostCharacters)
  const made = Object.defineProperty({}, "write", { value: write, enumerable: false }) as Writer
  writers.add(made)
  return made
}
