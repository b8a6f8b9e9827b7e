/**
 * Plans the tool calls for a user's text.
 *
 * **Details**: the text is split into clauses at commas, "and" and "then". The first rule that matches a clause makes its
 * calls. A clause of one bare word or path takes the verb of the clause before it: "read a.txt and b.txt".
 *
 * @module
 */

/** A planned call. */
export interface PlannedCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/**
 * The plan for a text.
 *
 * **Details**: `calls` run in parallel. With `readFound`, the files that a search finds are read next.
 */
export interface Plan {
  readonly calls: ReadonlyArray<PlannedCall>
  readonly readFound: boolean
}

/** The maximum number of calls that are planned from one text. */
export const mostCalls = 8

/** Plans the calls for a text; empty when no rule matches. */
export const plan = (text: string): Plan => {
  const calls: Array<PlannedCall> = []
  let verb: Rule | undefined
  let readFound = false
  for (const clause of clauses(text)) {
    if (verb === search && /^(?:read|open|show|cat)\s+(?:it|them|that|those)\b/i.test(clause)) {
      readFound = true
      continue
    }
    const bare = /^[^\s?!]+$/.test(clause) && verb?.more !== undefined
    const rule = rules.find((candidate) => candidate.matches(clause))
    if (rule !== undefined) {
      verb = rule
      calls.push(...rule.calls(clause))
    } else if (bare) {
      calls.push(...(verb?.more?.(clause) ?? []))
    }
  }
  return { calls: calls.slice(0, mostCalls), readFound }
}

interface Rule {
  readonly matches: (clause: string) => boolean
  readonly calls: (clause: string) => ReadonlyArray<PlannedCall>
  /** The calls for a bare word after a clause of this rule. */
  readonly more?: (word: string) => ReadonlyArray<PlannedCall>
}

