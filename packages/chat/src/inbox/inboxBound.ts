/**
 * How many inputs of one chat may wait at once, and how many bytes.
 *
 * Owns: the sizes of the messages it has measured. Does not own the inputs, nor what is stored of them.
 *
 * INBOX1. An input beyond a bound is refused (`inbox_full`) before anything of it is written. An input that was accepted is
 *         never refused for a bound, also when it waits in a record that was stored under wider bounds.
 */
import { SessionError } from "../errors/index.ts"
import type { Message } from "../model/index.ts"
import { write } from "../values/index.ts"

/** The bounds of every chat's waiting inputs. */
export interface InboxLimits {
  readonly maxWaitingInputs: number
  readonly maxWaitingBytes: number
}

/** The bounds, and what is known of sizes. */
export class InboxBound {
  readonly #limits: InboxLimits
  readonly #sizes = new WeakMap<Message, number>()

  constructor(limits: InboxLimits) {
    this.#limits = limits
  }

  /** Whether there is a bound at all. */
  get isBound(): boolean {
    return this.#limits.maxWaitingInputs < Infinity || this.#limits.maxWaitingBytes < Infinity
  }

  /** Why the chat takes no such message behind those that wait; `undefined` when it does. */
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

  /** Bytes of UTF-8 of the message as a record has it. */
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

/** Both units of a pair have two bytes each. */
const utf8Bytes = (text: string): number => {
  let bytes = text.length
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2
  }
  return bytes
}
