/**
 * The open streams of a server, and their common heartbeat.
 *
 * PULSE1. While any stream is open exactly one timer runs; without streams there is none.
 */
import type { Clock } from "@troupe/otp"
import type { FrameStream } from "./frameStream.ts"

/** The interval of the heartbeat. After three quiet intervals a stream gets a comment. */
const beatMs = 5_000

export class OpenStreams {
  readonly #clock: Clock.Clock
  readonly #open = new Set<FrameStream>()
  #timer: unknown

  constructor(clock: Clock.Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#open.size
  }

  add(stream: FrameStream): void {
    this.#open.add(stream)
    this.#timer ??= this.#clock.setTimeout(this.#beat, beatMs)
  }

  delete(stream: FrameStream): void {
    this.#open.delete(stream)
    if (this.#open.size > 0 || this.#timer === undefined) return
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  close(): void {
    for (const stream of Array.from(this.#open)) stream.close()
  }

  readonly #beat = (): void => {
    this.#timer = this.#clock.setTimeout(this.#beat, beatMs)
    for (const stream of this.#open) stream.beat()
  }
}
