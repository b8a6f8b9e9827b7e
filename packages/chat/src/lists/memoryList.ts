/**
 * The memories of a store: their lists, the options of these, and a store in memory.
 *
 * MEMO3. A scope has at most 1,000 memories, each of at most 2,000 characters: a further one takes the place of the oldest.
 */
import type { Memory, MemoryChange } from "../memory/index.ts"
import { isText, limitFinding, refuse } from "./chatList.ts"
import { rankedMessages } from "./messageSearch.ts"

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
