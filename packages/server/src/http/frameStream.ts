/**
 * One response that streams: frames on their way to a socket.
 *
 * Owns: the frames' iterator, and the one question that is open. Does not own the socket, which asks, nor the count of streams,
 * which is told once that this one is over.
 *
 * FRAME1. Nothing is read ahead of the socket: a frame is asked for when the socket asks; only one that was asked for while a
 *         heartbeat went out is held. A reader that stops reading holds no more than that, and what its socket holds.
 * FRAME2. The iterator is returned exactly once, and the signal aborted before: when the client is gone, the server closes, or
 *         it failed; one that ended by itself is not returned.
 * FRAME3. When the server closes, what is held and then the last frame are sent, and the stream ends.
 * FRAME4. A socket that waits gets a comment after so many quiet beats.
 * FRAME5. A frame larger than a piece is counted until the socket has taken it or the stream is over. A frame that the count
 *         refuses is not sent: the last frame, which says why, is sent in its place, and the stream ends.
 */
import { HttpError } from "../errors/index.ts"
import { pieceBytes } from "./chunks.ts"
import type { Frames } from "./route.ts"

/** What a stream tells of itself. */
export interface FrameStreamOptions {
  /** Makes the last frame of a stream that the server ends. */
  readonly last: ((why: HttpError) => string) | undefined
  /** Counts a large frame of so many characters (FRAME5). Throws an `HttpError` for one too many. */
  readonly hold?: ((characters: number) => void) | undefined
  /** So many characters are held no longer. */
  readonly release?: ((characters: number) => void) | undefined
  /** It is over, however: told once. */
  readonly ended: () => void
  /** Its frames failed. */
  readonly failed: (error: unknown) => void
}

/** What a socket asks with: the same again for each piece, so that a piece makes no promise. */
export interface Question {
  readonly resolve: (piece: string | undefined) => void
  readonly reject: (error: unknown) => void
}

const heartbeat = ": \n\n"

/** So many beats without a frame, and a comment is sent. */
const quietBeats = 3

export class FrameStream {
  readonly #iterator: AsyncIterator<string>
  /** Only of frames that want a signal: an abort that nobody hears is dear. */
  readonly #abort: AbortController | undefined
  readonly #options: FrameStreamOptions
  #question: Question | undefined
  #reading = false
  #held: Array<string> = []
  #failure: { readonly error: unknown } | undefined
  #over = false
  #quiet = 0
  /** Characters of large frames that the socket has not taken. */
  #large = 0

  constructor(frames: Frames, options: FrameStreamOptions) {
    this.#options = options
    let iterable: AsyncIterable<string>
    if (typeof frames === "function") {
      this.#abort = new AbortController()
      iterable = frames(this.#abort.signal)
    } else iterable = frames
    this.#iterator = iterable[Symbol.asyncIterator]()
  }

  /** The next piece for the wire, or `undefined` at the end. One question at a time. */
  next(): Promise<string | undefined> {
    return new Promise((resolve, reject) => this.ask({ resolve, reject }))
  }

  /** Asks for the next piece, or the end (`undefined`). */
  ask(question: Question): void {
    this.#question = question
    if (this.#large > 0 && this.#held.length === 0) this.#release()
    if (this.#held.length > 0 || this.#over) this.#answer()
    else if (!this.#reading) this.#read()
  }

  /** Time passed (FRAME4). */
  beat(): void {
    if (this.#question === undefined || ++this.#quiet < quietBeats) return
    this.#give(heartbeat)
  }

  /** The server closes (FRAME3). */
  close(): void {
    this.#end(new HttpError("closing", "The server is closing; try again", { retryAfterMs: 1_000 }))
  }

  /** The client is gone: nobody will ask again. */
  cancel(): void {
    this.#held = []
    this.#finish(true)
  }

  #read(): void {
    this.#reading = true
    this.#iterator.next().then(this.#came, this.#failed)
  }

  readonly #came = ({ done, value }: IteratorResult<string>): void => {
    this.#reading = false
    if (this.#over) return
    if (done === true) this.#finish(false)
    else if (value.length > pieceBytes && !this.#hold(value.length)) return
    else if (this.#question === undefined) this.#held.push(value)
    else this.#give(value)
  }

  readonly #failed = (error: unknown): void => {
    this.#reading = false
    if (this.#over) return
    this.#options.failed(error)
    this.#failure = { error }
    this.#finish(false)
  }

  #hold(characters: number): boolean {
    try {
      this.#options.hold?.(characters)
      this.#large += characters
      return true
    } catch (error) {
      if (error instanceof HttpError) this.#end(error)
      else this.#failed(error)
      return false
    }
  }

  #release(): void {
    const characters = this.#large
    this.#large = 0
    if (characters > 0) this.#options.release?.(characters)
  }

  /** The server ends the stream. */
  #end(why: HttpError): void {
    if (this.#over) return
    const last = this.#options.last?.(why)
    if (last !== undefined) this.#held.push(last)
    this.#finish(true)
  }

  #give(piece: string | undefined): void {
    const question = this.#question
    this.#question = undefined
    this.#quiet = 0
    question?.resolve(piece)
  }

  #answer(): void {
    if (this.#question === undefined) return
    const failure = this.#failure
    if (this.#held.length === 0 && failure !== undefined) {
      this.#failure = undefined
      return this.#question.reject(failure.error)
    }
    this.#give(this.#held.shift())
  }

  #finish(returns: boolean): void {
    if (this.#over) return
    this.#over = true
    this.#abort?.abort()
    if (returns) this.#return()
    this.#release()
    this.#answer()
    this.#options.ended()
  }

  #return(): void {
    const returned = this.#iterator.return?.()
    returned?.catch((error: unknown) => this.#options.failed(error))
  }
}

const streams = new WeakMap<Response, FrameStream>()

const encoder = new TextEncoder()

/** The response of a stream. */
export const responseOf = (stream: FrameStream, headers: Readonly<Record<string, string>>): Response => {
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const piece = await stream.next()
        if (piece === undefined) controller.close()
        else controller.enqueue(encoder.encode(piece))
      },
      cancel: () => stream.cancel()
    },
    { highWaterMark: 0 }
  )
  const response = new Response(body, { headers })
  streams.set(response, stream)
  return response
}

/** The stream behind a response, for who writes to a socket itself. */
export const streamOf = (response: Response): FrameStream | undefined => streams.get(response)
