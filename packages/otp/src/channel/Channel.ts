/**
 * A queue between one producer and its readers.
 *
 * Owns: the unread items, the reads that wait, and the end. Does not own the producer, which it calls only for a demand
 * and when its reader leaves.
 *
 * CHAN1. Items are read in the order of `push`, each exactly once. When a read waits, then `push` resolves the oldest one,
 *        and keeps nothing. Otherwise `push` keeps the item.
 * CHAN3. When a kept item is pushed after another unread one, then `join` may replace both with one item. An item that
 *        was read is never replaced.
 * CHAN4. A read of a kept item returns a resolved promise. When a read finds no kept item, then `onDemand` is called once,
 *        and `isAwaited` is true. An item that `onDemand` pushes at once is returned as a resolved promise; else the read
 *        waits. When `onDemand` throws, then the channel fails. One waiting read takes two fields; only further reads are
 *        queued.
 * CHAN6. The first of `end`, `fail` and `close` ends the channel, and later items are discarded. Kept items are read
 *        before the end or the failure. A failure rejects exactly one read; every other read resolves with the end.
 * CHAN7. `close` discards the kept items, and a failure that was not read. `return` closes, and calls `onReturn` once.
 */
const leastDropped = 64

/**
 * A first-in, first-out queue.
 *
 * **Details**
 *
 * `push` and `shift` take constant time on average.
 */
export class Fifo<A> {
  /** The queued items begin at `#front`; the places before it are empty. */
  #items: Array<A | undefined> = []
  #front = 0

  /** The number of queued items. */
  get size(): number {
    return this.#items.length - this.#front
  }

  /** The newest item; `undefined` when the queue is empty. */
  get last(): A | undefined {
    return this.size === 0 ? undefined : this.#items[this.#items.length - 1]
  }

  /** Adds an item. */
  push(item: A): void {
    this.#items.push(item)
  }

  /** Replaces the newest item of a queue that is not empty. */
  replaceLast(item: A): void {
    if (this.size > 0) this.#items[this.#items.length - 1] = item
  }

  /** Removes and returns the oldest item; `undefined` when the queue is empty. */
  shift(): A | undefined {
    if (this.size === 0) return undefined
    const item = this.#items[this.#front]
    this.#items[this.#front++] = undefined
    if (this.#front >= leastDropped && this.#front >= this.size) this.#drop()
    return item
  }

  /** Removes all items. */
  clear(): void {
    this.#items = []
    this.#front = 0
  }

  /**
   * Removes the empty places. `shift` calls it when they are as many as the items, so each item is moved at most once.
   */
  #drop(): void {
    this.#items = this.#items.slice(this.#front)
    this.#front = 0
  }
}

/**
 * An async iterator that is left by `return`.
 *
 * **Details**
 *
 * A subclass implements `next` and `return`. Leaving a `for await` loop, `throw` and `await using` call `return`.
 */
export abstract class Reader<A> implements AsyncIterableIterator<A, undefined> {
  /** Resolves with the next item, or with the end. */
  abstract next(): Promise<IteratorResult<A, undefined>>

  /** Leaves: no item is read after it. */
  abstract return(): Promise<IteratorResult<A, undefined>>

  /** The reader itself, for `for await`. */
  [Symbol.asyncIterator](): Reader<A> {
    return this
  }

  /** Leaves, then rejects with the error. */
  async throw(error: unknown): Promise<IteratorResult<A, undefined>> {
    await this.return()
    throw error
  }

  /** Leaves, at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }
}

/** The functions of a channel's owner. */
export interface Options<A> {
  /** Returns the one item that replaces two unread items, or `undefined` to keep both. Default: both are kept. */
  readonly join?: ((unread: A, item: A) => A | undefined) | undefined
  /** Called when a read finds no kept item; it may call `push`. Default: a read waits for the next `push`. */
  readonly onDemand?: (() => void) | undefined
  /** Called when the reader leaves; `return` waits for its promise. */
  readonly onReturn?: (() => unknown) | undefined
}

type Resolve<A> = (result: IteratorResult<A, undefined>) => void
type Reject = (error: unknown) => void

interface Waiting<A> {
  readonly resolve: Resolve<A>
  readonly reject: Reject
  /** The reader that the read belongs to, if it is known. */
  readonly owner: object | undefined
}

const ended: IteratorReturnResult<undefined> = { done: true, value: undefined }

/**
 * A queue of items: `push` adds one, `next` reads one, or waits for it.
 *
 * **When to use**
 *
 * To pass items from callbacks to an async iterator.
 *
 * **Concurrency**
 *
 * Reads may overlap. They are answered in their order.
 *
 * **Gotchas**
 *
 * Unread items are kept without a bound, unless the owner pushes only when {@link Channel.isAwaited}.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Channel } from "@troupe/otp"
 *
 * const words = new Channel.Channel<string>({ join: (unread, word) => `${unread} ${word}` })
 * words.push("one")
 * words.push("two")
 * words.end()
 * await words.next() // => { done: false, value: "one two" }
 * await words.next() // => { done: true, value: undefined }
 * ```
 */
export class Channel<A extends object | string | number> extends Reader<A> {
  readonly #options: Options<A>
  #unread: Fifo<A> | undefined
  /** The oldest read that waits (CHAN4). */
  #resolve: Resolve<A> | undefined
  #reject: Reject | undefined
  #owner: object | undefined
  /** Of several readers, the one that `next` is called for. */
  protected reader: object | undefined
  #others: Fifo<Waiting<A>> | undefined
  /** Whether a read has called `onDemand`, which has not returned and has pushed nothing (CHAN4). */
  #isAsking = false
  #isOver = false
  #failure: { readonly error: unknown } | undefined
  #left: Promise<IteratorResult<A, undefined>> | undefined
  /** The function of every waiting promise: a closure for each read would be garbage. */
  readonly #park = (resolve: Resolve<A>, reject: Reject): void => {
    if (this.#resolve === undefined) {
      this.#resolve = resolve
      this.#reject = reject
      this.#owner = this.reader
    } else (this.#others ??= new Fifo()).push({ resolve, reject, owner: this.reader })
  }

