/**
 * The port to a model.
 *
 * @module
 * @source ALLM.StreamAdapter
 */
import type { AdapterEvent } from "../events/index.ts"
import type { Request } from "../model/index.ts"

/**
 * What an adapter is told beside the request.
 *
 * **Details**: `signal` is aborted when nobody waits for the rest any more (cancel, timeout, reader gone); it is made on
 * first use. `adapterOptions` are the engine's, overlaid by the call's.
 */
export interface AdapterOptions {
  readonly signal: AbortSignal
  readonly requestId: string
  readonly includeRawChunks: boolean
  readonly adapterOptions: Readonly<Record<string, unknown>>
}

/**
 * Talks to a model.
 *
 * **Contract** of `stream`: open the request and return its events, to be pulled one at a time. Reject with an
 * `AdapterError` when it cannot be opened; once open, say failures as `error` events and end with one
 * `message_completed`. The sequence starts with one `message_started`. A text that starts with a `text_delta`, also an empty
 * one, is completed by one `text_completed` (TEXT1). The finish reason of a reply is `tool_calls` only when the provider waits
 * for the results of its calls. Yield adapter events only, and none but `raw_chunk` and `error` after `message_completed`: any
 * other event ends the request with an `AdapterError` (`malformed_response`). So does the 1,001st value that is no event at all.
 * When the sequence's `return` is called or the signal is aborted, release the transport, once, and never
 * reject because of it.
 *
 * **Concurrency**: `stream` may be called many times at once; one sequence has one reader.
 */
export interface Adapter {
  readonly name: string
  readonly stream: (
    request: Request,
    options: AdapterOptions
  ) => AsyncIterable<AdapterEvent> | Promise<AsyncIterable<AdapterEvent>>
}
