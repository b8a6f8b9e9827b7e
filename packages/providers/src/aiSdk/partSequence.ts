/**
 * The events of one open model stream, pulled one at a time.
 *
 * Owns: the stream's reader, the abort controller of the request and the one listener on the caller's signal. Does not
 * own the meaning of parts; the {@link PartReader} does.
 *
 * SEQ1. A part is read only when an event is requested and none is left of the previous part.
 * SEQ2. The transport is released once: at the stream's end, by `return`, or by the caller's signal, whichever is first.
 *       After that there is neither a listener nor a lock.
 * SEQ3. Leaving early discards the remaining events, aborts the request and cancels the stream, each once. At the stream's
 *       end none of that is done.
 * SEQ4. An abort is not an error: the sequence ends, and a pending read ends with it.
 * SEQ5. A failure before the first content is thrown in place of the first event, so that the retries and the fallbacks of the
 *       request apply. The transport is released first, as when the reader leaves early.
 *
 * The race of an abort with a pending read: (1) the signal fires while `next` waits for a part; (2) `#leave` closes the
 * channel, which ends the waiting `next`, then aborts and cancels; (3) the read settles later, finds the transport released, and its part or
 * error is discarded.
 */
import { AdapterError } from "@troupe/chat/errors"
import type { AdapterEvent } from "@troupe/chat/events"
import { Channel } from "@troupe/otp"
import { type About, PartReader } from "./partReader.ts"
import type { StreamPart } from "./replyParts.ts"

type Result = IteratorResult<AdapterEvent, undefined>

/** Reads a stream of parts as events. `abort` aborts the request the stream belongs to. */
export class PartSequence extends Channel.Reader<AdapterEvent> {
  readonly #stream: ReadableStreamDefaultReader<StreamPart>
  readonly #parts: PartReader
  readonly #signal: AbortSignal
  readonly #abort: () => void
  readonly #onAbort = (): void => this.#leave()
  readonly #events = new Channel.Channel<AdapterEvent>({ onDemand: () => void this.#pull() })
  #isPulling = false
  #released = false

  constructor(stream: ReadableStream<StreamPart>, about: About, signal: AbortSignal, abort: () => void) {
    super()
    this.#stream = stream.getReader()
    this.#parts = new PartReader(about, (event) => this.#events.push(event))
    this.#signal = signal
    this.#abort = abort
    if (signal.aborted) this.#leave()
    else signal.addEventListener("abort", this.#onAbort, { once: true })
  }

  next(): Promise<Result> {
    return this.#events.next()
  }

  return(): Promise<Result> {
    this.#leave()
    return this.#events.return()
  }

  /** Reads parts until no read waits. */
  async #pull(): Promise<void> {
    if (this.#isPulling) return
    this.#isPulling = true
    while (this.#events.isAwaited) {
      try {
        const { done: isEnd, value } = await this.#stream.read()
        if (this.#released) return
        if (isEnd) this.#exhaust()
        else this.#read(value)
      } catch (error) {
        if (this.#released) return
        this.#parts.fail(error)
        this.#cancel()
      }
    }
    this.#isPulling = false
  }

  /** A part that cannot be read ends the stream: later parts would give wrong events. */
  #read(part: StreamPart): void {
    try {
      this.#parts.read(part)
      if (this.#parts.isOver) this.#cancel()
    } catch (error) {
      this.#parts.fail(new AdapterError("malformed_response", { message: "A stream part is malformed", cause: error }))
      this.#cancel()
    }
  }

  #cancel(): void {
    this.#abort()
    this.#stream.cancel().catch(() => {})
    this.#exhaust()
  }

  #exhaust(): void {
    this.#release()
    this.#parts.end()
    const { refusal } = this.#parts
    if (refusal === undefined) this.#events.end()
    else this.#events.fail(refusal)
  }

  #leave(): void {
    this.#events.close()
    if (this.#released) return
    this.#abort()
    this.#stream.cancel().catch(() => {})
    this.#release()
  }

  #release(): void {
    this.#released = true
    this.#signal.removeEventListener("abort", this.#onAbort)
    this.#stream.releaseLock()
  }
}
