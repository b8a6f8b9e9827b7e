/**
 * The stream of a turn on its way to a client, over moves of the turn.
 *
 * Owns: the present stream, and the part of a frame that has come. Does not own the frames, which `Splice` joins.
 *
 * FOLLOWED1. When the stream is cut, or ends without the mark of a whole one, the next one is requested, and its frames are joined to
 *            those that the client has. When there is no next one, the client gets the last frame of the failure, and the stream ends.
 * FOLLOWED2. A client gets whole frames only: a frame whose end does not come is dropped.
 * FOLLOWED3. When the server closes, the stream of another node is left, and the client gets the last frame of the failure. A stream of
 *            this node ends itself.
 */
import { Cut, endFrame, type Pieces, type Question } from "@troupe/server/Node"
import type { Splice } from "../gateway/index.ts"

/**
 * The streams of a turn. `next` rejects when there is no next one. `closing` is aborted when the server closes. `isOwn` is whether the
 * first stream is one of this node.
 */
interface Following {
  readonly splice: Splice
  readonly next: () => Promise<Pieces>
  readonly closing: AbortSignal
  readonly isOwn: boolean
}

export class FollowedStream implements Pieces {
  readonly #following: Following
  readonly #own: Question
  #stream: Pieces
  #decoder = new TextDecoder()
  #begun = ""
  #question: Question | undefined
  #last: string | undefined
  #isOver = false
  /** Whether the mark of a whole stream has come. */
  #isWhole = false
  #isOwn: boolean

  constructor(stream: Pieces, following: Following) {
    this.#stream = stream
    this.#following = following
    this.#isOwn = following.isOwn
    following.closing.addEventListener("abort", this.#close, { once: true })
    if (following.closing.aborted) this.#close()
    this.#own = {
      resolve: (piece) => {
        if (piece === undefined && (this.#isOwn || this.#isWhole)) this.#end()
        else if (piece === undefined) void this.#follow()
        else this.#came(piece)
      },
      reject: (error) => {
        // Only a move cuts a stream of this node; any other failure is the client's.
        if (!this.#isOwn || error instanceof Cut) return void this.#follow()
        this.#following.closing.removeEventListener("abort", this.#close)
        this.#take()?.reject(error)
      }
    }
  }

  ask(question: Question): void {
    this.#question = question
    if (this.#isOver) this.#end()
    else this.#stream.ask(this.#own)
  }

  cancel(isClosing?: boolean): void {
    this.#isOver = true
    this.#stream.cancel(isClosing)
    this.#following.closing.removeEventListener("abort", this.#close)
  }

  /** FOLLOWED3 */
  readonly #close = (): void => {
    if (this.#isOwn || this.#isOver) return
    this.#last = this.#following.splice.failed()
    this.#isOver = true
    this.#stream.cancel(true)
    this.#end()
  }

  #came(piece: string | Uint8Array): void {
    const text = this.#begun + (typeof piece === "string" ? piece : this.#decoder.decode(piece, { stream: true }))
    const end = text.lastIndexOf("\n\n") + 1
    const whole = end === 0 ? 0 : end + 1
    this.#begun = text.slice(whole)
    this.#isWhole = text.endsWith(endFrame)
    const came = text.slice(0, this.#isWhole ? -endFrame.length : whole).split(/(?<=\n\n)/u)
    const frames = came.map(this.#following.splice.push).join("")
    if (frames === "") this.#stream.ask(this.#own)
    else this.#take()?.resolve(frames)
  }

  /** FOLLOWED1 */
  async #follow(): Promise<void> {
    if (this.#isOver) return
    this.#isOwn = false
    this.#isWhole = false
    this.#begun = ""
    this.#decoder = new TextDecoder()
    try {
      this.#stream = await this.#following.next()
    } catch {
      if (this.#isOver) return
      this.#last = this.#following.splice.failed()
      return this.#end()
    }
    if (this.#isOver) this.#stream.cancel(this.#following.closing.aborted)
    else this.#stream.ask(this.#own)
  }

  #take(): Question | undefined {
    const question = this.#question
    this.#question = undefined
    return question
  }

  #end(): void {
    this.#isOver = true
    this.#following.closing.removeEventListener("abort", this.#close)
    const question = this.#take()
    if (question === undefined) return
    const last = this.#last
    this.#last = undefined
    question.resolve(last)
  }
}
