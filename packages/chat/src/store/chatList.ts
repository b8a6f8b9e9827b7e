/**
 * The summaries in a list of conversations, the options of a list, and the secrets of a store in memory.
 *
 * SECRET1. A secret is a text of an owner and a key, such as the tokens of a sign-in. Only `load` with both returns it: no record, log, list
 *          or search has it.
 */
import { beginningOf, type Finding, ValidationError } from "../errors/index.ts"
import {
  buckets as allBuckets,
  type Conversation,
  isChildId,
  isFailedEnd,
  isInjected,
  isNudge
} from "../record/index.ts"
import * as Messages from "../model/Message.ts"

/** Which conversations are listed, and how many. */
export interface ListOptions {
  /**
   * The beginning of the id, case-sensitive. The cost of such a list, and of a search in it, grows with the ids that have the
   * prefix; in memory with those that have its part up to the first slash. Default: all ids.
   */
  readonly prefix?: string | undefined
  /** Text in a message of the newest record, ignoring case. Default: any text. */
  readonly search?: string | undefined
  /**
   * If true, only conversations that ran when they were last written, or have background tasks or waiting inputs. On a database
   * the cost of such a list grows with these conversations, not with all.
   */
  readonly running?: boolean | undefined
  /**
   * Only conversations of these buckets, numbers of `Store.bucketOf`. With `running`, the cost on a database grows with the
   * running conversations of all buckets.
   */
  readonly bucket?: number | ReadonlyArray<number> | undefined
  /** Whether the list has the conversations of sub-agents too. Default: only for a prefix of their ids. */
  readonly children?: boolean | undefined
  /** The conversations on a page. Default: 50. */
  readonly limit?: number | undefined
  /** The `next` of the previous page. Default: the first page. */
  readonly after?: string | undefined
}

/** Which entries of a conversation are read. */
export interface HistoryOptions {
  /** Only entries after the one with this number. Default: from the first. */
  readonly after?: number | undefined
  /** The most entries. Default: 50. */
  readonly limit?: number | undefined
}

/**
 * A conversation in a list; `title` is the beginning of the first user message, `waiting` the number of waiting inputs.
 * `running` is whether it ran when it was last written, or has a background task, whose work goes on between turns. Times are whole milliseconds.
 */
export interface ChatSummary {
  readonly id: string
  readonly title: string
  readonly seq: number
  readonly messages: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly running: boolean
  readonly waiting: number
}

/** A page of a list, last written first. A conversation that is not written meanwhile is on exactly one page. */
export interface ChatList {
  /** The conversations of the page. */
  readonly chats: ReadonlyArray<ChatSummary>
  /** The `after` of the next page; the last page has none. */
  readonly next?: string | undefined
}

/** In characters. */
const longestTitle = 80

const isSaid = (message: Messages.Message): boolean =>
  message.role === "user" && !isInjected(message) && !isNudge(message)

/** The beginning of the first user message, in one line. */
const titleOf = ({ thread }: Conversation): string => {
  const first = thread.messages.find(isSaid)
  if (first === undefined) return ""
  const line = beginningOf(Messages.text(first), 20 * longestTitle)
    .replaceAll(/\s+/g, " ")
    .trim()
  const characters = Array.from(line)
  return characters.length <= longestTitle ? line : `${characters.slice(0, longestTitle - 1).join("")}…`
}

/** The summary of the newest record of a conversation. */
export const summaryOf = (
  record: Conversation,
  written: { readonly createdAt: number; readonly updatedAt: number }
): ChatSummary => ({
  id: record.id,
  title: titleOf(record),
  seq: record.version ?? 0,
  messages: record.thread.messages.length,
  createdAt: written.createdAt,
  updatedAt: written.updatedAt,
  running: record.running || record.tasks !== undefined,
  waiting: record.inbox?.length ?? 0
})

/**
 * A text in lower case, for a search: of a message, or the searched text.
 *
 * **Details**: the error of a tool call, or of a task, has no such text, so a search cannot find it.
 */
export const searched = (content: Messages.Message | string): string =>
  (typeof content === "string" ? content : isError(content) ? "" : Messages.text(content)).toLowerCase()

const isError = (message: Messages.Message): boolean =>
  (message.role === "tool" && message.outcome === "failed") || isFailedEnd(message)

/** The default number of entries on a page. */
const usualLimit = 50

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0

export const isText = (value: unknown): boolean => typeof value === "string"

