/**
 * The search in the messages of conversations and in memories: the words of a query, and the rank of texts without an index; the list of the
 * memories of a scope.
 *
 * RANK1. A message is found when it has a word of the query, or one that begins with it. Messages with rarer words and with more of them come
 *        first; of equal ones, the later.
 * MEMO3. A scope has at most 1,000 memories, each of at most 2,000 characters: a further one takes the place of the oldest.
 */
import type { Message } from "../model/index.ts"
import { refuse, searched, isText, limitFinding } from "./chatList.ts"
import type { Memory, MemoryChange } from "../compaction/index.ts"

/** One result of a search. */
export interface FoundMessage {
  /** The id of the conversation that has it. */
  readonly chat: string
  /** Its index in the thread. */
  readonly place: number
  /** The whole of it, as it is stored. */
  readonly message: Message
}

/** What a search looks for, and where. */
export interface SearchOptions {
  /** The words; a message with one of them is found. */
  readonly query: string
  /** The only conversation to search. Default: all whose ids begin with `prefix`. */
  readonly chat?: string | undefined
  /** The beginning of the ids of the conversations. Default: all. */
  readonly prefix?: string | undefined
  /** The most messages, 1 to 100. Default: 5. */
  readonly limit?: number | undefined
}

/** The options with their defaults. Throws a `ValidationError` (`invalid_options`). */
export const searchOptions = ({ query, chat, prefix = "", limit = 5 }: SearchOptions) => {
  refuse([
    ["query", typeof query !== "string", "must_be_a_text"],
    ["chat", chat !== undefined && typeof chat !== "string", "must_be_the id of a chat"],
    ["prefix", typeof prefix !== "string", "must_be_a_text"],
    ["limit", !(Number.isSafeInteger(limit) && limit >= 1 && limit <= 100), "must_be_a_whole_number from 1 to 100"]
  ])
  return { query, chat, prefix, limit }
}

const longestQuery = 64

/** Words that say nothing about a subject. */
const stopWords: ReadonlySet<string> = new Set(
  "a an and are as at be been but by can did do does for from had has have he her his how i if in into is it its me my not of on or our she so that the their them then there they this to was we were what when where which who why will with would you your".split(
    " "
  )
)

/** The words of a query, each once and in lower case; those that say nothing only if there is no other. */
export const queryWords = (query: string): ReadonlyArray<string> => {
  const all = Array.from(new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])).slice(0, longestQuery)
  const said = all.filter((word) => !stopWords.has(word))
  return said.length === 0 ? all : said
}

/** The beginning of a word that its other forms share. */
export const stemOf = (word: string): string => (word.length < 5 ? word : word.replace(/(?:ies|ing|ed|es|s|y|e)$/, ""))

