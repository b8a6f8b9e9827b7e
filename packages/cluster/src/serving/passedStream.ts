/**
 * The stream of another node on its way to a client of this one.
 *
 * Owns: the pending question of the socket. Does not own the socket, which asks for each piece, nor the other node's stream,
 * which it cancels.
 *
 * PASSED1. The stream is over once: at its end, with its failure, when the client leaves, or when the server closes. The other
 *          node's stream is then read no more.
 * PASSED2. When the server closes, the client's stream fails. The other node's stream is not ended as for a client that has left.
 * FORWARD3. Answers are passed on as they are. When the client leaves, the home's stream is cut.
 */
import { HttpError } from "@troupe/server/HttpError"
import type { Pieces, Question } from "@troupe/server/Node"

/** What ends a stream that is passed on. */
export interface PassedOptions {
  /** Aborted when the client leaves. */
  readonly left: AbortSignal
  /** Aborted when the server closes, if the stream is then cut. */
  readonly closing?: AbortSignal | undefined
  /** Called exactly once, when the stream is over. */
  readonly ended: () => void
}

export class PassedStream implements Pieces {
  readonly #stream: Pieces
  readonly #options: PassedOptions
  /** The callbacks for the other node's stream. They are reused for each piece. */
  readonly #own: Question
  #question: Question | undefined
  #failure: { readonly error: unknown } | undefined
  #isOver = false

  constructor(stream: Pieces, options: PassedOptions) {
    this.#stream = stream
    this.#options = options
    this.#own = {
      resolve: (piece) => {
        if (piece === undefined) this.#finish()
        else this.#take()?.resolve(piece)
      },
      reject: (error) => this.#finish({ error })
    }
    const { left, closing } = options
    left.addEventListener("abort", this.#leave, { once: true })
    closing?.addEventListener("abort", this.#close, { once: true })
    if (left.aborted) this.#leave()
    if (closing?.aborted === true) this.#close()
  }

  ask(question: Question): void {
    this.#question = question
    if (this.#isOver) this.#answerEnd()
    else this.#stream.ask(this.#own)
  }

  cancel(isClosing = false): void {
    if (!this.#isOver) this.#stream.cancel(isClosing)
    this.#finish()
  }

  /** A signal that is aborted with an `HttpError` is that of a node that passes the answer on and closes. */
  readonly #leave = (): void => this.cancel(this.#options.left.reason instanceof HttpError)

  readonly #close = (): void => {
    if (!this.#isOver) this.#stream.cancel(true)
    this.#finish({ error: new HttpError("closing", "The server is closing; ask again") })
  }

  #take(): Question | undefined {
    const question = this.#question
    this.#question = undefined
    return question
  }

  #finish(failure?: { readonly error: unknown }): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#failure = failure
    const { left, closing, ended } = this.#options
    left.removeEventListener("abort", this.#leave)
    closing?.removeEventListener("abort", this.#close)
    this.#answerEnd()
    ended()
  }

  #answerEnd(): void {
    if (this.#failure === undefined) this.#take()?.resolve(undefined)
    else this.#take()?.reject(this.#failure.error)
  }
}