/** Throws a `ValidationError` (`invalid_options`) that names what is wrong. */
export const refuse = (wrong: ReadonlyArray<readonly [field: string, isWrong: boolean, reason: string]>): void => {
  const found: Array<Finding> = wrong.flatMap(([field, isWrong, reason]) =>
    isWrong ? [{ field: [field], reason }] : []
  )
  if (found.length > 0) throw new ValidationError("invalid_options", found)
}

export const limitFinding = (limit: unknown): readonly [string, boolean, string] => [
  "limit",
  !isCount(limit) || limit === 0,
  "must_be_a_positive_integer"
]

/**
 * The options of a list with their defaults; `read` parses the cursor `after`.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) that names each invalid option; a cursor for which `read`
 * returns `undefined` is invalid.
 */
export const listOptions = <Cursor>(
  { prefix = "", search = "", running = false, bucket, limit = usualLimit, after, ...given }: ListOptions = {},
  read: (after: string) => Cursor | undefined
): {
  readonly prefix: string
  readonly search: string
  readonly running: boolean
  readonly buckets: ReadonlyArray<number> | undefined
  readonly children: boolean
  readonly limit: number
  readonly after: Cursor | undefined
} => {
  const buckets = bucket === undefined ? undefined : listOf(bucket)
  const { children = isText(prefix) && isChildId(prefix) } = given
  const cursor = typeof after === "string" ? read(after) : undefined
  refuse([
    ["prefix", !isText(prefix), "must_be_a_text"],
    ["search", !isText(search), "must_be_a_text"],
    ["running", typeof running !== "boolean", "must_be_a_boolean"],
    ["bucket", buckets?.every(isBucket) === false, "must_be_numbers of buckets"],
    ["children", typeof children !== "boolean", "must_be_a_boolean"],
    limitFinding(limit),
    ["after", after !== undefined && cursor === undefined, "must_be_the_next of a page before"]
  ])
  return { prefix, search: searched(search), running, buckets, children, limit, after: cursor }
}

const isBucket = (value: unknown): boolean => isCount(value) && Number(value) < allBuckets

const listOf = <A>(given: A | ReadonlyArray<A>): ReadonlyArray<A> =>
  Array.isArray(given) ? (given as ReadonlyArray<A>) : [given as A]

/** The keys of a claim, each once. **Errors**: as for {@link listOptions}. */
export const claimOptions = (key: string | ReadonlyArray<string>, epoch: number): ReadonlyArray<string> => {
  const keys = listOf(key)
  refuse([
    ["key", !keys.every(isText), "must_be_a_text"],
    ["epoch", !isCount(epoch), "must_be_a_whole_number"]
  ])
  return Array.from(new Set(keys))
}

/** Refuses a blob that cannot be stored. **Errors**: as for {@link listOptions}. */
export const blobOptions = (blob: string, bytes: Uint8Array): void =>
  refuse([
    ["blob", !isText(blob) || blob === "", "must_be_a_text that is not empty: the digest of the bytes"],
    ["bytes", !(bytes instanceof Uint8Array), "must_be_a_Uint8Array"]
  ])

/** The options of a history with their defaults. **Errors**: as for {@link listOptions}. */
export const historyOptions = ({ after = 0, limit = usualLimit }: HistoryOptions = {}): Required<HistoryOptions> & {
  readonly after: number
  readonly limit: number
} => {
  refuse([["after", !isCount(after), "must_be_the_number of an entry"], limitFinding(limit)])
  return { after, limit }
}

/** The most characters of a secret. */
const longestSecret = 100_000

/** Refuses a secret that cannot be stored. Throws a `ValidationError` (`invalid_options`). */
export const secretOptions = (owner: string, key: string, text?: string): void =>
  refuse([
    ["owner", !isText(owner) || owner === "", "must_be_a_text that is not empty"],
    ["key", !isText(key), "must_be_a_text"],
    [
      "text",
      text !== undefined && (!isText(text) || text.length > longestSecret),
      `must_be_a_text of at most ${longestSecret} characters`
    ]
  ])

/** Keeps secrets as long as the program runs. */
export class KeptSecrets {
  readonly #owners = new Map<string, Map<string, string>>()

  load(owner: string, key: string): string | undefined {
    secretOptions(owner, key)
    return this.#owners.get(owner)?.get(key)
  }

  save(owner: string, key: string, text: string | undefined): void {
    secretOptions(owner, key, text)
    const kept = this.#owners.get(owner) ?? new Map<string, string>()
    if (text === undefined) kept.delete(key)
    else this.#owners.set(owner, kept.set(key, text))
  }

  delete(owner: string): void {
    secretOptions(owner, "")
    this.#owners.delete(owner)
  }

  clear(): void {
    this.#owners.clear()
  }
}
