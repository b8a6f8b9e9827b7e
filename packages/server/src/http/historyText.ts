/**
 * The JSON text of a body, without the parts of a posted history that the server does not need.
 *
 * Owns: the text so far. Does not own the body, whose text is pushed as it arrives, nor its limits.
 *
 * HISTORY1. The messages of the list keep their order, `id`, `role` and `toolCallId`; the last one, and results of calls behind the last
 *           message of the model, are kept whole. So the kept text is bounded by what is new, not by the conversation. A
 *           message of the role `activity` is never kept: the message before it counts as the last one.
 * HISTORY2. Each character is looked at once, however the text is cut. A text that is no JSON is kept as it is, for the
 *           parser to refuse.
 */

/** A piece of the kept text. */
interface Kept {
  text: string
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
  /** The text before, between and behind the messages; a message is a piece of its own. */
  readonly #pieces: Array<Kept> = [{ text: "" }]
  #length = 0
  /** The messages that may still become history: results of calls, and the newest message. */
  #whole: Array<Kept> = []
  /** The message before the one that is read. It is history, unless an activity follows; it does not count meanwhile. */
  #before: Kept | undefined
  #depth = 0
  #inText = false
  #isEscaped = false
  /** The last text at depth 1, and whether a colon followed it. */
  #name = ""
  #isNaming = false
  #inList = false

  /** `list` is the name of the list of messages in the body. */
  constructor(list: string) {
    this.#list = list
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
          const message = { text: "" }
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

  /** Another message follows: the last one may be history, unless it is the result of a call. */
  #setAside(): void {
    const last = this.#whole.at(-1)
    if (last === undefined || roleOf(last.text) === "tool") return
    this.#before = this.#whole.pop()
    this.#length -= last.text.length
  }

  /** A message has ended: behind a message of the model, all results before are history. */
  #ended(): void {
    const last = this.#whole.at(-1)
    const before = this.#before
    this.#before = undefined
    this.#length += before?.text.length ?? 0
    if (last?.text.includes(activity) === true && roleOf(last.text) === "activity") {
      this.#whole.pop()
      this.#reduce(last)
      if (before !== undefined) this.#whole.push(before)
      return
    }
    if (before !== undefined) this.#reduce(before)
    if (last === undefined || this.#whole.length === 1 || roleOf(last.text) !== "assistant") return
    for (const piece of this.#whole.slice(0, -1)) this.#reduce(piece)
    this.#whole = [last]
  }

  #reduce(piece: Kept): void {
    const message = parsed(piece.text)
    if (message === undefined) return
    const { id, role, toolCallId } = message
    const text = JSON.stringify({ id, role, toolCallId, parts: [], content: "" })
    this.#length += text.length - piece.text.length
    piece.text = text
  }
}

const activity = '"activity"'

const parsed = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    return undefined
  }
}

const roleOf = (text: string): unknown => parsed(text)?.["role"]