  constructor(options: Options<A> = {}) {
    super()
    this.#options = options
  }

  /** Whether a read waits for an item. */
  get isAwaited(): boolean {
    return this.#isAsking || this.#resolve !== undefined
  }

  /** Whether the channel takes no more items. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** The number of kept items. */
  get unread(): number {
    return this.#unread?.size ?? 0
  }

  /** Passes an item to the oldest read, or keeps it. */
  push(item: A): void {
    const resolve = this.#resolve
    if (resolve !== undefined) {
      if (this.#others === undefined) {
        this.#resolve = undefined
        this.#reject = undefined
        this.#owner = undefined
      } else this.#nextWaiting()
      resolve({ done: false, value: item })
    } else if (!this.#isOver) {
      this.#isAsking = false
      this.#keep(item)
    }
  }

  /** Ends the channel after its kept items. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#isAsking = false
    this.#endReads()
  }

  /** Ends the channel after its kept items: one read rejects with `error`. */
  fail(error: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#isAsking = false
    const reject = this.#reject
    if (reject === undefined) this.#failure = { error }
    else {
      this.#nextWaiting()
      reject(error)
      this.#endReads()
    }
  }

  /** Ends the channel, and discards its kept items. */
  close(): void {
    this.#unread = undefined
    this.#failure = undefined
    this.end()
  }

  /** Resolves with the oldest item or with the end; rejects with the failure. */
  next(): Promise<IteratorResult<A, undefined>> {
    const ready = this.#unread === undefined && !this.#isOver ? undefined : this.#ready()
    if (ready !== undefined) return ready
    const isFirst = this.#resolve === undefined
    const waiting = isFirst ? undefined : new Promise(this.#park)
    this.#isAsking = isFirst
    try {
      this.#options.onDemand?.()
    } catch (error) {
      this.fail(error)
    }
    this.#isAsking = false
    if (waiting !== undefined) return waiting
    const pushed = this.#unread === undefined && !this.#isOver ? undefined : this.#ready()
    return pushed ?? new Promise(this.#park)
  }

  /** Closes the channel, and calls `onReturn`. */
  return(): Promise<IteratorResult<A, undefined>> {
    this.close()
    this.#left ??= this.#leave()
    return this.#left
  }

  /** Ends the waiting reads of one of several readers, so that no item goes to it. */
  protected withdraw(owner: object): void {
    const waiting: Array<Waiting<A>> = []
    for (let resolve = this.#resolve; resolve !== undefined; resolve = this.#resolve) {
      waiting.push({ resolve, reject: this.#reject as Reject, owner: this.#owner })
      this.#nextWaiting()
    }
    for (const read of waiting) {
      this.reader = read.owner
      if (read.owner === owner) read.resolve(ended)
      else this.#park(read.resolve, read.reject)
    }
    this.reader = undefined
  }

  async #leave(): Promise<IteratorResult<A, undefined>> {
    await this.#options.onReturn?.()
    return ended
  }

  /** The oldest kept item, or the end after the last one; `undefined` when a read must wait. */
  #ready(): Promise<IteratorResult<A, undefined>> | undefined {
    const item = this.#unread?.shift()
    if (item !== undefined) return Promise.resolve({ done: false, value: item })
    if (!this.#isOver) return undefined
    const failure = this.#failure
    if (failure === undefined) return Promise.resolve(ended)
    this.#failure = undefined
    return Promise.reject(failure.error)
  }

  #keep(item: A): void {
    const unread = (this.#unread ??= new Fifo())
    const { last } = unread
    const joined = last === undefined ? undefined : this.#options.join?.(last, item)
    if (joined === undefined) unread.push(item)
    else unread.replaceLast(joined)
  }

  #nextWaiting(): void {
    const other = this.#others?.shift()
    this.#resolve = other?.resolve
    this.#reject = other?.reject
    this.#owner = other?.owner
  }

  #endReads(): void {
    for (let resolve = this.#resolve; resolve !== undefined; resolve = this.#resolve) {
      this.#nextWaiting()
      resolve(ended)
    }
  }
}
