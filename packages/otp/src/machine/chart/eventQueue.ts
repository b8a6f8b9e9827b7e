/**
 * The order of the events of one machine, by the rules of `gen_statem`.
 *
 * Owns: while an event is handled, the events that come before the next one from outside. They are gone when it ends:
 * postponed events are in the context of the machine, and timeouts in its timers.
 *
 * EVQ1. After a change of state, all postponed events are taken again, the oldest first. An inserted event comes before them, and
 *       before everything else that waits.
 * EVQ2. A change of state cancels the state timeout, unless the same event set it. Each event cancels the event timeout.
 * EVQ3. A timeout that is set again replaces the first. One of no time comes after the events that wait here, before those from
 *       outside. A delay that is no time is an error of the machine.
 */
import type { EventObject } from "xstate"

/** The ids of the timeouts that end with a state, and with an event. */
export const stateTimeoutId = "stateTimeout"
export const eventTimeoutId = "eventTimeout"

/** The key of the context that has the postponed events. */
const key = "postponed"

type Context = Readonly<Record<string, unknown>>

const postponedIn = (context: Context): ReadonlyArray<EventObject> =>
  (context[key] as ReadonlyArray<EventObject> | undefined) ?? []

/** The change of a context that postpones an event. */
export const postponing = (context: Context, event: EventObject): Context => ({
  [key]: [...postponedIn(context), event]
})

/** A machine, as its queue uses it. */
export interface QueuedMachine {
  /** Whether it still takes events. */
  readonly isActive: () => boolean
  /** The active state; an equal value for an equal state. */
  readonly state: () => unknown
  readonly context: () => Context
  readonly replaceContext: (context: Context) => void
  /** Takes an event, and the eventless transitions and raised events after it. */
  readonly take: (event: EventObject) => void
  readonly cancel: (id: string) => void
}

export class EventQueue {
  readonly #machine: QueuedMachine
  /** The events to take next. */
  #front: Array<EventObject> = []
  /** Timeouts of no time, by their ids. */
  #due = new Map<string, EventObject>()
  /** What the present event inserted, and the timeouts that it set. */
  #inserted: Array<EventObject> = []
  #set = new Set<string>()

  constructor(machine: QueuedMachine) {
    this.#machine = machine
  }

  /** Takes an event, and all that it makes due before the next one from outside. */
  take(event: EventObject): void {
    this.#handle(event)
    this.#drain()
  }

  /** Enters the initial state by this step, and takes what that makes due. */
  begin(step: () => void): void {
    this.#step(step)
    this.#drain()
  }

  insert(event: EventObject): void {
    this.#inserted.push(event)
  }

  /** Discards a timeout of no time. */
  clear(id: string): void {
    this.#due.delete(id)
  }

  /** Prepares a timeout: returns whether it has time, so that a timer is needed. One without end only replaces. */
  setTimeout(id: string, event: EventObject, ms: unknown): ms is number {
    if (typeof ms !== "number" || !(ms >= 0)) {
      const shown = typeof ms === "string" ? `"${ms}"` : String(ms)
      throw new RangeError(
        `the delay of the timeout "${id}" is ${shown}: make it a number of milliseconds, 0 or more, or Infinity to end it only`
      )
    }
    this.clear(id)
    this.#set.add(id)
    if (ms <= 0) this.#due.set(id, event)
    return ms > 0 && ms < Infinity
  }

  #drain(): void {
    while (this.#machine.isActive()) {
      const next = this.#next()
      if (next === undefined) return
      this.#handle(next)
    }
  }

  #handle(event: EventObject): void {
    this.#cancel(eventTimeoutId)
    this.#step(() => this.#machine.take(event))
  }

  #step(step: () => void): void {
    const machine = this.#machine
    const before = machine.state()
    step()
    const inserted = this.#inserted
    const isChanged = before !== machine.state()
    if (isChanged && !this.#set.has(stateTimeoutId)) this.#cancel(stateTimeoutId)
    const returned = isChanged ? this.#returned() : []
    if (inserted.length + returned.length > 0) this.#front = [...inserted, ...returned, ...this.#front]
    this.#inserted = []
    this.#set.clear()
  }

  #next(): EventObject | undefined {
    const next = this.#front.shift()
    if (next !== undefined) return next
    for (const [id, event] of this.#due) {
      this.#due.delete(id)
      return event
    }
    return undefined
  }

  #cancel(id: string): void {
    this.clear(id)
    this.#machine.cancel(id)
  }

  #returned(): ReadonlyArray<EventObject> {
    const { [key]: _, ...context } = this.#machine.context()
    const events = postponedIn(this.#machine.context())
    if (events.length > 0) this.#machine.replaceContext(context)
    return events
  }
}
