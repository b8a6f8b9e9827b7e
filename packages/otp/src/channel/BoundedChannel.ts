/**
 * A channel that keeps a limited number of items: back-pressure between processes.
 *
 * Owns: the writes that wait for room, and the demand that is not met yet.
 *
 * BOUND1. `put` keeps at most `bound` items: when so many are unread, it waits. Waiting writes are taken in their order. When the
 *         channel ends or its reader leaves, each waiting write resolves with `false`.
 * BOUND2. The items asked of `onDemand` and not pushed yet, and the unread items, are at most `bound` together. When a read leaves
 *         at most half of them, then `onDemand` is called with the number of the others.
 * BOUND3. A reader that leaves ends only its own reads: the items go to the readers that are left. When the last one leaves, the
 *         channel closes.
 */
import { Channel, type Options as ChannelOptions, Fifo, Reader } from "./Channel.ts"

/** The bound of a channel, and the functions of its owner. */
export interface Options<A> extends Omit<ChannelOptions<A>, "onDemand"> {
  /** The number of items that are kept, a whole number of 1 or more. */
  readonly bound: number
  /**
   * Called with the number of items that the reader takes next: at the first read, and when at most half of the bound is left. It
   * pushes them now or later. When it throws or rejects, the channel fails. Default: the producer uses `put`.
   */
  readonly onDemand?: ((count: number) => unknown) | undefined
}

interface Write<A> {
  readonly item: A
  readonly resolve: (isTaken: boolean) => void
}

const ended: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** One of several readers of a channel. */
class SharedReader<A> extends Reader<A> {
  readonly #read: () => Promise<IteratorResult<A, undefined>>
  readonly #leave: () => Promise<unknown>
  #left: Promise<unknown> | undefined

  constructor(
    read: (owner: object) => Promise<IteratorResult<A, undefined>>,
    leave: (owner: object) => Promise<unknown>
  ) {
    super()
    this.#read = () => read(this)
    this.#leave = () => leave(this)
  }

  override next(): Promise<IteratorResult<A, undefined>> {
    return this.#left === undefined ? this.#read() : Promise.resolve(ended)
  }

  override async return(): Promise<IteratorResult<A, undefined>> {
    this.#left ??= this.#leave()
    await this.#left
    return ended
  }
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
 * A channel does not belong to a process. When a process ends, `Process.onExit` ends the channel that it writes, and leaves the one
 * that it reads with `return` of its reader.
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
  readonly #onDemand: ((count: number) => unknown) | undefined
  readonly #writes = new Fifo<Write<A>>()
  /** The items asked of `onDemand` that were not pushed. */
  #asked = 0
  /** The readers that have not left. */
  #readers = 0

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

  /**
   * Makes one of several readers; `for await` makes one too. Leaving it ends its own reads only, and closes the channel when no
   * other reader is left.
   */
  override [Symbol.asyncIterator](): Reader<A> {
    this.#readers++
    return new SharedReader(
      (reader) => this.#readFor(reader),
      async (reader) => {
        this.withdraw(reader)
        if (--this.#readers === 0) await this.return()
      }
    )
  }

  /** Reads an item, and makes room for the next write or demand. */
  override next(): Promise<IteratorResult<A, undefined>> {
    return this.#readFor(undefined)
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

  #readFor(reader: object | undefined): Promise<IteratorResult<A, undefined>> {
    this.reader = reader
    const read = super.next()
    this.reader = undefined
    this.#refill()
    return read
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
      const made = this.#onDemand(this.#bound - coming)
      if (made !== undefined) Promise.resolve(made).catch((error: unknown) => this.fail(error))
    } catch (error) {
      this.fail(error)
    }
  }

  #refuse(): void {
    for (let write = this.#writes.shift(); write !== undefined; write = this.#writes.shift()) write.resolve(false)
  }
}
