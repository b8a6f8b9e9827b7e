/**
 * What waits for a chat: inputs and other turns, as a value.
 *
 * Owns: the order in which turns come. Does not own whether one may begin (`refusalOf`), nor what is stored (`InboxWriter`).
 *
 * MAIL1. Interrupts come before everything else, then what was queued; each in the order it came.
 * MAIL2. What could not steer the turn it was sent into is queued ahead of what was queued before.
 * MAIL3. What an earlier life of the chat left is held: it waits until somebody releases it. Then it is queued, however it was
 *        sent: what it was to interrupt or to steer is over, and a new interrupt comes before it.
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

/** The turns that wait, and the inputs that are held. */
export class Mailbox {
  readonly #lines: Lines
  #entries: ReadonlyArray<InboxEntry> | undefined

  private constructor(lines: Lines) {
    this.#lines = lines
  }

  static readonly empty: Mailbox = new Mailbox({ interrupts: none, steers: none, queue: none, held: none })

  /** What a record kept. */
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

  /** Whether something waits to join the running turn. */
  get steers(): boolean {
    return this.#lines.steers.size > 0
  }

  /** What waits to join the running turn. */
  get steering(): ReadonlyArray<Turn> {
    return this.#lines.steers.toArray()
  }

  /** The inputs of an earlier life (MAIL3). */
  get held(): ReadonlyArray<InboxEntry> {
    return this.#lines.held.size === 0 ? nothing : this.#lines.held.toArray()
  }

  /** The inputs that wait, as a record keeps them; retries and tool results are no inputs. */
  get entries(): ReadonlyArray<InboxEntry> {
    this.#entries ??= this.#allEntries()
    return this.#entries
  }

  /** With this turn, where its sender wants it. */
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

  /** Without the next turn. */
  withoutNext(): Mailbox {
    const { interrupts, queue } = this.#lines
    return interrupts.size > 0 ? this.#with({ interrupts: interrupts.rest() }) : this.#with({ queue: queue.rest() })
  }

  /** Without what steers. */
  withoutSteers(): Mailbox {
    return this.steers ? this.#with({ steers: none }) : this
  }

  /** With these steering, before the others. */
  steeredBy(turns: ReadonlyArray<Turn>): Mailbox {
    return this.#with({ steers: this.#lines.steers.behind(turns) })
  }

  /** The running turn is over (MAIL2). */
  turnEnded(): Mailbox {
    return this.steers ? this.#with({ queue: this.#lines.queue.behind(this.steering), steers: none }) : this
  }

  /** Without these. */
  without(turns: ReadonlySet<Turn>): Mailbox {
    const keeps = (turn: Turn): boolean => !turns.has(turn)
    const { interrupts, steers, queue } = this.#lines
    return this.#with({
      interrupts: interrupts.filter(keeps),
      steers: steers.filter(keeps),
      queue: queue.filter(keeps)
    })
  }

  /** Those of these that wait. */
  among(turns: ReadonlySet<Turn>): ReadonlyArray<Turn> {
    const { interrupts, steers, queue } = this.#lines
    return [interrupts, steers, queue].flatMap((line) => line.toArray().filter((turn) => turns.has(turn)))
  }

  /** Holds the input of this turn until somebody releases it. */
  hold(turn: Turn): Mailbox {
    return this.#with({ held: this.#lines.held.behind(entryOf(turn)) })
  }

  /** This turn carries its input from here on. */
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

/** A turn's input, if it says something for the user. */
const entryOf = ({ delivery, messages }: Turn): ReadonlyArray<InboxEntry> => {
  const [message] = messages
  if (delivery === undefined || message?.role !== "user") return nothing
  const { id, named, whenBusy } = delivery
  return [{ id, whenBusy, message, ...(named ? { named } : {}) }]
}
