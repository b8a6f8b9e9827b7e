/**
 * The slots in which all tool calls of a Troupe run, where their number is bounded.
 *
 * Owns: who waits, and who has how many. Does not own what runs in a slot.
 *
 * SLOT1. Never more calls run than there are slots.
 * SLOT2. A slot that is free goes to the batch that waits longest since it last got one: between two slots for the same
 *        batch each other that waits gets one.
 * SLOT3. A batch whose process ended has no slots and waits for none.
 * SLOT4. Taking and giving a slot cost the same however many wait.
 */
import { type Pid, Process } from "@troupe/otp"
import { Fifo } from "./fifo.ts"

/** One batch's place in the line; `undefined` in a ticket says that it left. */
interface Ticket {
  line: SlotLine | undefined
}

/** The slots of a Troupe. */
export class ToolSlots {
  #free: number
  readonly #tickets = new Fifo<Ticket>()

  constructor(count: number) {
    this.#free = count
  }

  /** The line of a batch, which lasts as long as its process. `wake` is called when a slot that it waits for is free. */
  line(host: Pid, wake: () => void): SlotLine {
    const line = new SlotLine(this, wake)
    Process.onExit(host, () => line.leave())
    return line
  }

  /** Takes a slot; without one that is free, gives a ticket. */
  take(line: SlotLine): Ticket | undefined {
    if (this.#free > 0) {
      this.#free--
      return undefined
    }
    const ticket = { line }
    this.#tickets.push(ticket)
    return ticket
  }

  /** Gives slots back (SLOT2). */
  give(count: number): void {
    this.#free += count
    while (this.#free > 0) {
      const ticket = this.#tickets.shift()
      if (ticket === undefined) return
      if (ticket.line === undefined) continue
      this.#free--
      ticket.line.granted()
    }
  }
}

/** What one batch has, and waits for. */
export class SlotLine {
  readonly #slots: ToolSlots
  readonly #wake: () => void
  #held = 0
  /** Granted, and not taken up yet. */
  #granted = 0
  #ticket: Ticket | undefined

  constructor(slots: ToolSlots, wake: () => void) {
    this.#slots = slots
    this.#wake = wake
  }

  /** Whether a slot was taken; if none was free, the batch waits for one, and is told. */
  take(): boolean {
    if (this.#granted > 0) this.#granted--
    else {
      if (this.#ticket !== undefined) return false
      this.#ticket = this.#slots.take(this)
      if (this.#ticket !== undefined) return false
    }
    this.#held++
    return true
  }

  /** A call that had a slot is over. */
  release(): void {
    this.#held--
    this.#slots.give(1)
  }

  /** Nothing waits for its turn any more. */
  rest(): void {
    this.#withdraw()
    const unused = this.#granted
    this.#granted = 0
    this.#slots.give(unused)
  }

  /** The batch has ended (SLOT3); nothing is asked of its line after. */
  leave(): void {
    this.#withdraw()
    this.#slots.give(this.#held + this.#granted)
  }

  /** Its turn has come. */
  granted(): void {
    this.#ticket = undefined
    this.#granted++
    this.#wake()
  }

  #withdraw(): void {
    if (this.#ticket !== undefined) this.#ticket.line = undefined
    this.#ticket = undefined
  }
}
