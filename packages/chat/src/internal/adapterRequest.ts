/**
 * One model request from its opening to its release.
 *
 * Owns: the abort signal, the opening under way, the open stream. Does not own the phases (`AdapterStreamMachine`).
 *
 * REQ1. Exactly one of `refused` and `opened` is called, and `exhausted` only after `opened`; none after `release`.
 * REQ2. `release` aborts the signal and lets go of the stream, once; a stream that opens later is let go as it comes.
 * REQ3. The outlet knows that something is held until it is let go, so that a reader who leaves can wait for it.
 */
import type { Adapter } from "../Adapter.ts"
import type { AdapterEvent } from "../Event.ts"
import type { Request } from "../Request.ts"
import type { StreamCollector } from "../StreamCollector.ts"
import { adapterOptions, AdapterSource } from "./adapterSource.ts"
import { isPromiseLike } from "./awaitable.ts"
import { LazyAbort } from "./lazyAbort.ts"
import type { Outlet } from "./outlet.ts"
import type { RunOptions } from "./resolveOptions.ts"

/** What a request works with. */
export interface RequestParts {
  readonly adapter: Adapter
  readonly request: Request
  readonly options: RunOptions
  readonly collector: StreamCollector
  readonly outlet: Outlet
}

/** Told of a request's phases (REQ1). */
export interface RequestListener {
  readonly opened: () => void
  readonly refused: (error: unknown) => void
  readonly exhausted: () => void
}

/** A model request. */
export class AdapterRequest {
  readonly #parts: RequestParts
  readonly #listener: RequestListener
  readonly #abort = new LazyAbort()
  #source: AdapterSource | undefined
  #released = false
  #letGo: (() => void) | undefined

  constructor(parts: RequestParts, listener: RequestListener) {
    this.#parts = parts
    this.#listener = listener
  }

  open(): void {
    const { adapter, request, options } = this.#parts
    let opening: AsyncIterable<AdapterEvent> | Promise<AsyncIterable<AdapterEvent>>
    try {
      opening = adapter.stream(request, adapterOptions(options, this.#abort))
    } catch (error) {
      return this.#listener.refused(error)
    }
    if (!isPromiseLike(opening)) return this.#opened(opening)
    this.#letGo = this.#parts.outlet.hold()
    Promise.resolve(opening).then(
      (stream) => this.#opened(stream),
      (error: unknown) => {
        this.#free()
        if (!this.#released) this.#listener.refused(error)
      }
    )
  }

  release(): void {
    if (this.#released) return
    this.#released = true
    this.#abort.abort()
    void this.#source?.release().then(() => this.#free())
  }

  #opened(stream: AsyncIterable<AdapterEvent>): void {
    const { collector, options, outlet } = this.#parts
    let source: AdapterSource
    try {
      source = new AdapterSource(stream, collector, options, this.#abort, () => {
        this.#free()
        this.#listener.exhausted()
      })
    } catch (error) {
      this.#free()
      if (!this.#released) this.#listener.refused(error)
      return
    }
    this.#letGo ??= outlet.hold()
    this.#source = source
    if (this.#released) return void source.release().then(() => this.#free())
    this.#listener.opened()
    outlet.attach(source)
  }

  #free(): void {
    this.#letGo?.()
    this.#letGo = undefined
  }
}
