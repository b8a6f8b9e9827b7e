/**
 * The JSON text of a body, without the parts of a posted history that the server does not need.
 *
 * Owns: the text so far. Does not own the body, whose text is pushed as it arrives, nor its limits.
 *
 * HISTORY1. The messages of the list keep their order, `id`, `role` and `toolCallId`; the last message of the model, and those behind
 *           it, are kept whole; when these are longer than the limit, of the older messages of persons and of the model only those fields
 *           are kept. So the kept text is bounded by what is new, not by the conversation. A message of the role `activity` is never kept.
 * HISTORY2. Each character is looked at once, however the text is cut. A text that is no JSON is kept as it is, for the
 *           parser to refuse.
 */

/** A piece of the kept text; `head` are the kept fields of a message that has ended. */
interface Kept {
  text: string
  head?: Readonly<Record<"id" | "role" | "toolCallId", unknown>> | undefined
}

const quote = 0x22
const backslash = 0x5c
const open = 0x7b
const close = 0x7d
const openList = 0x5b
const closeList = 0x5d
const colon = 0x3a

export class HistoryText {
  readonly #list: string
  readonly #most: number
  /** The text before, between and behind the messages; a message is a piece of its own. */
  readonly #pieces: Array<Kept> = [{ text: "" }]
  #length = 0
  /** The messages since the last one of the model: each may still become history. */
  #whole: Array<Kept> = []
  /** The characters of those that have ended. They do not count while the next message is read. */
  #wholeLength = 0
  #depth = 0
  #inText = false
  #isEscaped = false
  /** The last text at depth 1, and whether a colon followed it. */
  #name = ""
  #isNaming = false
  #inList = false

  /** `list` is the name of the list of messages in the body, and `most` the characters that may be kept. */
  constructor(list: string, most: number) {
    this.#list = list
    this.#most = most
  }

  /** The characters that are kept. */
  get length(): number {
    return this.#length
  }

  /** The text that is kept. */
  get text(): string {
    return this.#pieces.map(({ text }) => text).join("")
  }

  push(text: string): void {
    let from = 0
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at)
      if (this.#inText) this.#readText(unit, text, at)
      else if (unit === quote) {
        this.#inText = true
        if (this.#depth === 1) this.#name = ""
      } else if (unit === colon && this.#depth === 1) this.#isNaming = true
      else if (unit === open || unit === openList) {
        const begins = unit === open && this.#depth === 2 && this.#inList
        if (begins) {
          this.#keep(text.slice(from, at))
          from = at
          this.#setAside()
          const message: Kept = { text: "" }
          this.#pieces.push(message)
          this.#whole.push(message)
        }
        this.#depth += 1
        if (unit === openList && this.#depth === 2 && this.#isNaming) this.#inList = this.#name === this.#list
      } else if (unit === close || unit === closeList) {
        if (unit === closeList && this.#depth === 2) this.#inList = false
        this.#depth -= 1
        if (unit === close && this.#depth === 2 && this.#inList) {
          this.#keep(text.slice(from, at + 1))
          from = at + 1
          this.#ended()
          this.#pieces.push({ text: "" })
        }
      }
    }
    this.#keep(text.slice(from))
  }

  #readText(unit: number, text: string, at: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (unit === backslash) this.#isEscaped = true
    else if (unit === quote) {
      this.#inText = false
      return
    }
    if (this.#depth === 1 && this.#name.length < 32) this.#name += text.charAt(at)
  }

  #keep(text: string): void {
    const last = this.#pieces.at(-1)
    if (last === undefined) return
    last.text += text
    this.#length += text.length
  }

  /** Another message follows: those before it may be history. */
  #setAside(): void {
    this.#length -= this.#wholeLength
  }

  /** A message has ended: before a message of the model, all messages are history. */
  #ended(): void {
    this.#length += this.#wholeLength
    const last = this.#whole.at(-1)
    if (last === undefined) return
    last.head = headOf(last.text)
    if (last.head?.role === "activity") this.#reduce(this.#whole.pop())
    else this.#wholeLength += last.text.length
    const isReply = last.head?.role === "assistant"
    if (!isReply && this.#length <= this.#most) return
    const isHistory = (piece: Kept): boolean => piece !== this.#whole.at(-1) && (isReply || piece.head?.role !== "tool")
    const whole = this.#whole.filter((piece) => !isHistory(piece))
    for (const piece of this.#whole) if (isHistory(piece)) this.#reduce(piece)
    this.#whole = whole
    this.#wholeLength = whole.reduce((sum, { text }) => sum + text.length, 0)
  }

  #reduce(piece: Kept | undefined): void {
    if (piece?.head === undefined) return
    const text = JSON.stringify({ ...piece.head, parts: [], content: "" })
    this.#length += text.length - piece.text.length
    piece.text = text
  }
}

const headOf = (text: string): Kept["head"] => {
  try {
    const { id, role, toolCallId } = JSON.parse(text) as NonNullable<Kept["head"]>
    return { id, role, toolCallId }
  } catch {
    return undefined
  }
}
