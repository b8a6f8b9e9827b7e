/**
 * The body of another node's answer, for a socket or a reader that asks for a piece at a time.
 *
 * Owns: the pieces that were read ahead, and the timer of INNER2. Does not own the connection. It cuts the stream when its reader
 * leaves.
 *
 * INNER6. Nothing is read before the first question. Then at most {@link mostPieces} pieces are read ahead, of at most 16 kB
 *         each; the stream is paused until the reader has asked for all of them.
 */
import { type Clock, EventLoop } from "@troupe/otp"
import type { Pieces, Question } from "@troupe/server/Node"
import type { Readable } from "node:stream"
import { ClusterError } from "../placement/index.ts"
import { clientLeft } from "./limits.ts"

/** How a body is read. `onCut` is called when the node or its connection ends it too early. */
export interface Reading {
  readonly clock: Clock.Clock
  readonly quietMs: number
  readonly onCut?: (() => void) | undefined
}

/** How many pieces wait for their reader before the stream is paused. */
const mostPieces = 16

/**
 * The stream of an answer. `rstCode` is the code with which HTTP/2 has ended it; other than 0, it was cut. `close` ends it with a
 * code.
 */
type Incoming = Readable & {
  readonly rstCode?: number | undefined
  readonly close?: ((code: number) => void) | undefined
}

export class AnswerBody implements Pieces {
  readonly #incoming: Incoming
  readonly #reading: Reading
  readonly #ahead: Array<Uint8Array> = []
  #question: Question | undefined
  #waitingSince = 0
  #timer: unknown
  #isOver = false
  #failure: ClusterError | undefined

  constructor(incoming: Incoming, reading: Reading) {
    this.#incoming = incoming
    this.#reading = reading
    incoming.pause()
    incoming.on("data", this.#came)
    incoming.on("end", this.#ended)
    incoming.on("error", this.#failed)
    incoming.on("close", () => this.#failed(new Error("the connection was cut")))
  }

  ask(question: Question): void {
    const piece = this.#ahead.shift()
    if (piece !== undefined) return question.resolve(piece)
    if (this.#isOver) return this.#answerEnd(question)
    const { clock, quietMs } = this.#reading
    this.#question = question
    this.#waitingSince = clock.now()
    this.#timer ??= clock.setTimeout(this.#look, quietMs)
    if (this.#incoming.isPaused()) this.#incoming.resume()
  }

  cancel(isClosing = false): void {
    this.#ahead.length = 0
    this.#question = undefined
    this.#over()
    if (!isClosing) this.#incoming.close?.(clientLeft)
    this.#incoming.destroy()
  }

  readonly #came = (piece: Uint8Array): void => {
    if (this.#isOver) return
    const question = this.#question
    if (question === undefined) {
      if (this.#ahead.push(piece) >= mostPieces) this.#incoming.pause()
      return
    }
    this.#question = undefined
    question.resolve(piece)
  }

  readonly #ended = (): void => {
    const { rstCode = 0 } = this.#incoming
    if (rstCode !== 0) return this.#failed(new Error(`the stream was ended with the code ${rstCode}`))
    this.#over()
    this.#finish()
  }

  readonly #failed = (cause: unknown): void => {
    if (this.#isOver) return
    this.#over()
    this.#failure = new ClusterError("silent", "The answer of another node was cut", { cause })
    this.#reading.onCut?.()
    this.#finish()
  }

  /** One timer serves many questions: when it fires, it is set again for the rest of the time of the pending one (INNER2). */
  readonly #look = (): void => {
    this.#timer = undefined
    if (this.#question === undefined) return
    const leftMs = this.#leftMs()
    if (leftMs > 0) this.#timer = this.#reading.clock.setTimeout(this.#look, leftMs)
    else EventLoop.nextTurn(this.#giveUp)
  }

  /** INNER9 */
  readonly #giveUp = (): void => {
    if (this.#isOver || this.#question === undefined) return
    if (this.#leftMs() > 0) this.#timer ??= this.#reading.clock.setTimeout(this.#look, this.#leftMs())
    else this.#incoming.destroy(new Error("the node is silent"))
  }

  #leftMs(): number {
    return this.#waitingSince + this.#reading.quietMs - this.#reading.clock.now()
  }

  #over(): void {
    this.#isOver = true
    this.#reading.clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #finish(): void {
    const question = this.#question
    this.#question = undefined
    if (question !== undefined) this.#answerEnd(question)
  }

  #answerEnd({ resolve, reject }: Question): void {
    if (this.#failure === undefined) resolve(undefined)
    else reject(this.#failure)
  }
}
