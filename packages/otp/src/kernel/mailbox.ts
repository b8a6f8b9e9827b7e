/**
 * The messages that wait for one process.
 *
 * They are stored in linked pages: a growing mailbox moves no message, and frees the pages that were read.
 *
 * MBOX1. First in, first out: `shift` and `take` see messages in the order they were pushed.
 * MBOX2. `take` removes the first match and leaves the others in their order.
 * MBOX3. Only the first page may be empty; its messages before `#head` have been read.
 * MBOX4. A cast is stored without its `CastMessage`, to save memory while it waits; reading it wraps it again.
 */
import { CastMessage } from "../core/index.ts"

/** A receive that waits for a message. */
export interface Receiver {
  match(message: unknown): boolean
  found(message: unknown): void
}

/** New pages are copies of these, so that they have their full size at once: one place per bit of a number. */
const blank: ReadonlyArray<unknown> = Array.from({ length: 32 })
/** The first page is small, because most processes have one message at a time. */
const firstBlank = blank.slice(0, 8)

class Page {
  readonly messages: Array<unknown>
  /** One bit for each place: whether its message is a cast. */
  casts = 0
  /** The number of used places. */
  end = 0
  next: Page | undefined = undefined

  constructor(from: ReadonlyArray<unknown>) {
    this.messages = from.slice()
  }

  at(index: number): unknown {
    const message = this.messages[index]
    return (this.casts >>> index) & 1 ? new CastMessage(message) : message
  }

  /** Removes the message at a place and moves the later ones up. */
  remove(index: number): void {
    const below = (1 << index) - 1
    this.casts = (this.casts & below) | ((this.casts >>> 1) & ~below)
    this.messages.copyWithin(index, index + 1, this.end)
    this.end--
    this.messages[this.end] = undefined
  }
}

export class Mailbox {
  #first = new Page(firstBlank)
  #last = this.#first
  #head = 0
  size = 0

  push(message: unknown): void {
    let page = this.#last
    if (page.end === page.messages.length) {
      page.next = new Page(blank)
      page = page.next
      this.#last = page
    }
    if (message instanceof CastMessage) {
      page.messages[page.end] = message.message
      page.casts |= 1 << page.end
    } else page.messages[page.end] = message
    page.end++
    this.size++
  }

  shift(): unknown {
    if (this.size === 0) return undefined
    const page = this.#first
    const message = page.casts === 0 ? page.messages[this.#head] : page.at(this.#head)
    page.messages[this.#head] = undefined
    this.#head++
    this.size--
    if (this.#head < page.end) return message
    this.#head = 0
    if (page.next === undefined) {
      // The only page is reused.
      page.end = 0
      page.casts = 0
    } else {
      this.#first = page.next
      // A reference from an old page would keep the younger page from being collected soon.
      page.next = undefined
    }
    return message
  }

  /** The first messages, without removing them. */
  first(count: number): ReadonlyArray<unknown> {
    const messages: Array<unknown> = []
    let from = this.#head
    for (let page: Page | undefined = this.#first; page !== undefined && messages.length < count; page = page.next) {
      const until = Math.min(page.end, from + count - messages.length)
      for (let index = from; index < until; index++) messages.push(page.at(index))
      from = 0
    }
    return messages
  }

  /** Removes the first message that matches and passes it to `found`; returns whether there was one. */
  take(receiver: Receiver): boolean {
    let from = this.#head
    let before: Page | undefined = undefined
    for (let page: Page | undefined = this.#first; page !== undefined; page = page.next) {
      for (let index = from; index < page.end; index++) {
        const message = page.at(index)
        if (!receiver.match(message)) continue
        if (page === this.#first && index === this.#head) this.shift()
        else this.#remove(page, index, before)
        receiver.found(message)
        return true
      }
      from = 0
      before = page
    }
    return false
  }

  /** Removes one place of a page, and the page if it is then empty. */
  #remove(page: Page, index: number, before: Page | undefined): void {
    page.remove(index)
    this.size--
    if (page.end > 0 || before === undefined) return
    before.next = page.next
    if (page === this.#last) this.#last = before
  }

  /** Removes every message that matches; returns whether there was one. */
  drop(match: (message: unknown) => boolean): boolean {
    const all = this.first(this.size)
    const kept = all.filter((message) => !match(message))
    if (kept.length === all.length) return false
    this.#first = new Page(firstBlank)
    this.#last = this.#first
    this.#head = 0
    this.size = 0
    for (const message of kept) this.push(message)
    return true
  }
}

/** A function to run in a turn of a process, put into its mailbox like a message. */
export class MailboxTask {
  readonly run: () => void
  constructor(run: () => void) {
    this.run = run
  }
}