const requesting = /^(?:please|now|also|could you|can you|would you|will you|i want you to|let us|let's)\s+/i

/** Splits a text into clauses; text in double quotes or backticks stays whole. */
const clauses = (text: string): ReadonlyArray<string> => {
  const quoted: Array<string> = []
  const hidden = text.replaceAll(/"[^"]*"|`[^`]*`/g, (part) => `⟨${quoted.push(part) - 1}⟩`)
  return hidden
    .split(/,(?!\d)|;|\n|\band then\b|\bthen\b|\band\b|\bas well as\b/i)
    .map((part) => part.replaceAll(/⟨(\d+)⟩/g, (_, index: string) => quoted[Number(index)] ?? ""))
    .map(strip)
    .filter((part) => part !== "" && !/^(?:please|thanks|thank you)$/i.test(part))
}

const strip = (clause: string): string => {
  const trimmed = clause
    .trim()
    .replace(/[.?!]+$/, "")
    .trim()
  const shorter = trimmed.replace(requesting, "")
  return shorter === trimmed ? trimmed : strip(shorter)
}

const unquoted = (word: string): string => word.replaceAll(/^["'`]+|["'`]+$/g, "")

/** The words that can only be file names: with a dot or a slash inside, in quotes, or well known. */
const paths = (clause: string): ReadonlyArray<string> =>
  (clause.match(/"[^"]+"|`[^`]+`|[^\s"`]+/g) ?? [])
    .filter(
      (word) =>
        /^["`]/.test(word) || /[^.]\.\w|^\.\w|\/./.test(word) || /^(?:README|LICENSE|Makefile|Dockerfile)$/i.test(word)
    )
    .map((word) => (/^readme$/i.test(word) ? `${word}.md` : unquoted(word)))

/** Words that do not identify a file or folder. */
const fillers: ReadonlySet<string> = new Set(
  "a all an any are called containing current directory directories every everything file files folder folders for here is it matching me my name named names of please the them this to with".split(
    " "
  )
)

const placeIn =
  /\b(?:in|of|under|inside|below)\s+((?:the|this|my|current|folder|directory)\s+)*(\S+)\s*(?:folder|directory)?$/i

/** The folder after "in" or "of" in a clause; by default the current one. */
const placeOf = (clause: string): string => {
  const named = placeIn.exec(clause)?.[2]
  return named === undefined || fillers.has(named.toLowerCase()) ? "." : unquoted(named)
}

const readFile = (path: string): PlannedCall => ({ name: "read_text_file", arguments: { path } })

const listFolder = (path: string): PlannedCall => ({ name: "list_directory", arguments: { path } })

const searchFor = (word: string, path: string): PlannedCall => ({
  name: "search_files",
  arguments: {
    path,
    pattern: /[*?]/.test(word) ? (word.includes("/") ? word : `**/${word}`) : `**/*${word}*`,
    excludePatterns: ["**/node_modules", "**/.git", "**/dist"]
  }
})

const slowJob = (seconds: number): PlannedCall => ({ name: "slow_job", arguments: { seconds } })

const weatherIn = (city: string): PlannedCall => ({
  name: "weather",
  arguments: { city: city.replaceAll(/[^\p{L}\s-]/gu, "").trim() || "Oslo" }
})

const secondsIn = (clause: string): number | undefined => {
  const found = /(\d+(?:\.\d+)?)\s*(s|sec|secs|seconds?|min|minutes?)\b/i.exec(clause)
  const seconds = found === null ? 0 : Number(found[1]) * (found[2]?.startsWith("m") === true ? 60 : 1)
  return seconds > 0 ? Math.min(seconds, 3_600) : undefined
}

const expressionIn = (clause: string): string | undefined => {
  const inSigns = clause
    .replaceAll(/(?<=\d),(?=\d{3}\b)/g, "")
    .replaceAll(/(?<=[\d)]\s*)(?:times|multiplied by|x|×)(?=\s*[\d(.-])/gi, "*")
    .replaceAll(/\bdivided by\b|÷/gi, "/")
    .replaceAll(/\bplus\b/gi, "+")
    .replaceAll(/\bminus\b|−/gi, "-")
    .replaceAll(/\bto the power of\b|\*\*/gi, "^")
    .replaceAll(/\bmod(?:ulo)?\b/gi, "%")
    .replaceAll(/\bsquared\b/gi, "^2")
  const found = inSigns.match(/[-+(.\d][-+*/%^().\d\s]*/g)?.map((part) => part.trim()) ?? []
  return found.toSorted((left, right) => right.length - left.length).find((part) => /\d[\s)]*[-+*/%^]/.test(part))
}

const crash: Rule = {
  matches: (clause) => /\b(?:crash(?:es)?|explode|blow up)\b/i.test(clause),
  calls: () => [{ name: "crash", arguments: {} }]
}

const timeout: Rule = {
  matches: (clause) => /\btime(?:s|d)?[- ]?out\b|\bhangs?\b/i.test(clause),
  calls: () => [slowJob(60)]
}

const slow: Rule = {
  matches: (clause) => /\bslow\b|^(?:wait|sleep|work)\b/i.test(clause),
  calls: (clause) => [slowJob(secondsIn(clause) ?? 3)]
}

const search: Rule = {
  matches: (clause) => /^(?:search|find|look for|where (?:is|are))\b/i.test(clause),
  calls: (clause) => {
    const word = clause
      .replace(/^(?:search|find|look|where)\b/i, "")
      .replace(placeIn, "")
      .match(/"[^"]+"|`[^`]+`|[^\s"`]+/g)
      ?.findLast((candidate) => !fillers.has(candidate.toLowerCase()))
    return word === undefined ? [] : [searchFor(unquoted(word), placeOf(clause))]
  },
  more: (word) => [searchFor(unquoted(word), ".")]
}

const read: Rule = {
  matches: (clause) =>
    /^(?:read|open|show|cat|print|display|what is in|what's in)\b/i.test(clause) && paths(clause).length > 0,
  calls: (clause) => paths(clause).map(readFile),
  more: (word) => [readFile(unquoted(word))]
}

const list: Rule = {
  matches: (clause) =>
    /^ls\b/i.test(clause) ||
    /^(?:list|show|what|which|see|tell me)\b.*\b(?:files?|folders?|director(?:y|ies)|here)\b/i.test(clause) ||
    /^list\b/i.test(clause),
  calls: (clause) => {
    const named = /^(?:ls|list)\s+(\S+)$/i.exec(clause)?.[1]
    return [listFolder(named === undefined || fillers.has(named.toLowerCase()) ? placeOf(clause) : unquoted(named))]
  },
  more: (word) => (fillers.has(word.toLowerCase()) ? [] : [listFolder(unquoted(word))])
}

const ask: Rule = {
  matches: (clause) => /\b(?:book|reserve|order|schedule)\b|\bask me\b|^remind\b/i.test(clause),
  calls: (clause) => {
    const question = /\bask me\b/i.test(clause)
      ? "Here is my question: what should we call this chat?"
      : `Before I can ${clause.charAt(0).toLowerCase()}${clause.slice(1)}: for when, and for how many?`
    return [{ name: "ask", arguments: { question } }]
  }
}

const sum: Rule = {
  matches: (clause) => expressionIn(clause) !== undefined,
  calls: (clause) => [{ name: "calculate", arguments: { expression: expressionIn(clause) ?? "" } }]
}

const weather: Rule = {
  matches: (clause) => /\bweather\b/i.test(clause),
  calls: (clause) => [weatherIn(/\b(?:in|of|for)\s+(.+)$/i.exec(clause)?.[1] ?? "")],
  more: (word) => [weatherIn(word)]
}

const stubborn: Rule = {
  matches: (clause) => /\bstubborn\b/i.test(clause),
  calls: () => [{ name: "stubborn", arguments: { seconds: 6 } }]
}

const charge: Rule = {
  matches: (clause) => /\b(?:charge|pay)\b/i.test(clause),
  calls: (clause) => [{ name: "charge", arguments: { dollars: Number(/\d+/.exec(clause)?.[0] ?? 20) } }]
}

const hotel: Rule = {
  matches: (clause) => /\bhotel\b/i.test(clause),
  calls: () => [{ name: "book_room", arguments: {} }]
}

const team: Rule = {
  matches: (clause) => /\bwith (?:the|a|my|your) team\b/i.test(clause),
  calls: (clause) => {
    const place = /^research\s+(.+?)\s+with\b/i.exec(clause)?.[1] ?? "Oslo"
    return ["the weather", "the visit"].map((what) => ({
      name: "research",
      arguments: { input: `Research ${what} in ${place}.` }
    }))
  }
}

const scout: Rule = {
  matches: (clause) => /^(?:scout|explore)\s/i.test(clause),
  calls: (clause) => {
    const place = /^\w+\s+(.+?)(?:\s+in the background)?$/i.exec(clause)?.[1] ?? "Oslo"
    return [{ name: "scout", arguments: { input: `Scout ${place}.` } }]
  }
}

const toScout = (message: string): ReadonlyArray<PlannedCall> => [{ name: "tell", arguments: { to: "scout", message } }]

const state: Rule = {
  matches: (clause) => /^ask the scout\b/i.test(clause),
  calls: () => toScout("How far are you?")
}

const send: Rule = {
  matches: (clause) => /^send the scout to\s/i.test(clause),
  calls: (clause) => toScout(`Look at ${clause.replace(/^send the scout to\s+/i, "")} instead.`)
}

const rules: ReadonlyArray<Rule> = [
  scout,
  state,
  send,
  team,
  search,
  read,
  weather,
  stubborn,
  charge,
  hotel,
  list,
  crash,
  timeout,
  slow,
  ask,
  sum
]
