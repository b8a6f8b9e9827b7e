/**
 * A channel that keeps a limited number of items: back-pressure between processes.
 *
 * Owns: the writes that wait for room, and the demand that is not met yet.
 *
 * BOUND1. `put` keeps at most `bound` items: when so many are unread, it waits. Waiting writes are taken in their order. When the
 *         channel ends or its reader leaves, each waiting write resolves with `false`.
 * BOUND2. The items asked of `onDemand` and not pushed yet, and the unread items, are at most `bound` together. When a read leaves
 *         at most half of them, then `onDemand` is called with the number of the others.
 */
import { Channel, type Options as ChannelOptions, Fifo } from "./Channel.ts"

/** The bound of a channel, and the functions of its owner. */
export interface Options<A> extends Omit<ChannelOptions<A>, "onDemand"> {
  /** The number of items that are kept, a whole number of 1 or more. */
  readonly bound: number
  /**
   * Called with the number of items that the reader takes next: at the first read, and when at most half of the bound is left. It
   * pushes them now or later. When it throws, the channel fails. Default: the producer uses `put`.
   */
  readonly onDemand?: ((count: number) => void) | undefined
}

interface Write<A> {
  readonly item: A
  readonly resolve: (isTaken: boolean) => void
}

/**
 * A queue of at most `bound` items: the producer waits for the reader.
 *
 * **When to use**
 *
 * Between processes, when a producer could be faster than its consumer. A process is a consumer when it reads the channel, a producer
 * when it puts items into it, and both when it reads one channel and puts into another.
 *
 * **Gotchas**
 *
 * A channel does not belong to a process. When a process ends, end its channels in `Process.onExit`.
 *
 * @example
 * ```ts import.meta.vitest
 * import { BoundedChannel } from "@troupe/otp"
 *
 * const numbers = new BoundedChannel.BoundedChannel<number>({ bound: 2 })
 * const written: Array<number> = []
 * const produce = async () => {
 *   for (let n = 1; await numbers.put(n); n++) written.push(n)
 * }
 * const done = produce()
 * await new Promise((resolve) => setTimeout(resolve))
 * written // => [1, 2]
 * await numbers.next() // => { done: false, value: 1 }
 * await numbers.return()
 * await done
 * ```
 *
 * **Source**
 *
 * Elixir's `GenStage`.
 */
export class BoundedChannel<A extends object | string | number> extends Channel<A> {
  readonly #bound: number
  readonly #onDemand: ((count: number) => void) | undefined
  readonly #writes = new Fifo<Write<A>>()
  /** The items asked of `onDemand` that were not pushed. */
  #asked = 0

  constructor({ bound, onDemand, ...options }: Options<A>) {
    if (!Number.isInteger(bound) || bound < 1) {
      throw new RangeError(`a channel cannot keep ${bound} items: give a whole number of 1 or more`)
    }
    super(options)
    this.#bound = bound
    this.#onDemand = onDemand
  }

  /** Adds an item when there is room; resolves with whether the channel took it, which is `false` after its end. */
  put(item: A): Promise<boolean> {
    if (this.isOver) return Promise.resolve(false)
    if (this.isAwaited || (this.unread < this.#bound && this.#writes.size === 0)) {
      this.push(item)
      return Promise.resolve(true)
    }
    return new Promise((resolve) => this.#writes.push({ item, resolve }))
  }

  /** Adds an item without waiting for room: for the items that `onDemand` was asked for. */
  override push(item: A): void {
    if (this.#asked > 0) this.#asked--
    super.push(item)
  }

  /** Reads an item, and makes room for the next write or demand. */
  override next(): Promise<IteratorResult<A, undefined>> {
    const read = super.next()
    this.#refill()
    return read
  }

  /** Ends the channel after its kept items; waiting writes are refused. */
  override end(): void {
    super.end()
    this.#refuse()
  }

  /** Ends the channel with an error; waiting writes are refused. */
  override fail(error: unknown): void {
    super.fail(error)
    this.#refuse()
  }

  #refill(): void {
    while (this.unread < this.#bound) {
      const write = this.#writes.shift()
      if (write === undefined) break
      this.push(write.item)
      write.resolve(true)
    }
    const coming = this.#asked + this.unread
    if (this.#onDemand === undefined || this.isOver || coming * 2 > this.#bound) return
    this.#asked += this.#bound - coming
    try {
      this.#onDemand(this.#bound - coming)
    } catch (error) {
      this.fail(error)
    }
  }

  #refuse(): void {
    for (let write = this.#writes.shift(); write !== undefined; write = this.#writes.shift()) write.resolve(false)
  }
}
