/**
 * Retries of a model request: whether a failed request is sent again, and after which delay (exponential backoff).
 *
 * A request is retried only before its first event. A later failure belongs to the reply. The delay is a state of the
 * request's chart (`AdapterStreamMachine`, `waiting`), on the clock of its system.
 *
 * Implemented in `retryPolicy.ts` (the policy and the delays) and `../request/adapterRequest.ts` (the attempts).
 *
 * RETRY1. One policy decides, in one place: a step counts as one request, however often it was sent.
 * RETRY2. Only an `AdapterError` is retried, and only for the reasons the policy lists. Any other error is final.
 * RETRY3. When the provider asks for a delay, that delay is used, even above `maxDelayMs`.
 * RETRY4. When the provider asks for a delay above `maxRetryAfterMs`, the request is not retried. The next fallback gets it;
 *         without one, it fails with that delay in its error.
 * RETRY5. A wait of more than a second is a `request_delayed` event, and in the snapshot and the view of a chat with its end.
 *
 * @module
 * @source ALLM.Retry
 */
export { defaults, RetryOptions } from "./retryPolicy.ts"
