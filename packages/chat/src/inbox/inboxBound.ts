/**
 * The limits of the waiting inputs of one chat: their number and their bytes.
 *
 * Owns: a cache of message sizes. Does not own the inputs, nor their storage.
 *
 * INBOX1. An input beyond a limit is refused (`inbox_full`) before any of it is stored. An accepted input is never
 *         refused for a limit, also when it waits in a record that was stored under wider limits.
 */
import { SessionError } from "../errors/index.ts"
import type { Message } from "../model/index.ts"
import { write } from "../values/index.ts"

/** The limits of every chat's waiting inputs. */
export interface InboxLimits {
  readonly maxWaitingInputs: number
  readonly maxWaitingBytes: number
}

/** The limits, with a cache of message sizes. */
export class InboxBound {
  readonly #limits: InboxLimits
  readonly #sizes = new WeakMap<Message, number>()

  constructor(limits: InboxLimits) {
    this.#limits = limits
  }

  /** Whether there is any limit. */
  get isBound(): boolean {
    return this.#limits.maxWaitingInputs < Infinity || this.#limits.maxWaitingBytes < Infinity
  }

  /** Why the chat refuses this message behind the waiting messages; `undefined` when it accepts it. */
  refusal(chat: string, waiting: ReadonlyArray<Message>, message: Message): SessionError | undefined {
    const { maxWaitingInputs, maxWaitingBytes } = this.#limits
    const metadata = { waiting: waiting.length, maxWaitingInputs, maxWaitingBytes }
    if (waiting.length >= maxWaitingInputs) {
      return full(`The most inputs, ${maxWaitingInputs}, wait in the chat ${chat}; wait until one has run`, metadata)
    }
    if (maxWaitingBytes === Infinity) return undefined
    let bytes = this.#sizeOf(message)
    if (bytes > maxWaitingBytes) {
      return full(
        `An input that waits in the chat ${chat} has at most ${maxWaitingBytes} bytes, and this one has ${bytes}; wait until no turn runs`,
        metadata
      )
    }
    for (const one of waiting) bytes += this.#sizeOf(one)
    if (bytes <= maxWaitingBytes) return undefined
    return full(
      `The inputs that wait in the chat ${chat} have at most ${maxWaitingBytes} bytes, and with this one they have ${bytes}; wait until one has run`,
      metadata
    )
  }

  /** The UTF-8 bytes of the message in its stored form. */
  #sizeOf(message: Message): number {
    const known = this.#sizes.get(message)
    if (known !== undefined) return known
    const size = utf8Bytes(JSON.stringify(write(message, true).json))
    this.#sizes.set(message, size)
    return size
  }
}

const full = (message: string, metadata: Readonly<Record<string, number>>): SessionError =>
  new SessionError("inbox_full", message, { metadata })

/** Each unit of a surrogate pair counts as two bytes. */
const utf8Bytes = (text: string): number => {
  let bytes = text.length
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2
  }
  return bytes
}
