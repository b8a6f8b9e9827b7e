/**
 * Patterns of JSON Schema, which have the syntax of JavaScript, with a matcher of linear time.
 *
 * PATTERN1. The time of a match grows at most with the length of the text times the size of the pattern. A pattern that
 *           needs backtracking (a lookaround, a backreference), or is larger than `mostInstructions`, has no matcher. A
 *           Unicode property, which has hundreds of ranges, counts as `propertySize` characters of the pattern.
 */
import { RE2JS } from "re2js"

/** The largest pattern in instructions of its automaton: about one for each character, times its repetitions. */
const mostInstructions = 5_000

/** The size of a Unicode property in a pattern. */
const propertySize = 50

/** How many instructions the automaton tries on a character in the time of one step of a check. */
const instructionsPerStep = 64

/** The longest pattern in characters. */
const mostCharacters = 4 * mostInstructions

/** The matcher of a pattern; `undefined` if there is none (PATTERN1). */
export const patternOf = (
  source: string
):
  | {
      readonly matches: (text: string) => boolean
      /** The steps that a match of a text of this length costs at most. */
      readonly cost: (length: number) => number
    }
  | undefined => {
  if (source.length > mostCharacters) return undefined
  const { size, text, written } = translated(source)
  if (Math.max(size, written) > mostInstructions) return undefined
  try {
    const automaton = RE2JS.compile(RE2JS.translateRegExp(text))
    return {
      matches: (value) => automaton.test(value),
      cost: (length) => Math.ceil((length * size) / instructionsPerStep)
    }
  } catch {
    return undefined
  }
}

const token = /\\p\{[^}]*\}|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\[^]|\{\d+(?:,\d*)?\}|[^]/giu

/** The characters of `\s`, and all others, as the content of a class. */
const spaces = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
const others =
  String.raw`\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}` +
  String.raw`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`

/** Tokens that differ between the two syntaxes, outside of a class. */
const outside: Readonly<Record<string, string>> = {
  ".": String.raw`[^\n\r\x{2028}\x{2029}]`,
  "\\s": `[${spaces}]`,
  "\\S": `[${others}]`
}

/** The same inside of a class. */
const inside: Readonly<Record<string, string>> = {
  "[": String.raw`\[`,
  "\\s": spaces,
  "\\S": others,
  "\\b": String.raw`\x08`
}

/** The pattern for the automaton, an upper bound of the automaton's size, and the size of the pattern as it is written. */
const translated = (source: string): { readonly text: string; readonly size: number; readonly written: number } => {
  const around: Array<number> = []
  let text = ""
  let isInClass = false
  let size = 0
  let last = 0
  let written = 0
  for (const [part] of source.matchAll(token)) {
    written += /^\\p/i.test(part) ? propertySize : 1
    text += (isInClass ? inside : outside)[part] ?? plainOf(part)
    const repeated = isInClass ? null : /^\{(\d+),?(\d*)\}$/.exec(part)
    if (repeated !== null) {
      const times = Math.max(Number(repeated[1]), Number(repeated[2])) + 1
      size += last * (times - 1)
      last *= times
    } else if (part === "(" && !isInClass) {
      around.push(size)
      size = 0
    } else if (part === ")" && !isInClass) {
      last = size + 1
      size = (around.pop() ?? 0) + last
    } else if (!isInClass) {
      last = 1
      size += last
    }
    if (part === "[") isInClass = true
    if (part === "]") isInClass = false
  }
  return { text, size, written }
}

/** A token as both syntaxes have it: names of Unicode properties are short, and pairs of surrogates are one character. */
const plainOf = (part: string): string => {
  const property = /^\\(p)\{(?:(?:Script|sc|Script_Extensions|scx|General_Category|gc)=)?(\w+)\}$/i.exec(part)
  if (property !== null) return `\\${property[1]}{${categories[property[2] ?? ""] ?? property[2]}}`
  if (part.length === 12) return JSON.parse(`"${part}"`) as string
  // The automaton has meanings of its own for these letters.
  return /^\\[aACEGQzZ]$/.test(part) ? part.slice(1) : part
}

/** The long names of common categories. */
const categories: Readonly<Record<string, string>> = {
  Letter: "L",
  Uppercase_Letter: "Lu",
  Lowercase_Letter: "Ll",
  Mark: "M",
  Number: "N",
  Decimal_Number: "Nd",
  digit: "Nd",
  Punctuation: "P",
  punct: "P",
  Symbol: "S",
  Separator: "Z",
  Space_Separator: "Zs"
}
