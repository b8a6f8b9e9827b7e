/**
 * One response that streams: frames on their way to a socket.
 *
 * Owns: the frames' iterator, and the one pending question. Does not own the socket, which asks, nor the count of streams,
 * which it notifies once when this stream is over.
 *
 * FRAME1. Nothing is read ahead of the socket: a frame is requested when the socket asks. Only a frame that was requested
 *         while a heartbeat or a change went out is held. A reader that stops reading holds at most that frame and its
 *         socket's buffer.
 * FRAME2. When the client is gone, the server closes, or the stream failed, the signal is aborted and then the iterator is
 *         returned exactly once. An iterator that ended by itself is not returned.
 * FRAME3. When the server closes, the held frame and then the last frame are sent, and the stream ends.
 * FRAME4. A waiting socket gets a comment after `quietBeats` beats without a frame.
 * FRAME5. A frame larger than a piece is counted until the socket has taken it or the stream is over. When the count
 *         refuses a frame, the last frame is sent instead, with the reason, and the stream ends.
 */
import { HttpError } from "../errors/index.ts"
import { pieceBytes } from "./chunks.ts"
import type { Changes, Frames, StreamOptions } from "./route.ts"

/** The callbacks of a stream. */
export interface FrameStreamOptions extends Pick<StreamOptions, "first" | "changes" | "done" | "last"> {
  /** Whether the stream is cut when the server closes: its reader follows the turn to another node. */
  readonly isCut?: boolean | undefined
  /** Whether the stream has no end of its own. */
  readonly isEndless?: boolean | undefined
  /** Counts a large frame of so many characters. Throws an `HttpError` when the limit is exceeded. */
  readonly hold?: ((characters: number) => void) | undefined
  /** Called when so many characters are no longer held. */
  readonly release?: ((characters: number) => void) | undefined
  /** Called exactly once, when the stream is over for any reason; `disconnected` is whether its client left before. */
  readonly ended: (disconnected: boolean) => void
  /** Called when the frames failed. */
  readonly failed: (error: unknown) => void
}

/** The callbacks of a socket's request. They are reused for each piece, so that a piece makes no promise. */
export interface Question {
  /** Called with the next piece; `undefined` at the end. */
  readonly resolve: (piece: string | Uint8Array | undefined) => void
  /** Called with the error of the stream. */
  readonly reject: (error: unknown) => void
}

/** The pieces of a body, for a socket that asks for one at a time. */
export interface Pieces {
  /** Requests the next piece, or the end (`undefined`). */
  readonly ask: (question: Question) => void
  /** Nothing more will be requested: the client has left, or the node that passes the pieces on `isClosing`. */
  readonly cancel: (isClosing?: boolean) => void
}

/** Breaks a stream that its reader follows, without a report of an unexpected error. */
export class Cut extends Error {}

/** The last frame of a stream that another node may follow: a comment. */
export const endFrame = ": end\n\n"

const heartbeat = ": \n\n"

/** The number of beats without a frame after which a comment is sent. */
const quietBeats = 3

export class FrameStream implements Pieces {
  readonly #iterator: AsyncIterator<string>
  /** Only for frames that take a signal: an abort without a listener is expensive. */
  readonly #abort: AbortController | undefined
  readonly #options: FrameStreamOptions
  #question: Question | undefined
  #reading = false
  #held: Array<string> = []
  /** Present from the first question on. */
  #changes: ReadonlyArray<Changes> | undefined
  /** Whether a frame was sent, which precedes the changes. */
  #hasBegun = false
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

  /** Whether the stream has no end of its own. */
  get isEndless(): boolean {
    return this.#options.isEndless === true
  }