/** The messages that have words of the query, the best first (RANK1). The cost is proportional to the messages. */
export const rankedMessages = (
  chat: string,
  messages: ReadonlyArray<Message>,
  query: string,
  limit: number
): ReadonlyArray<FoundMessage & { readonly score: number }> => {
  const stems = queryWords(query).map(stemOf)
  const texts = messages.map((message) => searched(message))
  const length = texts.reduce((sum, text) => sum + text.length, 0) / Math.max(1, texts.length)
  const scores = new Float64Array(texts.length)
  for (const stem of stems) {
    const counts = texts.map((text) => occurrences(text, stem))
    const having = counts.reduce((sum, count) => sum + (count > 0 ? 1 : 0), 0)
    const rarity = Math.log(1 + (texts.length - having + 0.5) / (having + 0.5))
    counts.forEach((count, place) => {
      if (count === 0) return
      const size = 0.25 + (0.75 * (texts[place] ?? "").length) / Math.max(1, length)
      scores[place] = (scores[place] ?? 0) + (rarity * count * 2.2) / (count + 1.2 * size)
    })
  }
  return messages
    .map((message, place) => ({ chat, place, message, score: scores[place] ?? 0 }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score || other.place - one.place)
    .slice(0, limit)
}

/** The best of the messages of several conversations, without their scores. */
export const bestOf = (
  found: ReadonlyArray<FoundMessage & { readonly score: number }>,
  limit: number
): ReadonlyArray<FoundMessage> =>
  found
    .toSorted((one, other) => other.score - one.score)
    .slice(0, limit)
    .map(({ chat, place, message }) => ({ chat, place, message }))

/** How often a text has a word that begins with these characters. */
const occurrences = (text: string, stem: string): number => {
  let count = 0
  for (let at = text.indexOf(stem); at !== -1; at = text.indexOf(stem, at + stem.length)) {
    if (at === 0 || !isLetter(text.charCodeAt(at - 1))) count++
  }
  return count
}

const isLetter = (code: number): boolean =>
  (code >= 97 && code <= 122) ||
  (code >= 48 && code <= 57) ||
  (code > 127 && /[\p{L}\p{N}]/u.test(String.fromCharCode(code)))

/** The most memories of a scope (MEMO3). */
export const mostMemories = 1_000

/** How long the id of a forgotten memory is kept, so that a write that comes again does not add it: 30 days, in milliseconds. */
export const forgottenMs = 2_592_000_000

/** What is recalled. */
export interface RecallOptions {
  /** The words; a memory with one of them is recalled. */
  readonly query: string
  /** The most memories, 1 to 100. Default: 5. */
  readonly limit?: number | undefined
}

/** Which memories are listed. */
export interface MemoryListOptions {
  /** The most memories of the page, 1 to 1,000. Default: 50. */
  readonly limit?: number | undefined
  /** The `next` of the page before. Default: the first page. */
  readonly after?: string | undefined
}

/** A page of memories, the newest first. The last page has no `next`. */
export interface MemoryList {
  readonly memories: ReadonlyArray<Memory>
  readonly next?: string | undefined
}

const scopeFinding = (scope: string): Parameters<typeof refuse>[0][number] => [
  "scope",
  !isText(scope) || scope === "" || scope.length > 512,
  "must_be_a_text of 1 to 512 characters"
]

/** The scope. Throws a `ValidationError` (`invalid_options`) for one that no memory may have. */
export const memoryScope = (scope: string): string => {
  refuse([scopeFinding(scope)])
  return scope
}

/** The options with their defaults. Throws a `ValidationError` (`invalid_options`). */
export const recallOptions = (
  scope: string,
  { query, limit = 5 }: RecallOptions
): Required<RecallOptions> & { limit: number } => {
  refuse([
    scopeFinding(scope),
    ["query", !isText(query), "must_be_a_text"],
    ["limit", !(Number.isSafeInteger(limit) && limit >= 1 && limit <= 100), "must_be_a_whole_number from 1 to 100"]
  ])
  return { query, limit }
}

/** The options with their defaults; `after` is the number of a memory. Throws a `ValidationError` (`invalid_options`). */
export const memoryListOptions = (
  scope: string,
  { limit = 50, after }: MemoryListOptions = {}
): { readonly limit: number; readonly after: number } => {
  const isCursor = after === undefined || (isText(after) && /^\d{1,15}$/.test(after))
  refuse([
    scopeFinding(scope),
    limitFinding(limit),
    ["limit", limit > mostMemories, `must_be_at_most ${mostMemories}`],
    ["after", !isCursor, "must_be_the_next of a page before"]
  ])
  return { limit, after: after === undefined ? Number.MAX_SAFE_INTEGER : Number(after) }
}

/** A memory with its number in the store; a forgotten one has no text. */
interface Kept {
  readonly item: number
  readonly id: string
  readonly text: string | undefined
  readonly at: number
}

/** Keeps memories as long as the program runs. */
export class KeptMemories {
  readonly #scopes = new Map<string, Map<string, Kept>>()
  #items = 0

  change(scope: string, changes: ReadonlyArray<MemoryChange>, at: number): void {
    memoryScope(scope)
    const kept = this.#scopes.get(scope) ?? new Map<string, Kept>()
    this.#scopes.set(scope, kept)
    for (const change of changes) {
      const { id } = change
      const before = kept.get(id)
      if (change.type === "forget") {
        if (before?.text !== undefined) kept.set(id, { ...before, text: undefined, at })
        for (const [other, one] of kept) if (one.text === undefined && one.at < at - forgottenMs) kept.delete(other)
      } else if (before === undefined) {
        kept.set(id, { item: ++this.#items, id, text: change.text, at })
        for (const { id: oldest } of this.#of(scope).slice(mostMemories)) kept.delete(oldest)
      }
    }
  }

  recall(scope: string, options: RecallOptions): ReadonlyArray<Memory> {
    const { query, limit } = recallOptions(scope, options)
    const all = this.#of(scope)
    const texts = all.toReversed().map(({ text }) => ({ role: "user" as const, content: text }))
    return rankedMessages(scope, texts, query, limit).flatMap(({ place }) => shown(all.at(-1 - place)))
  }

  list(scope: string, options?: MemoryListOptions): MemoryList {
    const { limit, after } = memoryListOptions(scope, options)
    const found = this.#of(scope).filter(({ item }) => item < after)
    const memories = found.slice(0, limit).flatMap(shown)
    const last = found[limit - 1]
    return found.length > limit && last !== undefined ? { memories, next: String(last.item) } : { memories }
  }

  clear(): void {
    this.#scopes.clear()
  }

  /** The memories of a scope, the newest first; the map has them in the order of their numbers. */
  #of(scope: string): ReadonlyArray<Kept & { readonly text: string }> {
    return Array.from(this.#scopes.get(scope)?.values() ?? [])
      .filter((kept): kept is Kept & { readonly text: string } => kept.text !== undefined)
      .toReversed()
  }
}

const shown = (kept: (Kept & { readonly text: string }) | undefined): ReadonlyArray<Memory> =>
  kept === undefined ? [] : [{ id: kept.id, text: kept.text, at: kept.at }]
