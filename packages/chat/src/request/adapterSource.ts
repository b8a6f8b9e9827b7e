/**
 * An adapter's stream as a source of events.
 *
 * Owns: the iterator, the rest of the array that it yielded, the abort signal of the request, the filters. Does not own the collector of its events.
 *
 * ASRC1. Every event gets the cost of its usage, is added to the collector, then passed to `onEvent`, then filtered.
 * ASRC2. The transport is released once: at its end, after an event that cannot be read, or by `release`. The latter two
 *        abort the signal and call the iterator's `return` without waiting for a pending `next`.
 * ASRC3. An exception of the iterator, and an end without `message_completed`, become an `error` event, and the end. An
 *        `AdapterError` thrown in place of the first event is not an event yet: the owner of the request is notified, and
 *        may turn it into one (`fail`).
 * ASRC8. The events of an array pass one by one, each for one pull and with the same checks. The iterator is pulled again
 *        after the last of them. When the stream ends before, then the rest is discarded.
 * ASRC9. After an `error` event, the next event of content (text, reasoning, a call) is discarded, and the transport is released as
 *        after an event that cannot be read: such a reply cannot become whole. `message_completed` with its usage, `raw_chunk` and
 *        `error` still pass.
 */
import type { AdapterOptions, AdapterStream, Yielded } from "../adapter/index.ts"
import { AdapterError, type PreflightError, StreamError } from "../errors/index.ts"
import {
  type AdapterEvent,
  type MessageCompleted,
  type Outlet,
  type Source,
  storableEvent,
  type StreamCollector
} from "../events/index.ts"
import { isPromiseLike, type LazyAbortController, IdleTimeout } from "../async/index.ts"
import { ReplyBounds } from "./replyBounds.ts"
import type { RequestCost } from "./requestCost.ts"
import type { RunOptions } from "../options/index.ts"
import type { AssistantMessage } from "../model/index.ts"
import { describe } from "../values/index.ts"

/** The callbacks for the first event, and for an end of the stream without an event. */
export interface SourceListener {
  /** The first event was read. */
  readonly begun?: () => void
  readonly done: () => void
  readonly refused: (error: AdapterError) => void
}

/** One open model request. */
export class AdapterSource implements Source {
  readonly #iterator: AsyncIterator<Yielded>
  readonly #collector: StreamCollector
  readonly #options: RunOptions
  readonly #abort: LazyAbortController
  readonly #listener: SourceListener
  readonly #bounds: ReplyBounds
  readonly #cost: RequestCost | undefined
  #outlet: Outlet | undefined
  #state: "live" | "over" | "released" = "live"
  #begun = false
  /** The array that is not read to its end, and the place of its next event (ASRC8). */
  #several: ReadonlyArray<AdapterEvent> | undefined
  #place = 0
  readonly #silence: IdleTimeout

