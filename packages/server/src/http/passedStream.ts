/**
 * The stream of another node on its way to a client of this one.
 *
 * Owns: the reader of the other node's body. Does not own the socket, which asks for each piece.
 *
 * PASSED1. The stream is over once: at its end, with its failure, when the client leaves, or when the server closes. The body is
 *          then read no more.
 * PASSED2. When the server closes, the reader ends, and the client's stream fails.
 */
import { HttpError } from "../errors/index.ts"
import type { Pieces, Question } from "./frameStream.ts"

/** `left` is aborted when the client leaves, `closing` when the server closes; `ended` is called once. */
export interface PassedOptions {
  readonly left: AbortSignal
  readonly closing: AbortSignal
  readonly ended: () => void
}

export class PassedStream implements Pieces {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #options: PassedOptions
  #question: Question | undefined
  #isOver = false

  constructor(body: ReadableStream<Uint8Array>, options: PassedOptions) {
    this.#reader = body.getReader()
    this.#options = options
    const { left, closing } = options
    left.addEventListener("abort", this.cancel, { once: true })
    closing.addEventListener("abort", this.#cut, { once: true })
    if (left.aborted) this.cancel()
    if (closing.aborted) this.#cut()
  }

  ask(question: Question): void {
    this.#question = question
    this.#reader.read().then(this.#came, this.#failed)
  }

  readonly cancel = (): void => {
    this.#over()
    this.#cut()
  }

  readonly #cut = (): void => void this.#reader.cancel().catch(() => {})

  readonly #came = ({ done, value }: ReadableStreamReadResult<Uint8Array>): void => {
    if (!done) return this.#question?.resolve(value)
    const isCut = !this.#isOver && this.#options.closing.aborted
    this.#over()
    if (isCut) this.#question?.reject(new HttpError("closing", "The server is closing; ask again"))
    else this.#question?.resolve(undefined)
  }

  readonly #failed = (error: unknown): void => {
    this.#over()
    this.#question?.reject(error)
  }

  #over(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { left, closing, ended } = this.#options
    left.removeEventListener("abort", this.cancel)
    closing.removeEventListener("abort", this.#cut)
    ended()
  }
}
