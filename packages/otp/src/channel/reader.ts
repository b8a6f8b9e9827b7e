/** The parts that every async iterator of one reader shares. */

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
  [Symbol.asyncIterator](): this {
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