  ask(question: Question): void {
    this.#question = question
    if (this.#large > 0 && this.#held.length === 0) this.#release()
    if (this.#held.length > 0 || this.#over) return this.#answer()
    const text = this.#ready()
    if (text !== "") this.#take(text)
    else if (!this.#reading && !this.#over) this.#read()
  }

  /** One beat of the heartbeat (FRAME4). */
  beat(): void {
    if (this.#question === undefined || ++this.#quiet < quietBeats) return
    this.#give(heartbeat)
  }

  /** Ends the stream because the server closes (FRAME3). */
  close(): void {
    if (this.#options.isCut === true) this.#failed(new Cut("the server closes"), true)
    else this.#end(new HttpError("closing", "The server is closing; try again", { retryAfterMs: 1_000 }))
  }

  cancel(isClosing = false): void {
    this.#held = []
    this.#finish(true, !isClosing)
  }

  #read(): void {
    this.#reading = true
    this.#iterator.next().then(this.#came, this.#broke)
  }

  readonly #came = ({ done, value }: IteratorResult<string>): void => {
    this.#reading = false
    if (this.#over) return
    if (done === true) {
      const { done: mark = "" } = this.#options
      if (mark !== "") this.#held.push(mark)
      return this.#complete(false)
    }
    const text = this.#ready() + value
    if (this.#over) return
    if (text !== "") this.#take(text)
    else if (this.#question !== undefined) this.#read()
  }

  /** The text that needs no read: the first frame, and then what has changed beside the frames. */
  #ready(): string {
    const { first = "", changes = [] } = this.#options
    try {
      if (this.#changes === undefined) {
        this.#changes = changes.map((watch) => watch(this.#changed))
        return first
      }
      let text = ""
      if (this.#hasBegun) for (const one of this.#changes) text += one.look()
      return text
    } catch (error) {
      this.#failed(error, true)
      return ""
    }
  }

  /** Changes of one tick are sent together. */
  readonly #changed = (): void => {
    if (this.#question !== undefined) queueMicrotask(this.#giveChanges)
  }

  readonly #giveChanges = (): void => {
    if (this.#question === undefined || this.#over) return
    const text = this.#ready()
    if (text !== "") this.#take(text)
  }

  /** Takes a text for the socket. */
  #take(text: string): void {
    this.#hasBegun = true
    if (text.length > pieceBytes && !this.#hold(text.length)) return
    if (this.#question === undefined) this.#held.push(text)
    else this.#give(text)
  }

  readonly #broke = (error: unknown): void => this.#failed(error)

  #failed(error: unknown, returns = false): void {
    this.#reading = false
    if (this.#over) return
    if (!(error instanceof Cut)) this.#options.failed(error)
    this.#failure = { error }
    this.#finish(returns)
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

  /** Ends the stream on behalf of the server. */
  #end(why: HttpError): void {
    if (this.#over) return
    const last = this.#options.last?.(why)
    if (last !== undefined) this.#held.push(last)
    this.#complete(true)
  }

  /** Ends the stream. Its reader of another node gets the mark of a whole stream, which a cut one lacks. */
  #complete(returns: boolean): void {
    if (this.#options.isCut === true) this.#held.push(endFrame)
    this.#finish(returns)
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

  #finish(returns: boolean, disconnected = false): void {
    if (this.#over) return
    this.#over = true
    this.#abort?.abort()
    for (const one of this.#changes ?? []) one.leave()
    if (returns) this.#return()
    this.#release()
    this.#answer()
    this.#options.ended(disconnected)
  }

  #return(): void {
    const returned = this.#iterator.return?.()
    returned?.catch((error: unknown) => this.#options.failed(error))
  }
}

const streams = new WeakMap<Response, Pieces>()

const encoder = new TextEncoder()

/** The next piece for the wire, or `undefined` at the end. One call at a time. */
export const nextOf = (pieces: Pieces): Promise<string | Uint8Array | undefined> =>
  new Promise((resolve, reject) => pieces.ask({ resolve, reject }))

/** The response of a stream. */
export const responseOf = (pieces: Pieces, init: ResponseInit): Response => {
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const piece = await nextOf(pieces)
        if (piece === undefined) controller.close()
        else controller.enqueue(typeof piece === "string" ? encoder.encode(piece) : piece)
      },
      cancel: () => pieces.cancel()
    },
    { highWaterMark: 0 }
  )
  const response = new Response(body, init)
  streams.set(response, pieces)
  return response
}

/** The stream behind a response, for code that writes to a socket itself. */
export const streamOf = (response: Response): Pieces | undefined => streams.get(response)
