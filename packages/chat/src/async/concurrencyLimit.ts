/**
 * The slots in which the tool calls of a Troupe run, where their number is bounded.
 *
 * Owns: the waiting batches, and the number of slots of each batch. Does not own the calls.
 *
 * SLOT1. At most as many calls run as there are slots.
 * SLOT2. A free slot goes to the batch that has waited longest since it last got a slot: between two slots for the same
 *        batch every other waiting batch gets one.
 * SLOT3. A batch that has ended, or whose process has, has no slots and waits for none.
 * SLOT4. Acquiring or releasing a slot costs the same, however many batches wait.
 * SLOT5. A call that waits for calls of another chat lends its slot to them, so that they never wait for it.
 */
import { Channel } from "@troupe/otp"

/** The slots of a Troupe. */
export class ToolSlots {
  #free: number
  readonly #tickets = new Channel.Fifo<{ line: SlotLine | undefined }>()

  constructor(count: number) {
    this.#free = count
  }

  /** The line of a batch, until it leaves. `wake` is called when the batch gets a slot that it waits for. */
  line(wake: () => void): SlotLine {
    return new SlotLine(this, wake)
  }

  /** Acquires a slot and returns `undefined`; when no slot is free, returns a ticket. */
  take(line: SlotLine): { line: SlotLine | undefined } | undefined {
    if (this.#free > 0) {
      this.#free--
      return undefined
    }
    const ticket = { line }
    this.#tickets.push(ticket)
    return ticket
  }

  /** Lends a slot that is taken, until the returned function is called (SLOT5). */
  lend(): () => void {
    this.give(1)
    return () => void this.#free--
  }

  /** Releases slots (SLOT2). */
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

/** The slots of one batch, and its place in the queue. */
export class SlotLine {
  readonly #slots: ToolSlots
  readonly #wake: () => void
  #held = 0
  /** Slots that were granted and not yet used. */
  #granted = 0
  #ticket: { line: SlotLine | undefined } | undefined

  constructor(slots: ToolSlots, wake: () => void) {
    this.#slots = slots
    this.#wake = wake
  }

  /** Acquires a slot. Returns `false` when none is free; the batch then waits, and `wake` is called. */
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

  /** Releases the slot of a call that is over. */
  release(): void {
    this.#held--
    this.#slots.give(1)
  }

  /** Leaves the queue and releases granted slots, since no call of the batch needs a slot now. */
  rest(): void {
    this.#withdraw()
    const unused = this.#granted
    this.#granted = 0
    this.#slots.give(unused)
  }

  /** Releases everything when the batch has ended (SLOT3). No method is called afterwards. */
  leave(): void {
    this.#withdraw()
    this.#slots.give(this.#held + this.#granted)
  }

  /** The batch gets a slot. */
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
