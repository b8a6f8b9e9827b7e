/**
 * The search in the messages of conversations: the words of a query, and the rank of messages without an index.
 *
 * RANK1. A message is found when it has a word of the query, or one that begins with it. Messages with rarer words and with more of them come
 *        first; of equal ones, the later.
 */
import type { Message } from "../model/index.ts"
import { refuse, searched } from "./chatList.ts"

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
