/**
 * The open streams of a server, and their common heartbeat.
 *
 * PULSE1. While any stream is open exactly one timer runs; without streams there is none.
 */
import type { Clock } from "@troupe/otp"
import type { FrameStream } from "./frameStream.ts"

/** The interval of the heartbeat for clients. After three quiet intervals a stream gets a comment. */
const clientBeatMs = 5_000

/** The interval of the heartbeat for other nodes: a quiet stream gets a comment each second. */
export const nodeBeatMs = 333

export class OpenStreams {
  readonly #clock: Clock.Clock
  readonly #beatMs: number
  readonly #open = new Set<FrameStream>()
  #timer: unknown

  constructor(clock: Clock.Clock, beatMs = clientBeatMs) {
    this.#clock = clock
    this.#beatMs = beatMs
  }

  get size(): number {
    return this.#open.size
  }

  add(stream: FrameStream): void {
    this.#open.add(stream)
    this.#timer ??= this.#clock.setTimeout(this.#beat, this.#beatMs)
  }

  delete(stream: FrameStream): void {
    this.#open.delete(stream)
    if (this.#open.size > 0 || this.#timer === undefined) return
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Ends the streams, or only those that have no end of their own. */
  close(which: "all" | "endless" = "all"): void {
    for (const stream of Array.from(this.#open)) if (which === "all" || stream.isEndless) stream.close()
  }

  readonly #beat = (): void => {
    this.#timer = this.#clock.setTimeout(this.#beat, this.#beatMs)
    for (const stream of this.#open) stream.beat()
  }
}
