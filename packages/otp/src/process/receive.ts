/** A selective receive with a timeout. */
import {
  type Cell,
  receiveFirst,
  type Receiver,
  type Resource,
  startTimer,
  stopReceiving,
  type Timer
} from "../kernel/index.ts"

/**
 * The wait of a process for the first matching message, or `undefined` after a timeout.
 *
 * RECV1. `taken` is called at most once, and never after `close` or after the process died.
 * RECV2. A process that is one function is handling the last message it took, until it waits for the next.
 * RECV3. If `match` throws, its wait ends with `failed`: the message remains for others, and its sender gets no error.
 * RECV4. A wait that yields to the event loop has taken no message, and can be closed.
 */
class Wait<A> implements Receiver, Resource {
  readonly #cell: Cell
  readonly #match: ((message: A) => boolean) | undefined
  readonly #taken: (message: A | undefined) => void
  readonly #failed: ((error: unknown) => void) | undefined
  #timer: Timer | undefined = undefined
  #open = true

  constructor(
    cell: Cell,
    match: ((message: A) => boolean) | undefined,
    taken: (message: A | undefined) => void,
    failed: ((error: unknown) => void) | undefined
  ) {
    this.#cell = cell
    this.#match = match
    this.#taken = taken
    this.#failed = failed
  }

  begin(ms: number): void {
    if (!this.#open) return
    const cell = this.#cell
    if (this.#isScript) cell.handling = undefined
    receiveFirst(cell, this)
    // After a match that threw, it stands among the receivers.
    if (!this.#open) return stopReceiving(cell, this)
    if (cell.dead) return
    if (ms <= 0) this.#giveUp()
    else this.#timer = startTimer(cell.kernel, cell, ms, () => this.#giveUp())
  }

  match(message: unknown): boolean {
    if (this.#match === undefined) return true
    if (!this.#open) return false
    try {
      return this.#match(message as A)
    } catch (error) {
      this.close()
      this.#failed?.(error)
      return false
    }
  }

  found(message: unknown): void {
    if (this.#isScript) this.#cell.handling = message
    if (this.#leave()) this.#taken(message as A)
  }

  close(): void {
    if (this.#leave()) stopReceiving(this.#cell, this)
  }

  #leave(): boolean {
    if (!this.#open) return false
    this.#open = false
    this.#timer?.close()
    return true
  }

  /** Whether the process receives its messages itself. */
  get #isScript(): boolean {
    return this.#cell.behaviour.handle === undefined
  }

  #giveUp(): void {
    if (!this.#open) return
    this.close()
    this.#taken(undefined)
  }
}

/**
 * Takes the first matching message, or `undefined` after the timeout; closing the result ends the wait.
 *
 * It yields to the event loop first when that is due. Otherwise a process that sends to itself, or two that reply to each other,
 * would block the thread.
 */
export const receiveWithin = <A>(
  cell: Cell,
  match: ((message: A) => boolean) | undefined,
  ms: number,
  taken: (message: A | undefined) => void,
  failed?: (error: unknown) => void
): Resource => {
  const wait = new Wait(cell, match, taken, failed)
  const { queue } = cell.kernel
  if (queue.spend()) wait.begin(ms)
  else queue.later(() => wait.begin(ms))
  return wait
}
