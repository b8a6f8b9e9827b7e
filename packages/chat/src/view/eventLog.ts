/**
 * The latest events of a chat: those of the running turn, or of the last one until the next begins.
 *
 * Owns: the place of each event, and the newest events. Does not own the readers, nor the snapshots that replace dropped
 * events.
 *
 * EVLOG1. Places only grow. A fragment has as many as its characters, so that a place within merged fragments is exact. Any
 *         other event has one, a fragment without text none.
 * EVLOG2. Reading on from a place returns all events after it once, and nothing else, unless the place is lost.
 * EVLOG3. The log holds at most `maxItems` items, `maxCharacters` characters of fragments and `maxChunks` raw chunks; the
 *         oldest items are dropped first. Consecutive fragments are one item, up to `maxRun` characters.
 * LOG4. When a turn begins, earlier events are dropped, except those that a reader has not read.
 */
import { continues, type Event, innermost, isFragment, textOf, withText } from "../events/index.ts"

export const maxItems = 4_096
export const maxCharacters = 2 ** 20
export const maxChunks = 256
export const maxRun = 2 ** 12

/** The part of a full log that is dropped at once, so that each item is moved a bounded number of times. */
const dropped = 1 / 4

interface Item {
  readonly event: Event
  /** The merged text of consecutive fragments; empty for any other event. */
  text: string
  /** The newest of the fragments: a reader that keeps up gets it without merging the text. */
  last: Event
  readonly start: number
  end: number
  /** The number of events at its end. */
  count: number
}

/** The next event after a place. */
export interface Reading {
  readonly event: Event
  /** The place after it. */
  readonly end: number
  /** The number of events at its end. */
  readonly count: number
}

export class EventLog {
  /** The place of the slowest reader; `Infinity` without readers. */
  readonly #slowest: () => number
  #items: Array<Item> = []
  /** The newest item, while fragments may be added to it. */
  #run: Item | undefined
  #start = 0
  #end = 0
  #count = 0
  #characters = 0
  #chunks = 0
  #turnStart = 0
  #turnOver = true

  constructor(slowest: () => number = () => Number.POSITIVE_INFINITY) {
    this.#slowest = slowest
  }

  /** The place after the newest event. */
  get end(): number {
    return this.#end
  }

  /** The number of events so far. */
  get count(): number {
    return this.#count
  }

  /** The place before the running turn's first event; `end` if no turn runs. */
  get turnStart(): number {
    return this.#turnOver ? this.#end : this.#turnStart
  }

  /** The size of the log (EVLOG3). */
  get held(): { readonly items: number; readonly characters: number; readonly chunks: number } {
    return { items: this.#items.length, characters: this.#characters, chunks: this.#chunks }
  }

  /** Whether events after the place are missing from the log. */
  hasLost(place: number): boolean {
    return place < this.#start || place > this.#end
  }

  /** The next event after a place that is not lost; `undefined` at the end. */
  readFrom(place: number): Reading | undefined {
    if (place >= this.#end) return undefined
    const item = this.#itemBehind(place)
    if (item === undefined) return undefined
    return { event: rest(item, place), end: item.end, count: item.count }
  }

  /** What `pick` finds in the newest event before a place; `undefined` if it finds nothing in the log. */
  findBefore<A>(place: number, pick: (event: Event) => A | undefined): A | undefined {
    for (let at = this.#indexBehind(place) - 1; at >= 0; at--) {
      const item = this.#items[at]
      const found = item === undefined ? undefined : pick(item.event)
      if (found !== undefined) return found
    }
    return undefined
  }

  append(event: Event): void {
    if (isFragment(event)) this.#fragment(event, textOf(event))
    else this.#add(event, "", 1)
  }

  /** Whether no turn runs. */
  get isAtRest(): boolean {
    return this.#turnOver
  }

  /** Drops all events. */
  forget(): void {
    this.#drop(this.#items.length)
  }

  /** Drops all events, and makes every place so far lost. */
  clear(): void {
    this.#end += 1
    this.#turnOver = true
    this.forget()
  }

  #fragment(event: Event, text: string): void {
    if (text.length === 0) return
    const run = this.#run
    if (run === undefined || !continues(run.event, event) || run.text.length >= maxRun) {
      this.#characters += text.length
      return this.#add(event, text, text.length)
    }
    run.text += text
    run.last = event
    run.end += text.length
    run.count += 1
    this.#end = run.end
    this.#count = run.count
    this.#characters += text.length
  }

  #add(event: Event, text: string, places: number): void {
    if (this.#turnOver) this.#beginTurn()
    this.#turnOver = event.type === "chat_completed"
    const start = this.#end
    this.#end += places
    this.#count += 1
    const item = { event, text, last: event, start, end: this.#end, count: this.#count }
    this.#run = text.length > 0 ? item : undefined
    this.#items.push(item)
    if (isChunk(event)) this.#chunks += 1
    while (this.#isFull() && this.#items.length > 1) this.#drop(Math.ceil(this.#items.length * dropped))
  }

  #isFull(): boolean {
    return this.#items.length > maxItems || this.#characters > maxCharacters - maxRun || this.#chunks > maxChunks
  }

  /** LOG4 */
  #beginTurn(): void {
    this.#turnStart = this.#end
    const unread = Math.min(this.#slowest(), this.#end)
    this.#drop(unread < this.#start ? this.#items.length : this.#indexBehind(unread))
  }

  #drop(count: number): void {
    for (const { event, text } of this.#items.splice(0, count)) {
      this.#characters -= text.length
      if (isChunk(event)) this.#chunks -= 1
    }
    this.#start = this.#items[0]?.start ?? this.#end
    if (this.#items.length === 0) this.#run = undefined
  }

  #itemBehind(place: number): Item | undefined {
    return this.#items[this.#indexBehind(place)]
  }

  /** The index of the first item that ends after a place. */
  #indexBehind(place: number): number {
    let from = 0
    let to = this.#items.length
    while (from < to) {
      const middle = (from + to) >> 1
      if ((this.#items[middle]?.end ?? 0) > place) to = middle
      else from = middle + 1
    }
    return from
  }
}

const isChunk = (event: Event): boolean => innermost(event).type === "raw_chunk"

/** The part of an item after a place. */
const rest = ({ event, text, last, start, end }: Item, place: number): Event => {
  if (place === end - textOf(last).length) return last
  return withText(event, place > start ? text.slice(place - start) : text)
}
