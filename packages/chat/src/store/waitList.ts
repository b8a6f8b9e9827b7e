/**
 * The list of what conversations wait for: its items, its options, and that of a store in memory; an index of conversations by id.
 *
 * Owns: in memory, the waits of each conversation that waits. Does not own the conversations.
 *
 * WAIT2. The waits of a conversation are those of its newest record. A wait that lasts over several records keeps its time and
 *        its escalation.
 * BYID1. A search for a prefix with a slash visits only entries with the same part up to the first slash, whatever the size
 *        of the index.
 */
import { type RecordWait, type WaitKind, waitKinds, type Conversation, waitsOf } from "../record/index.ts"
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

/** Conversations by their ids, and by the part up to the first slash, which on a server is the owner's name. */
export class PrefixIndex<Log> {
  readonly #byId = new Map<string, Log>()
  readonly #byPart = new Map<string, Map<string, Log>>()

  get(id: string): Log | undefined {
    return this.#byId.get(id)
  }

  has(id: string): boolean {
    return this.#byId.has(id)
  }

  set(id: string, log: Log): void {
    this.#byId.set(id, log)
    const part = firstPart(id)
    const logs = this.#byPart.get(part)
    if (logs === undefined) this.#byPart.set(part, new Map([[id, log]]))
    else logs.set(id, log)
  }

  delete(id: string): void {
    this.#byId.delete(id)
    const part = firstPart(id)
    const logs = this.#byPart.get(part)
    logs?.delete(id)
    if (logs?.size === 0) this.#byPart.delete(part)
  }

  clear(): void {
    this.#byId.clear()
    this.#byPart.clear()
  }

  /** The entries whose ids begin with the prefix (BYID1). */
  *of(prefix: string): Generator<readonly [id: string, log: Log], void> {
    const part = firstPart(prefix)
    const logs = part === "" ? this.#byId : (this.#byPart.get(part) ?? new Map<string, Log>())
    for (const entry of logs) if (entry[0].startsWith(prefix)) yield entry
  }
}

const firstPart = (id: string): string => id.slice(0, id.indexOf("/") + 1)

/** A wait, and its number among those of the store. */
interface Row {
  readonly item: number
  readonly wait: Wait
}

export class MemoryWaits {
  readonly #rows = new PrefixIndex<ReadonlyArray<Row>>()
  #items = 0

  /** Notes what the newest record of a conversation waits for. */
  note(record: Conversation, now: number): void {
    const { id } = record
    const waits = waitsOf(record)
    const before = this.#rows.get(id)
    if (waits.length === 0) return before === undefined ? undefined : this.#rows.delete(id)
    this.#rows.set(
      id,
      waits.map(({ expiresAt, ...wait }): Row => {
        const earlier = before?.find((row) => row.wait.toolCallId === wait.toolCallId)
        const { escalatedAt, askedAt = Math.floor(wait.askedAt ?? now) } = earlier?.wait ?? {}
        const times = {
          askedAt,
          ...(expiresAt !== undefined && { expiresAt: Math.floor(expiresAt) }),
          ...(escalatedAt !== undefined && { escalatedAt })
        }
        return { item: earlier?.item ?? ++this.#items, wait: { chat: id, ...wait, ...times } }
      })
    )
  }

  forget(id: string): void {
    this.#rows.delete(id)
  }

  clear(): void {
    this.#rows.clear()
  }

  page(options: WaitOptions | undefined, now: number): WaitList {
    const { owner, kind, agent, limit, after } = waitOptions(options)
    const found = this.#of(owner)
      .filter(({ item, wait }) => after === undefined || compare(placeOf({ item, wait }), after) > 0)
      .filter(({ wait }) => (wait.expiresAt ?? Infinity) > now)
      .filter(({ wait }) => kind === undefined || wait.kind === kind)
      .filter(({ wait }) => agent === undefined || wait.agent?.name === agent)
      .toSorted((one, other) => compare(placeOf(one), placeOf(other)))
    const waits = found.slice(0, limit).map(({ wait }) => wait)
    const last = found[limit - 1]
    return found.length > limit && last !== undefined ? { waits, next: waitCursor(placeOf(last)) } : { waits }
  }

  /** Marks the oldest waits that are not escalated, and returns them. */
  escalate(askedUntil: number, limit: number, now: number): ReadonlyArray<Wait> {
    const due = this.#of("")
      .filter(({ wait }) => wait.escalatedAt === undefined && wait.askedAt <= askedUntil)
      .filter(({ wait }) => (wait.expiresAt ?? Infinity) > now)
      .toSorted((one, other) => compare(placeOf(one), placeOf(other)))
      .slice(0, limit)
    return due.map(({ item, wait }) => {
      const escalated = { ...wait, escalatedAt: now }
      const rows = this.#rows.get(wait.chat) ?? []
      this.#rows.set(
        wait.chat,
        rows.map((row) => (row.item === item ? { item, wait: escalated } : row))
      )
      return escalated
    })
  }

  #of(owner: string): ReadonlyArray<Row> {
    return Array.from(this.#rows.of(owner)).flatMap(([, rows]) => rows)
  }
}

const placeOf = ({ item, wait: { askedAt } }: Row): WaitPlace => ({ askedAt, item })

const compare = (one: WaitPlace, other: WaitPlace): number => one.askedAt - other.askedAt || one.item - other.item
