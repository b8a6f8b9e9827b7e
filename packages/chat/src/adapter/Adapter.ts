/**
 * The port to a model.
 *
 * @module
 * @source ALLM.StreamAdapter
 */
import type { AdapterEvent } from "../events/index.ts"
import type { Request } from "../model/index.ts"

/**
 * The options of an adapter, beside the request.
 *
 * **Details**: `signal` is created on first use. It is aborted when the rest of the reply is not needed (cancel, timeout,
 * reader gone). `adapterOptions` are the engine's, overridden by the call's.
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
 * `AdapterError` when it cannot be opened. Once open, report failures as `error` events and end with one
 * `message_completed`. The sequence starts with one `message_started`. A text that starts with a `text_delta`, even an
 * empty one, is completed by one `text_completed` (TEXT1). The finish reason of a reply is `tool_calls` only when the
 * provider waits for the results of its calls. Yield adapter events only, and after `message_completed` only
 * `raw_chunk` and `error`: any other event ends the request with an `AdapterError` (`malformed_response`). So does the
 * 1,001st value that is not an event. When the sequence's `return` is called or the signal is aborted, release the
 * transport exactly once, and do not reject.
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
