/**
 * Reads the text of a state as a tree.
 *
 * STATE1. Every text has a tree: what is not understood is a leaf with the text as it is. The cost grows with the length of the text.
 */

/** A part of a state: a leaf has a text, others have their parts. */
export interface StatePart {
  readonly name: string | undefined
  /** The text of a leaf; of a list or an object its opening, such as `Map(2)`. */
  readonly text: string
  readonly parts: ReadonlyArray<StatePart> | undefined
}

/** Deeper parts are leaves. */
const deepest = 12

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get isOver(): boolean {
    return this.#at >= this.#text.length
  }

  #skip(): void {
    while (/\s/.test(this.#text[this.#at] ?? "")) this.#at++
  }

  /** The text up to one of these signs outside of quotes. */
  #until(signs: string): string {
    const from = this.#at
    let quote: string | undefined
    let round = 0
    for (; !this.isOver; this.#at++) {
      const sign = this.#text[this.#at] ?? ""
      if (quote !== undefined) {
        if (sign === "\\") this.#at++
        else if (sign === quote) quote = undefined
      } else if (sign === '"' || sign === "'" || sign === "`") quote = sign
      else if (sign === "(") round++
      else if (sign === ")") round--
      else if (round <= 0 && signs.includes(sign)) break
    }
    return this.#text.slice(from, this.#at).trim()
  }

  /** A value, which ends before a comma or a closing bracket. */
  value(name: string | undefined, depth = 0): StatePart {
    this.#skip()
    const text = this.#until("{[,}]")
    const open = this.#text[this.#at]
    if ((open !== "{" && open !== "[") || depth >= deepest) {
      const rest = open === "{" || open === "[" ? this.#until("") : ""
      return { name, text: `${text}${rest}`, parts: undefined }
    }
    this.#at++
    const parts: Array<StatePart> = []
    for (;;) {
      this.#skip()
      const sign = this.#text[this.#at]
      if (sign === undefined) break
      if (sign === "}" || sign === "]") {
        this.#at++
        break
      }
      if (sign === ",") {
        this.#at++
        continue
      }
      parts.push(this.value(open === "{" ? this.#name() : `${parts.length}`, depth + 1))
    }
    return { name, text, parts }
  }

  /** The name before a colon; without one nothing is read. */
  #name(): string | undefined {
    const found = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[\w$#.\-[\] ]+?)\s*(?::|=>)\s/.exec(
      this.#text.slice(this.#at, this.#at + 200)
    )
    if (found === null) return undefined
    this.#at += found[0].length
    return found[0].replace(/\s*(?::|=>)\s$/, "").replaceAll(/^["']|["']$/g, "")
  }
}

/** The tree of a text. */
export const stateOf = (text: string): StatePart => {
  const reader = new Reader(text)
  const read = reader.value(undefined)
  return reader.isOver && read.parts !== undefined ? read : { name: undefined, text, parts: undefined }
}
