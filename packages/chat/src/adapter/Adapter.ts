/**
 * The port to a model.
 *
 * @module
 * @source ALLM.StreamAdapter
 */
import type { AdapterStream } from "./adapterStream.ts"
import type { Request } from "../model/index.ts"

export { eventsOf } from "./adapterStream.ts"

/** The options of an adapter, beside the request. */
export interface AdapterOptions {
  /**
   * Aborted when the rest of the reply is not needed: after a cancel, a timeout, or when the reader has left. It is created on
   * first use.
   */
  readonly signal: AbortSignal
  /** The id of the run that the request is for. */
  readonly requestId: string
  /** Whether the adapter sends `raw_chunk` events with the parts of the provider. */
  readonly includeRawChunks: boolean
  /** The options of the engine for its adapter, overridden by those of the call. */
  readonly adapterOptions: Readonly<Record<string, unknown>>
  /**
   * The option of that name, in characters. A call with larger arguments never runs, so that an adapter may end the reply there. Default:
   * no bound.
   */
  readonly maxToolArgumentCharacters?: number | undefined
}

/**
 * Talks to a model.
 *
 * **Contract** of `stream`: open the request and return its events, to be pulled one at a time. An element of the
 * sequence is one event, or an array of events that are ready at once: Troupe takes the events of an array one by one, and
 * asks for the next element after the last of them. Do not change a yielded array. Reject with an `AdapterError` when the
 * request cannot be opened. Throw one in place of the first event when the request fails before its first content: then
 * it is sent again, or to a fallback. Later, report failures as `error` events and end with one
 * `message_completed`. The sequence starts with one `message_started`. A text that starts with a `text_delta`, even an
 * empty one, is completed by one `text_completed`. When a reply is more than a text and its calls, the `message` of
 * `message_completed` has its `parts` in their order; its reasoning also streams as `reasoning_delta` events. Each call of a reply has an
 * id of its own: of two completed calls with one id, the last replaces the first. A completed call
 * with `metadata.approval` is the provider's question whether it may run the call itself; its result has the outcome `completed` only if a
 * person or the permissions allow it. The finish reason of a reply is `tool_calls` only when the
 * provider waits for the results of its calls. Yield adapter events only, and after `message_completed` only
 * `raw_chunk` and `error`: any other event ends the request with an `AdapterError` (`malformed_response`). So does the
 * 1,001st value that is not an event. When the sequence's `return` is called or the signal is aborted, release the
 * transport exactly once, and do not reject.
 *
 * **Errors**: an empty array is a value that is not an event, and so is an array within an array.
 *
 * **Concurrency**: `stream` may be called many times at once; one sequence has one reader.
 */
export interface Adapter {
  /** Shown in errors and reports. */
  readonly name: string
  /** The provider's name in traces and prices, for example `openai` or `openai.responses`. Default: `name`. */
  readonly provider?: string | undefined
  /** The name of the model, if the adapter has only one. */
  readonly model?: string | undefined
  /** Opens a request and returns its events, to be pulled one at a time, as the contract says. */
  readonly stream: (request: Request, options: AdapterOptions) => AdapterStream | Promise<AdapterStream>
}
