/** The frames of a source of items, each made when it is read. */
import { Channel } from "@troupe/otp"

/** Text for the wire, at once or later. */
export type Text = string | Promise<string>

/** How the items of a source become frames. An empty text is no frame. */
interface Writing<A> {
  /** The frame of an item. Call `end` when it is the last one. */
  readonly item: (item: A, end: () => void) => Text
  /** The last frame of a source that failed, or of an item without a frame. Throws the error that breaks the stream. */
  readonly failed: (error: unknown) => string
  /** The last frame of a source that ended by itself. Default: none. */
  readonly ended?: (() => string) | undefined
}

const over: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** Frames of a source. Leaving returns the source at once, also while its next item is awaited. */
export class SourceFrames<A> extends Channel.Reader<string> {
  readonly #source: AsyncIterator<A>
  readonly #writing: Writing<A>
  #isOver = false

  constructor(source: AsyncIterator<A>, writing: Writing<A>) {
    super()
    this.#source = source
    this.#writing = writing
  }

  next(): Promise<IteratorResult<string, undefined>> {
    return this.#isOver ? Promise.resolve(over) : this.#source.next().then(this.#came, this.#failed)
  }

  async return(): Promise<IteratorResult<string, undefined>> {
    this.#isOver = true
    await this.#source.return?.()
    return over
  }

  readonly #came = ({
    done,
    value
  }: IteratorResult<A, unknown>): IteratorResult<string, undefined> | Promise<IteratorResult<string, undefined>> => {
    if (this.#isOver) return over
    if (done === true) {
      this.#isOver = true
      const { ended } = this.#writing
      return ended === undefined ? over : frameOf(ended())
    }
    try {
      const text = this.#writing.item(value, this.#end)
      return typeof text === "string" ? frameOf(text) : text.then(frameOf, this.#failed)
    } catch (error) {
      return this.#failed(error)
    }
  }

  readonly #failed = (error: unknown): IteratorResult<string, undefined> => {
    this.#end()
    return frameOf(this.#writing.failed(error))
  }

  readonly #end = (): void => {
    if (!this.#isOver) void this.return()
  }
}

const frameOf = (value: string): IteratorYieldResult<string> => ({ done: false, value })
