/**
 * The waiting turns of a chat (inputs and others), as an immutable value.
 *
 * Owns: the order of the turns. Does not own whether a turn may begin (`refusalOf`), nor the storage (`InboxWriter`).
 *
 * MAIL1. Interrupts run first, then queued turns; each in order of arrival.
 * MAIL2. An input that could not steer its running turn is queued ahead of all queued turns.
 * MAIL3. Inputs that were accepted before the last restart of the chat are held until they are released. Then they are
 *        queued, whatever their `whenBusy`: the turn to interrupt or to steer is over, and a new interrupt comes first.
 */
import type { InboxEntry } from "../record/index.ts"
import { PersistentQueue } from "../async/index.ts"
import type { Turn } from "./delivery.ts"

const none: PersistentQueue<never> = PersistentQueue.of<never>([])

interface Lines {
  readonly interrupts: PersistentQueue<Turn>
  readonly steers: PersistentQueue<Turn>
  readonly queue: PersistentQueue<Turn>
  readonly held: PersistentQueue<InboxEntry>
}

/** The waiting turns and the held inputs. */
export class Mailbox {
  readonly #lines: Lines
  #entries: ReadonlyArray<InboxEntry> | undefined

  private constructor(lines: Lines) {
    this.#lines = lines
  }

  static readonly empty: Mailbox = new Mailbox({ interrupts: none, steers: none, queue: none, held: none })

  /** A mailbox that holds the inputs of a record. */
  static holding(entries: ReadonlyArray<InboxEntry> | undefined): Mailbox {
    return entries === undefined || entries.length === 0
      ? Mailbox.empty
      : Mailbox.empty.#with({ held: PersistentQueue.of(entries) })
  }

  /** The next turn to run. */
  get next(): Turn | undefined {
    return this.#lines.interrupts.first ?? this.#lines.queue.first
  }

  /** Whether an interrupt waits. */
  get interrupts(): boolean {
    return this.#lines.interrupts.size > 0
  }

  /** Whether a turn waits to join the running turn. */
  get steers(): boolean {
    return this.#lines.steers.size > 0
  }

  /** The turns that wait to join the running turn. */
  get steering(): ReadonlyArray<Turn> {
    return this.#lines.steers.toArray()
  }

  /** The inputs from before the last restart (MAIL3). */
  get held(): ReadonlyArray<InboxEntry> {
    return this.#lines.held.size === 0 ? nothing : this.#lines.held.toArray()
  }

  /** The waiting inputs in their stored form; retries and tool results are not inputs. */
  get entries(): ReadonlyArray<InboxEntry> {
    this.#entries ??= this.#allEntries()
    return this.#entries
  }

  /** Adds a turn at the place of its `whenBusy`. */
  add(turn: Turn): Mailbox {
    const { interrupts, steers, queue } = this.#lines
    switch (turn.delivery?.whenBusy) {
      case "interrupt":
        return this.release(turn).#with({ interrupts: interrupts.push(turn) })
      case "steer":
        return this.release(turn).#with({ steers: steers.push(turn) })
      default:
        return this.release(turn).#with({ queue: queue.push(turn) })
    }
  }

  /** Removes the next turn. */
  withoutNext(): Mailbox {
    const { interrupts, queue } = this.#lines
    return interrupts.size > 0 ? this.#with({ interrupts: interrupts.rest() }) : this.#with({ queue: queue.rest() })
  }

  /** Removes the steering turns. */
  withoutSteers(): Mailbox {
    return this.steers ? this.#with({ steers: none }) : this
  }

  /** Adds steering turns before the others. */
  steeredBy(turns: ReadonlyArray<Turn>): Mailbox {
    return this.#with({ steers: this.#lines.steers.behind(turns) })
  }

  /** Queues the steering turns, since the running turn is over (MAIL2). */
  turnEnded(): Mailbox {
    return this.steers ? this.#with({ queue: this.#lines.queue.behind(this.steering), steers: none }) : this
  }

  /** Removes these turns. */
  without(turns: ReadonlySet<Turn>): Mailbox {
    const keeps = (turn: Turn): boolean => !turns.has(turn)
    const { interrupts, steers, queue } = this.#lines
    return this.#with({
      interrupts: interrupts.filter(keeps),
      steers: steers.filter(keeps),
      queue: queue.filter(keeps)
    })
  }

  /** The turns of this set that wait. */
  among(turns: ReadonlySet<Turn>): ReadonlyArray<Turn> {
    const { interrupts, steers, queue } = this.#lines
    return [interrupts, steers, queue].flatMap((line) => line.toArray().filter((turn) => turns.has(turn)))
  }

  /** Holds the input of this turn until `release`. */
  hold(turn: Turn): Mailbox {
    return this.#with({ held: this.#lines.held.behind(entryOf(turn)) })
  }

  /** Removes the held input of this turn: the turn has it from now on. */
  release({ delivery }: Turn): Mailbox {
    const { held } = this.#lines
    if (held.size === 0 || delivery === undefined) return this
    return this.#with({
      held: held.first?.id === delivery.id ? held.rest() : held.filter(({ id }) => id !== delivery.id)
    })
  }

  #allEntries(): ReadonlyArray<InboxEntry> {
    const { interrupts, steers, queue, held } = this.#lines
    if (held.size + interrupts.size + steers.size + queue.size === 0) return nothing
    return [...held.toArray(), ...[interrupts, steers, queue].flatMap((line) => line.toArray().flatMap(entryOf))]
  }

  #with(lines: Partial<Lines>): Mailbox {
    return new Mailbox({ ...this.#lines, ...lines })
  }
}

const nothing: ReadonlyArray<InboxEntry> = []

/** The input of a turn, if it has a user message. */
const entryOf = ({ delivery, messages }: Turn): ReadonlyArray<InboxEntry> => {
  const [message] = messages
  if (delivery === undefined || message?.role !== "user") return nothing
  const { id, named, whenBusy } = delivery
  return [{ id, whenBusy, message, ...(named ? { named } : {}) }]
}
