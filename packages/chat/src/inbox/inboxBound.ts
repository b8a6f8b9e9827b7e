/**
 * The limits of the waiting inputs of a chat: their number and their bytes.
 *
 * Owns: the number and the sizes of the inputs. Does not own the inputs, nor their rows.
 *
 * INBOX1. An input beyond a limit is refused (`inbox_full`) before its row is written. An accepted input is never refused
 *         for a limit, also when its row was written under wider limits. The cost of a check does not grow with the inputs
 *         that wait.
 */
import { SparseMap } from "../async/index.ts"
import { SessionError } from "../errors/index.ts"
import type { Message } from "../model/index.ts"
import { write } from "../values/index.ts"

/** The limits of every chat's waiting inputs. */
export interface InboxLimits {
  readonly maxWaitingInputs: number
  readonly maxWaitingBytes: number
}

/** An input that is counted; `bytes` is known once a limit needed it. */
interface Counted {
  readonly id: string
  readonly message: Message
  bytes: number | undefined
}

/** The inputs of one chat that are not delivered, counted. */
export class InboxTally {
  readonly #limits: InboxLimits
  readonly #inputs = new SparseMap<string, Counted>()
  /** The inputs whose size nothing needed yet. */
  #unmeasured: Array<Counted> | undefined
  #bytes = 0

  constructor(limits: InboxLimits) {
    this.#limits = limits
  }

  get isEmpty(): boolean {
    return this.#inputs.size === 0
  }

  add(id: string, message: Message): void {
    if (this.#inputs.has(id)) return
    const counted = { id, message, bytes: undefined }
    this.#inputs.set(id, counted)
    if (this.#limits.maxWaitingBytes < Infinity) (this.#unmeasured ??= []).push(counted)
  }

  delete(id: string): void {
    this.#bytes -= this.#inputs.get(id)?.bytes ?? 0
    this.#inputs.delete(id)
  }

  /** Why the chat refuses this message while the turn of the input `running` runs; `undefined` when it accepts it (INBOX1). */
  refusal(chat: string, running: string, message: Message): SessionError | undefined {
    const { maxWaitingInputs, maxWaitingBytes } = this.#limits
    const begun = this.#inputs.get(running)
    const waiting = this.#inputs.size - (begun === undefined ? 0 : 1)
    const metadata = { waiting, maxWaitingInputs, maxWaitingBytes }
    if (waiting >= maxWaitingInputs) {
      return full(`The most inputs, ${maxWaitingInputs}, wait in the chat ${chat}; wait until one has run`, metadata)
    }
    if (maxWaitingBytes === Infinity) return undefined
    const own = sizeOf(message)
    if (own > maxWaitingBytes) {
      return full(
        `An input that waits in the chat ${chat} has at most ${maxWaitingBytes} bytes, and this one has ${own}; wait until no turn runs`,
        metadata
      )
    }
    this.#measure()
    const bytes = own + this.#bytes - (begun?.bytes ?? 0)
    if (bytes <= maxWaitingBytes) return undefined
    return full(
      `The inputs that wait in the chat ${chat} have at most ${maxWaitingBytes} bytes, and with this one they have ${bytes}; wait until one has run`,
      metadata
    )
  }

  #measure(): void {
    for (const counted of this.#unmeasured ?? []) {
      if (this.#inputs.get(counted.id) !== counted) continue
      counted.bytes = sizeOf(counted.message)
      this.#bytes += counted.bytes
    }
    this.#unmeasured = undefined
  }
}

const sizes = new WeakMap<Message, number>()

/** The UTF-8 bytes of the message in its stored form. */
const sizeOf = (message: Message): number => {
  const known = sizes.get(message)
  if (known !== undefined) return known
  const size = utf8Bytes(JSON.stringify(write(message, true).json))
  sizes.set(message, size)
  return size
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
