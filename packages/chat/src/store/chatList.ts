/** The summaries in a list of conversations, and the options of a list. */
import { type Finding, ValidationError } from "../errors/index.ts"
import { buckets as allBuckets, type Conversation, isInjected, isNudge } from "../record/index.ts"
import * as Messages from "../model/Message.ts"
import type { ChatSummary, HistoryOptions, ListOptions } from "./sessionStore.ts"

/** In characters. */
const longestTitle = 80

const isSaid = (message: Messages.Message): boolean =>
  message.role === "user" && !isInjected(message) && !isNudge(message)

/** The beginning of the first user message, in one line. */
const titleOf = ({ thread }: Conversation): string => {
  const first = thread.messages.find(isSaid)
  if (first === undefined) return ""
  const line = Messages.text(first)
    .slice(0, 20 * longestTitle)
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
  running: record.running,
  waiting: record.inbox?.length ?? 0
})

/**
 * A text in lower case, for a search: of a message, or the searched text.
 *
 * **Details**: the error of a tool call has no such text, so a search cannot find it.
 */
export const searched = (said: Messages.Message | string): string =>
  (typeof said === "string" ? said : isError(said) ? "" : Messages.text(said)).toLowerCase()

const isError = (message: Messages.Message): boolean => message.role === "tool" && message.outcome === "failed"

/** The default number of entries on a page. */
const usualLimit = 50

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0

const isText = (value: unknown): boolean => typeof value === "string"

const refuse = (wrong: ReadonlyArray<readonly [field: string, isWrong: boolean, reason: string]>): void => {
  const found: Array<Finding> = wrong.flatMap(([field, isWrong, reason]) =>
    isWrong ? [{ field: [field], reason }] : []
  )
  if (found.length > 0) throw new ValidationError("invalid_options", found)
}

const limitFinding = (limit: unknown): readonly [string, boolean, string] => [
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
  { prefix = "", search = "", running = false, bucket, limit = usualLimit, after }: ListOptions = {},
  read: (after: string) => Cursor | undefined
): {
  readonly prefix: string
  readonly search: string
  readonly running: boolean
  readonly buckets: ReadonlyArray<number> | undefined
  readonly limit: number
  readonly after: Cursor | undefined
} => {
  const buckets = bucket === undefined ? undefined : listOf(bucket)
  const cursor = typeof after === "string" ? read(after) : undefined
  refuse([
    ["prefix", !isText(prefix), "must_be_a_text"],
    ["search", !isText(search), "must_be_a_text"],
    ["running", typeof running !== "boolean", "must_be_a_boolean"],
    ["bucket", buckets?.every(isBucket) === false, "must_be_numbers of buckets"],
    limitFinding(limit),
    ["after", after !== undefined && cursor === undefined, "must_be_the_next of a page before"]
  ])
  return { prefix, search: searched(search), running, buckets, limit, after: cursor }
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

/** The options of a history with their defaults. **Errors**: as for {@link listOptions}. */
export const historyOptions = ({ after = 0, limit = usualLimit }: HistoryOptions = {}): Required<HistoryOptions> & {
  readonly after: number
  readonly limit: number
} => {
  refuse([["after", !isCount(after), "must_be_the_number of an entry"], limitFinding(limit)])
  return { after, limit }
}
