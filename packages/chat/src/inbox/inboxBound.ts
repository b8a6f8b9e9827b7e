/**
 * The limits of the waiting inputs of a chat: their number, the bytes of their text, and the bytes of their images and files.
 *
 * Owns: the number and the sizes of the inputs. Does not own the inputs, nor their rows.
 *
 * INBOX1. An input beyond a limit is refused (`inbox_full`) before its row is written. An accepted input is never refused
 *         for a limit, also when its row was written under wider limits. The cost of a check does not grow with the inputs
 *         that wait.
 * INBOX2. A decision, a retry and results that wait for the running turn count as an input does, by their number and bytes. Of handoffs
 *         and changes of the permission mode at most so many as inputs wait for the process and the store, beside one.
 */
import { SessionError } from "../errors/index.ts"
import { fileBytesOf, isMedia, type Message, withoutData } from "../model/index.ts"
import { write } from "../values/index.ts"

/** The limits of every chat's waiting inputs. */
export interface InboxLimits {
  readonly maxWaitingInputs: number
  readonly maxWaitingBytes: number
  readonly maxWaitingFileBytes: number
}

/** The size of a message: the bytes of its text, and those of its images and files. */
interface Size {
  readonly bytes: number
  readonly fileBytes: number
}

/** An input that is counted; `size` is known once a limit needed it. */
interface Counted {
  readonly id: string
  readonly message: Message
  size: Size | undefined
}

const nothing: Size = { bytes: 0, fileBytes: 0 }

/** The inputs of one chat that are not delivered, counted. */
export class InboxTally {
  readonly #limits: InboxLimits
  readonly #inputs = new SparseMap<string, Counted>()
  /** The inputs whose size nothing needed yet. */
  #unmeasured: Array<Counted> | undefined
  #total: Size = nothing

  constructor(limits: InboxLimits) {
    this.#limits = limits
  }

  get isEmpty(): boolean {
    return this.#inputs.all.size === 0
  }

  get #isMeasured(): boolean {
    return Math.min(this.#limits.maxWaitingBytes, this.#limits.maxWaitingFileBytes) < Infinity
  }

  add(id: string, message: Message): void {
    if (this.#inputs.all.has(id)) return
    const counted = { id, message, size: undefined }
    this.#inputs.set(id, counted)
    if (this.#isMeasured) (this.#unmeasured ??= []).push(counted)
  }

  delete(id: string): void {
    this.#total = sum(this.#total, this.#inputs.all.get(id)?.size, -1)
    this.#inputs.delete(id)
  }

  /** Why the chat refuses this message while the turn of the input `running` runs; `undefined` when it accepts it (INBOX1). */
  refusal(chat: string, running: string, message: Message): SessionError | undefined {
    const { maxWaitingInputs } = this.#limits
    const begun = this.#inputs.all.get(running)
    const waiting = this.#inputs.all.size - (begun === undefined ? 0 : 1)
    const metadata = { waiting, ...this.#limits }
    if (waiting >= maxWaitingInputs) {
      return full(`The most inputs, ${maxWaitingInputs}, wait in the chat ${chat}; wait until one has run`, metadata)
    }
    if (!this.#isMeasured) return undefined
    const own = sizeOf(message)
    const before = exceeded(own, this.#limits)
    if (before !== undefined) {
      return full(
        `An input that waits in the chat ${chat} has at most ${before.most} ${before.of}, and this one has ${before.has}; wait until no turn runs`,
        metadata
      )
    }
    this.#measure()
    const after = exceeded(sum(sum(this.#total, own), begun?.size, -1), this.#limits)
    if (after === undefined) return undefined
    return full(
      `The inputs that wait in the chat ${chat} have at most ${after.most} ${after.of}, and with this one they have ${after.has}; wait until one has run`,
      metadata
    )
  }

  #measure(): void {
    for (const counted of this.#unmeasured ?? []) {
      if (this.#inputs.all.get(counted.id) !== counted) continue
      counted.size = sizeOf(counted.message)
      this.#total = sum(this.#total, counted.size)
    }
    this.#unmeasured = undefined
  }
}

const sum = (one: Size, other: Size = nothing, sign = 1): Size => ({
  bytes: one.bytes + sign * other.bytes,
  fileBytes: one.fileBytes + sign * other.fileBytes
})

/** The limit that a size exceeds. */
const exceeded = (
  { bytes, fileBytes }: Size,
  { maxWaitingBytes, maxWaitingFileBytes }: InboxLimits
): { readonly most: number; readonly of: string; readonly has: number } | undefined => {
  if (bytes > maxWaitingBytes) return { most: maxWaitingBytes, of: "bytes", has: bytes }
  if (fileBytes <= maxWaitingFileBytes) return undefined
  return { most: maxWaitingFileBytes, of: "bytes in images and files", has: fileBytes }
}

const sizes = new WeakMap<Message, Size>()

/** The size of the message in its stored form: the UTF-8 bytes of its text, without the data of its images and files. */
const sizeOf = (message: Message): Size => {
  const known = sizes.get(message)
  if (known !== undefined) return known
  const { content } = message
  const rest =
    typeof content === "string"
      ? message
      : { ...message, content: content.map((part) => (isMedia(part) ? withoutData(part) : part)) }
  const size = { bytes: utf8Bytes(JSON.stringify(write(rest, true).json)), fileBytes: fileBytesOf(content) }
  sizes.set(message, size)
  return size
}

/** Why the chat refuses one more handoff or change of its mode while `waiting` requests wait; `undefined` when it accepts it (INBOX2). */
export const requestRefusal = (chat: string, waiting: number, limits: InboxLimits): SessionError | undefined => {
  const { maxWaitingInputs } = limits
  if (waiting <= maxWaitingInputs) return undefined
  return full(`The most requests, ${maxWaitingInputs}, wait in the chat ${chat}; wait until one is done`, {
    waiting,
    ...limits
  })
}

const full = (message: string, limits: InboxLimits & { readonly waiting: number }): SessionError =>
  new SessionError("inbox_full", message, { metadata: { ...limits } })

/** Each unit of a surrogate pair counts as two bytes. */
const utf8Bytes = (text: string): number => {
  let bytes = text.length
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2
  }
  return bytes
}

const none: ReadonlyMap<never, never> = new Map<never, never>()

/**
 * A map that holds memory only while it has entries: an empty `Map` uses more memory than the entries of most chats.
 *
 * SPARSE1. It has the entries of a `Map`, in the order of adding; when the last one is deleted, its memory is released.
 */
export class SparseMap<K, V> {
  /** The present entries. */
  all: ReadonlyMap<K, V> = none

  set(key: K, value: V): void {
    if (this.all === none) this.all = new Map([[key, value]])
    else (this.all as Map<K, V>).set(key, value)
  }

  delete(key: K): void {
    if (this.all.has(key) && this.all.size === 1) this.all = none
    else if (this.all !== none) (this.all as Map<K, V>).delete(key)
  }

  clear(): void {
    this.all = none
  }
}
