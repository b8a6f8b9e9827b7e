/**
 * What the conversations of a store in memory wait for.
 *
 * Owns: the waits of each conversation that waits. Does not own the conversations.
 *
 * WAIT2. The waits of a conversation are those of its newest record. A wait that lasts over several records keeps its time and
 *        its escalation.
 */
import { type Conversation, waitsOf } from "../record/index.ts"
import { PrefixIndex } from "./prefixIndex.ts"
import { type Wait, waitCursor, type WaitList, type WaitOptions, waitOptions, type WaitPlace } from "./waitList.ts"

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
