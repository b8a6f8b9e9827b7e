/**
 * What a chat said lately: the events of the running turn, and of the last one until the next begins.
 *
 * Owns: the place of each event, and the newest events. Does not own who reads, nor what stands in for what is gone.
 *
 * EVLOG1. Places only grow. A fragment takes as many as it has characters, so that a place within merged fragments is exact;
 *       any other event takes one, a fragment without text none.
 * EVLOG2. Reading on from any place gives all that came behind it once, and nothing else; or the place is lost.
 * EVLOG3. It holds at most `maxItems` items, `maxCharacters` characters of fragments and `maxChunks` raw chunks: the oldest
 *       items go first. Fragments in a row are one item, up to `maxRun` characters.
 * LOG4. When a turn begins what came before it goes, but for what a reader has not read.
 */
import { continues, type Event, type TextDelta, textOf, type ToolCallDelta, withText } from "../events/index.ts"

export const maxItems = 4_096
export const maxCharacters = 2 ** 20
export const maxChunks = 256
export const maxRun = 2 ** 12

/** When too much is held, this part of it goes at once, so that each item is moved a bounded number of times. */
const dropped = 1 / 4

interface Item {
  readonly event: Event
  /** The text of fragments in a row; empty for any other event. */
  text: string
  /** The newest of them: who reads as fast as they come needs no other, and the text is not put together for it. */
  last: Event
  readonly start: number
  end: number
  /** How many events there were when it ended. */
  count: number
}

/** What is read on from a place. */
export interface Reading {
  readonly event: Event
  /** The place behind it. */
  readonly end: number
  /** How many events there were when it ended. */
  readonly count: number
}

export class EventLog {
  /** The place of the reader who has most to read; `Infinity` where nobody reads. */
  readonly #slowest: () => number
  #items: Array<Item> = []
  /** The newest item, while it may be added to. */
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

  /** The place behind the newest event. */
  get end(): number {
    return this.#end
  }

  /** How many events there were. */
  get count(): number {
    return this.#count
  }

  /** The place before the running turn's first event; `end` where none runs. */
  get turnStart(): number {
    return this.#turnOver ? this.#end : this.#turnStart
  }

  /** What it holds (EVLOG3). */
  get held(): { readonly items: number; readonly characters: number; readonly chunks: number } {
    return { items: this.#items.length, characters: this.#characters, chunks: this.#chunks }
  }

  /** Whether what came behind a place is not, or no longer, held. */
  hasLost(place: number): boolean {
    return place < this.#start || place > this.#end
  }

  /** What comes next behind a place that is not lost; `undefined` when it is the end. */
  readFrom(place: number): Reading | undefined {
    if (place >= this.#end) return undefined
    const item = this.#itemBehind(place)
    if (item === undefined) return undefined
    return { event: rest(item, place), end: item.end, count: item.count }
  }

  append(event: Event): void {
    if (event.type === "text_delta" || event.type === "tool_call_delta") this.#fragment(event, textOf(event))
    else this.#add(event, "", 1)
  }

  /** Whether no turn runs. */
  get isAtRest(): boolean {
    return this.#turnOver
  }

  /** Holds nothing any more of what was said. */
  forget(): void {
    this.#drop(this.#items.length)
  }

  /** Every place so far is lost. */
  clear(): void {
    this.#end += 1
    this.#turnOver = true
    this.forget()
  }

  #fragment(event: TextDelta | ToolCallDelta, text: string): void {
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
    if (event.type === "raw_chunk") this.#chunks += 1
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
      if (event.type === "raw_chunk") this.#chunks -= 1
    }
    this.#start = this.#items[0]?.start ?? this.#end
    if (this.#items.length === 0) this.#run = undefined
  }

  #itemBehind(place: number): Item | undefined {
    return this.#items[this.#indexBehind(place)]
  }

  /** The first item that ends behind a place. */
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

/** What of an item comes behind a place. */
const rest = ({ event, text, last, start, end }: Item, place: number): Event => {
  if (place === end - textOf(last).length) return last
  return withText(event, place > start ? text.slice(place - start) : text)
}
