/**
 * The stream of a turn on its way to a client, over moves of the turn.
 *
 * Owns: the present stream, and the part of a frame that has come. Does not own the frames, which `Splice` joins.
 *
 * FOLLOWED1. When the stream is cut, the next one is requested, and its frames are joined to those that the client has. When there is
 *            no next one, the client gets the last frame of the failure, and the stream ends.
 * FOLLOWED2. A client gets whole frames only: a frame whose end does not come is dropped.
 */
import type { Pieces, Question, Splice } from "../http/index.ts"

/** The streams of a turn. `next` rejects when there is no next one. */
interface Following {
  readonly splice: Splice
  readonly next: () => Promise<Pieces>
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

  constructor(stream: Pieces, following: Following) {
    this.#stream = stream
    this.#following = following
    this.#own = {
      resolve: (piece) => {
        if (piece === undefined) this.#end()
        else this.#came(piece)
      },
      reject: () => void this.#follow()
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
  }

  #came(piece: string | Uint8Array): void {
    const text = this.#begun + (typeof piece === "string" ? piece : this.#decoder.decode(piece, { stream: true }))
    const end = text.lastIndexOf("\n\n") + 1
    const whole = end === 0 ? 0 : end + 1
    this.#begun = text.slice(whole)
    const frames = this.#following.splice.push(text.slice(0, whole))
    if (frames === "") this.#stream.ask(this.#own)
    else this.#take()?.resolve(frames)
  }

  /** FOLLOWED1 */
  async #follow(): Promise<void> {
    if (this.#isOver) return
    this.#begun = ""
    this.#decoder = new TextDecoder()
    try {
      this.#stream = await this.#following.next()
    } catch {
      this.#last = this.#following.splice.failed()
      this.#isOver = true
    }
    if (this.#last !== undefined) this.#end()
    else if (this.#isOver) this.#stream.cancel()
    else this.#stream.ask(this.#own)
  }

  #take(): Question | undefined {
    const question = this.#question
    this.#question = undefined
    return question
  }

  #end(): void {
    const last = this.#last
    this.#last = undefined
    this.#isOver = true
    this.#take()?.resolve(last)
  }
}