  constructor(
    stream: AdapterStream,
    collector: StreamCollector,
    options: RunOptions,
    abort: LazyAbortController,
    listener: SourceListener,
    cost?: RequestCost
  ) {
    this.#cost = cost
    this.#iterator = stream[Symbol.asyncIterator]()
    this.#collector = collector
    this.#options = options
    this.#abort = abort
    this.#listener = listener
    this.#bounds = new ReplyBounds(options)
    this.#silence = new IdleTimeout(options.system.clock, options.streamIdleTimeoutMs, (error) => {
      this.#onThrow(error)
      void this.#returnIterator()
    })
  }

  pull(outlet: Outlet): void {
    this.#outlet = outlet
    if (this.#state !== "live") return outlet.exhaust(this)
    if (this.#several !== undefined) return this.#onArray(outlet)
    this.#silence.asked()
    try {
      this.#iterator.next().then(this.#onResult, this.#onThrow)
    } catch (error) {
      this.#onThrow(error)
    }
  }

  exhausted(): void {
    this.#listener.done()
  }

  /** Releases the transport (ASRC2); resolves when the iterator has ended, and never rejects. */
  async release(): Promise<void> {
    if (this.#state !== "live") return
    this.#end("released")
    this.#outlet?.detach(this)
    this.#abort.abort()
    await this.#returnIterator()
  }

  async #returnIterator(): Promise<void> {
    try {
      await this.#iterator.return?.()
    } catch {
      // An iterator must not throw here, and no caller is left to notify.
    }
  }

  #end(state: "over" | "released"): void {
    this.#state = state
    this.#several = undefined
    this.#silence.end()
  }

  readonly #onResult = (result: IteratorResult<Yielded>): void => {
    const outlet = this.#outlet
    if (outlet === undefined || this.#state !== "live") return
    this.#silence.answered()
    let value: unknown
    try {
      if (result.done === true) return this.#onEnd(outlet)
      value = result.value
      // The event that the adapter yielded, or the first of several. An empty array is no event.
      if (Array.isArray(value) && value.length > 0) {
        this.#several = value as ReadonlyArray<AdapterEvent>
        this.#place = 0
        value = this.#nextOfArray()
      }
    } catch (thrown) {
      return this.#onUnreadable(thrown)
    }
    this.#handle(outlet, value)
  }

  #onArray(outlet: Outlet): void {
    let value: unknown
    try {
      value = this.#nextOfArray()
    } catch (thrown) {
      return this.#onUnreadable(thrown)
    }
    this.#handle(outlet, value)
  }

  /** Ends a reply that has failed, and whose adapter goes on (ASRC9). */
  #onLost(outlet: Outlet): void {
    this.#end("over")
    this.#abort.abort()
    void this.#returnIterator()
    outlet.exhaust(this)
  }

  #onUnreadable(thrown: unknown): void {
    this.#onThrow(thrown)
    void this.#returnIterator()
  }

  #handle(outlet: Outlet, value: unknown): void {
    let event: AdapterEvent
    let passes: boolean
    try {
      const reading = this.#bounds.read(value)
      if (reading === undefined) return outlet.skip(this)
      if (!this.#begun) this.#listener.begun?.()
      this.#begun = true
      if (reading instanceof AdapterError) throw reading
      if (this.#collector.failed && isContent(reading)) return this.#onLost(outlet)
      event = storableEvent(reading, this.#options.maxToolArgumentCharacters)
      if (event.type === "message_completed" && this.#options.blobs !== undefined) {
        event = withReferences(event, this.#options.blobs)
      }
      if (this.#cost !== undefined) event = this.#cost.priced(event)
      this.#collector.apply(event)
      passes = this.#passes(event)
    } catch (thrown) {
      return this.#onUnreadable(thrown)
    }
    if (this.#options.onEvent !== undefined && !this.#observed(event, outlet, this.#options.onEvent)) return
    if (passes) outlet.emit(this, event)
    else outlet.skip(this)
  }

  #nextOfArray(): unknown {
    const several = this.#several
    const event: unknown = several?.[this.#place]
    this.#place++
    if (several === undefined || this.#place >= several.length) this.#several = undefined
    return event
  }

  #onEnd(outlet: Outlet): void {
    if (!this.#collector.completed && !this.#collector.failed) {
      return this.fail(
        new StreamError("adapter_error", { message: "The adapter's stream ended without message_completed" })
      )
    }
    this.#end("over")
    outlet.exhaust(this)
  }

  /** Passes the event to `onEvent`; its exceptions and rejections are rethrown to the reader. */
  #observed(event: AdapterEvent, outlet: Outlet, onEvent: NonNullable<RunOptions["onEvent"]>): boolean {
    try {
      const returned: unknown = onEvent(event)
      if (isPromiseLike(returned)) failIfRejected(outlet, returned)
      return true
    } catch (error) {
      outlet.fail(error)
      return false
    }
  }

  readonly #onThrow = (thrown: unknown): void => {
    if (this.#state !== "live") return
    if (!this.#begun && thrown instanceof AdapterError) {
      this.#end("over")
      this.#abort.abort()
      return this.#listener.refused(thrown)
    }
    this.fail(
      thrown instanceof AdapterError || thrown instanceof StreamError
        ? thrown
        : new StreamError("adapter_error", {
            cause: thrown,
            message: `The adapter's stream threw: ${describe(thrown)}`
          })
    )
  }

  /** Emits an `error` event, and ends the stream. */
  fail(error: PreflightError | StreamError): void {
    if (this.#state === "released") return
    this.#end("over")
    this.#abort.abort()
    this.#collector.fail(error)
    this.#outlet?.emit(this, { type: "error", error })
  }

  #passes(event: AdapterEvent): boolean {
    switch (event.type) {
      case "text_delta":
      case "reasoning_delta":
        return this.#options.emitTextDeltas !== false
      case "tool_call_delta":
        return this.#options.emitToolDeltas !== false
      case "raw_chunk":
        return this.#options.includeRawChunks === true || isUsage(event.chunk)
      default:
        return true
    }
  }
}

/** BLOBREF2 */
const withReferences = (event: MessageCompleted, blobs: NonNullable<RunOptions["blobs"]>): MessageCompleted => {
  const message = event.message as AssistantMessage | undefined
  if (message?.parts === undefined) return event
  const parts = blobs.kept(message.parts)
  return parts === message.parts ? event : { ...event, message: { ...message, parts } }
}

const isContent = ({ type }: AdapterEvent): boolean =>
  type === "text_delta" || type === "reasoning_delta" || type.startsWith("tool_call_")

const failIfRejected = (outlet: Outlet, returned: PromiseLike<unknown>): void =>
  void Promise.resolve(returned).catch((error: unknown) => outlet.fail(error))

const isUsage = (chunk: unknown): boolean =>
  typeof chunk === "object" && chunk !== null && (chunk as { readonly type?: unknown }).type === "usage"

/** The options of the adapter; its signal is created on first use. */
class PassedToAdapter implements AdapterOptions {
  /** One descriptor for all: objects with the same getter share their layout. */
  static readonly #signal: PropertyDescriptor & ThisType<PassedToAdapter> = {
    enumerable: true,
    get() {
      return this.#abort.signal
    }
  }
  declare readonly signal: AbortSignal
  readonly requestId: string
  readonly includeRawChunks: boolean
  readonly adapterOptions: AdapterOptions["adapterOptions"]
  readonly maxToolArgumentCharacters: number
  readonly #abort: LazyAbortController

  constructor(options: RunOptions, abort: LazyAbortController) {
    const { requestId, includeRawChunks, adapterOptions: given, maxToolArgumentCharacters } = options
    this.#abort = abort
    this.requestId = requestId
    this.includeRawChunks = includeRawChunks === true
    this.adapterOptions = given
    this.maxToolArgumentCharacters = maxToolArgumentCharacters
    Object.defineProperty(this, "signal", PassedToAdapter.#signal)
  }
}

/** The options of the adapter for one request. */
export const adapterOptions = (options: RunOptions, abort: LazyAbortController): AdapterOptions =>
  new PassedToAdapter(options, abort)
