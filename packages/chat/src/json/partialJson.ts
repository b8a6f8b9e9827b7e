/**
 * Reads JSON text while it streams, and gives the value of the text so far.
 *
 * Owns: the open lists and objects, and the token at the end of the text. Does not own the text.
 *
 * PARTIAL1. The value depends on the text only, not on its fragments. A complete list or object is what `JSON.parse` makes
 *           of its text.
 * PARTIAL2. A string grows. A number, a word (`true`, `false`, `null`) and a field appear when they are complete.
 * PARTIAL5. After text that is not JSON, or deeper than 100 levels, the value stays as it is.
 * PARTIAL6. A first line that opens a code fence, with the word `json` or without a word, is not part of the text. A complete
 *           text loses its fence too (`unfenced`).
 */
import { isLarge, type Open, set, valueOf } from "./openValues.ts"

/** A token whose end was not read. `escape` is its open escape, `ending` the last UTF-16 unit of its text. */
interface Token {
  readonly type: "string" | "bare" | "fence"
  text: string
  escape: string
  ending: number
}

/** The most levels of nesting. */
const deepest = 100

/** The most characters of the line that opens a fence. */
const longestFence = 32

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t"
}
const fence = /^```(?:json)?[ \t\r]*$/i
const space = /[ \t\n\r]*/y
const bare = /[-+.\w]*/y
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/
const words: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null]
])

/** A complete text without the code fence around it (PARTIAL6); a text without a fence is returned unchanged. */
export const unfenced = (text: string): string =>
  /^```(?:json)?[ \t\r]*\n(?<inner>[^]*)```$/i.exec(text.trim())?.groups?.["inner"] ?? text

export class PartialJson {
  readonly #open: Array<Open> = []
  #expected: "value" | "valueOrEnd" | "key" | "keyOrEnd" | "colon" | "commaOrEnd" | "nothing" = "value"
  /** The token at the end of the text. */
  #token: Token | undefined
  #isBroken = false
  #isFenced = false
  #root: unknown
  #value: unknown
  #isFresh = true

  /** Reads the next fragment of the text. */
  push(delta: string): void {
    if (this.#isBroken || delta === "") return
    this.#isFresh = false
    let at = 0
    while (at < delta.length && !this.#isBroken) {
      if (this.#token?.type === "string") at = this.#inString(delta, at, this.#token)
      else if (this.#token?.type === "fence") at = this.#inFence(delta, at, this.#token)
      else if (this.#token !== undefined) at = this.#inBare(delta, at, this.#token)
      else at = this.#between(delta, at)
    }
  }

  /** The value of the text so far; `undefined` before it has one. */
  get value(): unknown {
    if (!this.#isFresh) this.#value = this.#valueNow()
    this.#isFresh = true
    return this.#value
  }

  #valueNow(): unknown {
    const token = this.#token
    const isText = token?.type === "string" && this.#expected !== "key" && this.#expected !== "keyOrEnd"
    const text = isText ? shownText(token.text, token.ending) : undefined
    if (this.#open.length === 0) return text ?? this.#root
    const large = this.#open.findIndex(isLarge)
    let inner: unknown = large < 0 ? text : undefined
    const shown = large < 0 ? this.#open : this.#open.slice(0, large + 1)
    for (const open of shown.toReversed()) inner = valueOf(open, inner)
    return inner
  }

  #inString(delta: string, from: number, token: Token): number {
    if (token.escape !== "") return this.#inEscape(delta, from, token)
    const at = endOfPlain(delta, from)
    if (at > from) {
      token.text += delta.slice(from, at)
      token.ending = delta.charCodeAt(at - 1)
    }
    if (at === delta.length) return at
    const next = delta[at]
    if (next === "\\") token.escape = next
    else if (next === '"') this.#endString(token.text)
    else this.#isBroken = true
    return at + 1
  }

  #inEscape(delta: string, at: number, token: Token): number {
    token.escape += delta[at]
    const { escape } = token
    const code = escape[1] === "u" ? escape.slice(2) : undefined
    if (code !== undefined && /^[\da-fA-F]{0,3}$/.test(code)) return at + 1
    const text = code === undefined ? escapes[escape[1] ?? ""] : unit(code)
    if (text === undefined) this.#isBroken = true
    else {
      token.text += text
      token.ending = text.charCodeAt(0)
      token.escape = ""
    }
    return at + 1
  }

  #endString(text: string): void {
    this.#token = undefined
    const open = this.#open.at(-1)
    if (open?.type !== "object" || (this.#expected !== "key" && this.#expected !== "keyOrEnd")) return this.#put(text)
    open.key = text
    this.#expected = "colon"
  }

  #inBare(delta: string, from: number, token: Token): number {
    const at = endOf(bare, delta, from)
    token.text += delta.slice(from, at)
    if (at === delta.length) return at
    this.#token = undefined
    const { text } = token
    if (words.has(text)) this.#put(words.get(text))
    else if (number.test(text)) this.#put(finite(Number(text)))
    else this.#isBroken = true
    return at
  }

  #inFence(delta: string, from: number, token: Token): number {
    const end = delta.indexOf("\n", from)
    const at = end < 0 ? delta.length : end
    token.text += delta.slice(from, Math.min(at, from + longestFence))
    if (token.text.length >= longestFence) this.#isBroken = true
    if (end < 0) return at
    this.#token = undefined
    if (fence.test(token.text)) this.#isFenced = true
    else this.#isBroken = true
    return end + 1
  }

  #between(delta: string, from: number): number {
    const at = endOf(space, delta, from)
    const next = delta[at]
    if (next === undefined) return at
    const expected = this.#expected
    const isValue = expected === "value" || expected === "valueOrEnd"
    const isKey = expected === "key" || expected === "keyOrEnd"
    if (next === '"' && (isValue || isKey)) this.#token = { type: "string", text: "", escape: "", ending: 0 }
    else if ((next === "{" || next === "[") && isValue) this.#begin(next === "{")
    else if (next === "}" || next === "]") this.#end(next === "}")
    else if (next === ":" && expected === "colon") this.#expected = "value"
    else if (next === "," && expected === "commaOrEnd") this.#expected = this.#isObject ? "key" : "value"
    else if (isValue && /[-\w]/.test(next)) {
      this.#token = { type: "bare", text: "", escape: "", ending: 0 }
      return at
    } else if (next === "`" && isValue && this.#open.length === 0 && !this.#isFenced) {
      this.#token = { type: "fence", text: "", escape: "", ending: 0 }
      return at
    } else this.#isBroken = true
    return at + 1
  }

  get #isObject(): boolean {
    return this.#open.at(-1)?.type === "object"
  }

  #begin(isObject: boolean): void {
    if (this.#open.length === deepest) {
      this.#isBroken = true
      return
    }
    this.#open.push(isObject ? { type: "object", fields: {}, keys: [], key: "" } : { type: "list", items: [] })
    this.#expected = isObject ? "keyOrEnd" : "valueOrEnd"
  }

  #end(isObject: boolean): void {
    const expected = this.#expected
    const canEnd = expected === "commaOrEnd" || expected === (isObject ? "keyOrEnd" : "valueOrEnd")
    if (!canEnd || this.#isObject !== isObject) {
      this.#isBroken = true
      return
    }
    const closed = this.#open.pop()
    this.#put(closed?.type === "object" ? closed.fields : closed?.items)
  }

  /** Adds a complete value. */
  #put(value: unknown): void {
    const open = this.#open.at(-1)
    this.#expected = open === undefined ? "nothing" : "commaOrEnd"
    if (open === undefined) {
      this.#root = value
    } else if (open.type === "list") {
      open.items.push(value)
    } else {
      set(open.fields, open.key, value)
      open.keys.push(open.key)
    }
  }
}

const endOf = (pattern: RegExp, text: string, from: number): number => {
  pattern.lastIndex = from
  pattern.test(text)
  return pattern.lastIndex
}

/** Where a string has its end, an escape or a character that JSON escapes. */
const endOfPlain = (text: string, from: number): number => {
  let at = from
  while (at < text.length && isPlain(text.charCodeAt(at))) at += 1
  return at
}

const isPlain = (code: number): boolean => code >= 0x20 && code !== 0x22 && code !== 0x5c

/** The UTF-16 unit of four hexadecimal digits. */
const unit = (code: string): string | undefined =>
  /^[\da-fA-F]{4}$/.test(code) ? String.fromCharCode(Number.parseInt(code, 16)) : undefined

/** A string that grows; the first half of a surrogate pair waits for the second. */
const shownText = (text: string, ending: number): string =>
  ending >= 0xd800 && ending <= 0xdbff ? text.slice(0, -1) : text

/** A number as JSON has it: without negative zero, and `null` in place of infinity. */
const finite = (value: number): number | null => (value === 0 ? 0 : Number.isFinite(value) ? value : null)
