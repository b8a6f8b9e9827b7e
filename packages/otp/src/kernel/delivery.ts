/**
 * The delivery of a message to a process, and calls of a process after a time.
 *
 * DELIV1. A message to a dead process is discarded and counted as a dead letter.
 * DELIV2. A message goes to the first matching receiver, else to the end of the mailbox.
 * TIMER1. A timer runs at most once, and never after `close`.
 * TIMER2. While a timer waits, and only then, its kernel counts it and its process owns it.
 */
import type { Cell, Resource, Kernel } from "./cell.ts"
import type { Receiver } from "./mailbox.ts"
import { Mailbox } from "./mailbox.ts"

/** Queues a process that has messages and can handle them. */
export const wake = (cell: Cell): void => {
  if (cell.dead || cell.busy) return
  if (!cell.begun || (cell.behaviour.handle !== undefined && cell.mailbox !== undefined && cell.mailbox.size > 0)) {
    cell.kernel.queue.add(cell)
  }
}

const offer = (cell: Cell, receivers: Array<Receiver>, message: unknown): boolean => {
  const receiver = receivers.find((waiting) => waiting.match(message))
  if (receiver === undefined) return false
  // A receiver whose match throws removes itself meanwhile, so the array may be a new one.
  const left = cell.receivers
  if (left === undefined || left.length === 1) cell.receivers = undefined
  else left.splice(left.indexOf(receiver), 1)
  receiver.found(message)
  return true
}

/** Puts a message into a process. */
export const deliver = (cell: Cell, message: unknown): void => {
  const { kernel } = cell
  if (cell.dead) return kernel.undelivered("dead", cell, message)
  if (cell.receivers === undefined || !offer(cell, cell.receivers, message)) {
    cell.mailbox ??= new Mailbox()
    cell.mailbox.push(message)
    wake(cell)
  }
  if (kernel.observer !== undefined) kernel.observer.delivered(cell, message)
}

/** Takes the first matching message, now or when it arrives. */
export const receiveFirst = (cell: Cell, receiver: Receiver): void => {
  if (cell.dead || cell.mailbox?.take(receiver) === true) return
  // A list that begins empty would get more places with its first receiver.
  if (cell.receivers === undefined) cell.receivers = [receiver]
  else cell.receivers.push(receiver)
}

/** Ends the wait of a receiver. */
export const stopReceiving = (cell: Cell, receiver: Receiver): void => {
  const left = cell.receivers?.filter((other) => other !== receiver)
  cell.receivers = left === undefined || left.length === 0 ? undefined : left
}

/** Runs at most once, and never after `close`. While it waits, and only then, its kernel counts it and its process owns it. */
export class Timer implements Resource {
  readonly kernel: Kernel
  readonly #owner: Cell | undefined
  readonly #run: (() => void) | undefined
  readonly #id: unknown
  waiting = true

  constructor(kernel: Kernel, owner: Cell | undefined, ms: number, run?: () => void) {
    this.kernel = kernel
    this.#owner = owner
    this.#run = run
    this.#id = kernel.clock.setTimeout(() => this.#fire(), ms)
    kernel.timers++
    owner?.own(this)
  }

  /** Called when the time is up. */
  protected elapsed(): void {
    this.#run?.()
  }

  close(): void {
    if (!this.#leave()) return
    this.kernel.clock.clearTimeout(this.#id)
  }

  #leave(): boolean {
    if (!this.waiting) return false
    this.waiting = false
    this.kernel.timers--
    this.#owner?.disown(this)
    return true
  }

  #fire(): void {
    if (!this.#leave()) return
    try {
      this.elapsed()
    } catch (error) {
      this.kernel.report(this.#owner ?? this.kernel.root, error)
    }
  }
}

/** Starts a timer; an infinite one never fires and is not stored. */
export const startTimer = (kernel: Kernel, owner: Cell | undefined, ms: number, run: () => void): Timer | undefined =>
  ms === Number.POSITIVE_INFINITY ? undefined : new Timer(kernel, owner, ms, run)
