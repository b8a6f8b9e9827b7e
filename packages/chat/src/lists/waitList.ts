/** The list of what conversations wait for: its items, and its options. */
import { type RecordWait, type WaitKind, waitKinds } from "../record/index.ts"
import { isText, limitFinding, refuse } from "./chatList.ts"

/**
 * One thing that a stored conversation waits for.
 *
 * - `chat`: the id of the conversation
 * - `kind`: `question`, `approval`, `unknown_outcome` or `tool_result`
 * - `toolCallId`, `tool`: the call, and the name of its tool
 * - `text`: the question, or the arguments of the call as JSON; at most 2,000 characters, and the number of those left out
 * - `options`: those of a question, in plain JSON; absent if there are none, or if they have more than 2,000 characters
 * - `reason`: why the call needs a decision
 * - `agent`: the agent of the conversation, if its record names one
 * - `escalatedAt`: when the wait was escalated; absent if it was not
 *
 * **Units and defaults**: times are whole milliseconds. `askedAt` is when the call was suspended, or when the entry with the
 * question or the call was stored. Without `expiresAt` the wait has no limit.
 */
export interface Wait extends RecordWait {
  readonly chat: string
  readonly askedAt: number
  readonly escalatedAt?: number | undefined
}

/** The options of a list of waits. */
export interface WaitOptions {
  /**
   * The beginning of the conversation's id, case-sensitive. If it ends with the first slash of the id, the cost on a database
   * depends on the page only; otherwise it grows with what waits. Default: all ids.
   */
  readonly owner?: string | undefined
  /** Only waits of this kind. Default: all kinds. */
  readonly kind?: WaitKind | undefined
  /** Only those of conversations with an agent of this name. Default: any. */
  readonly agent?: string | undefined
  /** The waits on a page, at most 1,000. Default: 50. */
  readonly limit?: number | undefined
  /** The `next` of the previous page. Default: the first page. */
  readonly after?: string | undefined
}

/**
 * A page of waits, the oldest first; expired ones are left out. The last page has no `next`. A wait that lasts meanwhile is on
 * exactly one page.
 */
export interface WaitList {
  readonly waits: ReadonlyArray<Wait>
  readonly next?: string | undefined
}

/** The most waits on a page. */
const mostWaits = 1_000

/** A place in the list: the time of a wait, and its number among those of the store. */
export interface WaitPlace {
  readonly askedAt: number
  readonly item: number
}

const placeIn = (after: string): WaitPlace | undefined => {
  const [, askedAt, item] = /^(-?\d{1,15})\.(\d{1,15})$/.exec(after) ?? []
  return askedAt === undefined ? undefined : { askedAt: Number(askedAt), item: Number(item) }
}

/** The cursor of the page after the wait in this place. */
export const waitCursor = ({ askedAt, item }: WaitPlace): string => `${askedAt}.${item}`

/**
 * The options of a list of waits with their defaults.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) that names each invalid option.
 */
export const waitOptions = ({ owner = "", kind, agent, limit = 50, after }: WaitOptions = {}): {
  readonly owner: string
  readonly kind: WaitKind | undefined
  readonly agent: string | undefined
  readonly limit: number
  readonly after: WaitPlace | undefined
} => {
  const place = typeof after === "string" ? placeIn(after) : undefined
  refuse([
    ["owner", !isText(owner), "must_be_a_text"],
    ["kind", kind !== undefined && !waitKinds.includes(kind), `must_be_one_of ${waitKinds.join(", ")}`],
    ["agent", agent !== undefined && !isText(agent), "must_be_a_text"],
    limitFinding(limit),
    ["limit", limit > mostWaits, `must_be_at_most ${mostWaits}`],
    ["after", after !== undefined && place === undefined, "must_be_the_next of a page before"]
  ])
  return { owner, kind, agent, limit, after: place }
}
