/**
 * Converts any failure of a provider's package to one `AdapterError`: rejections of its call, exceptions of its stream, and
 * `error` parts.
 *
 * @module
 */
import { AdapterError } from "@troupe/chat/errors"
import { type ErrorFacts, factsOf } from "./errorFacts.ts"

/** The error as an `AdapterError`; an `AdapterError` is returned unchanged. */
export const adapterError = (error: unknown, provider: string): AdapterError => {
  if (error instanceof AdapterError) return error
  const facts = factsOf(error)
  const waitMs = retryAfterMs(facts.headers)
  const wait = waitMs === undefined ? "" : `; it asks to wait ${Math.ceil(waitMs / 1_000)} s`
  return new AdapterError(reasonOf(facts), {
    provider,
    cause: error,
    status: facts.status,
    retryAfterMs: waitMs,
    requestId: facts.headers["x-request-id"] ?? facts.headers["request-id"],
    ...(facts.message === "" ? {} : { message: `The model request failed (${provider}): ${facts.message}${wait}` }),
    ...(facts.code === undefined ? {} : { metadata: { code: facts.code } })
  })
}

/** The error of a stream that ended before its provider had finished. */
export const unfinished = (provider: string): AdapterError =>
  new AdapterError("malformed_response", {
    provider,
    message: `The model request failed (${provider}): the reply was cut off before its end; ask again`
  })

/** The error of a stream that ended before its first content. Nothing of a reply was read, so the request may be sent again. */
export const unbegun = (provider: string): AdapterError =>
  new AdapterError("provider_unavailable", {
    provider,
    message: `The model request failed (${provider}): the reply ended before its first content; ask again`
  })

type AdapterErrorReason = AdapterError["reason"]

const reasonOf = (facts: ErrorFacts): AdapterErrorReason => {
  const said = `${facts.words} ${facts.message}`
  if (facts.status !== undefined) return reasonOfStatus(facts.status, said)
  const named = facts.names.map((name) => reasonsByName[name]).find((reason) => reason !== undefined)
  return named ?? reasonOfWords(facts.words, said) ?? "unknown"
}

const reasonOfStatus = (status: number, said: string): AdapterErrorReason => {
  switch (status) {
    case 400:
    case 413:
    case 422:
      if (tooLong.test(said)) return "context_length_exceeded"
      return filtered.test(said) ? "content_filter" : "invalid_request"
    case 401:
    case 403:
      return "authentication_failed"
    case 408:
      return "timeout"
    case 429:
      return "rate_limited"
    default:
      return status >= 500 ? "provider_unavailable" : "unknown"
  }
}

/** The reason for the codes and types that providers put into error objects without a status. */
const reasonOfWords = (words: string, said: string): AdapterErrorReason | undefined => {
  const status = /(?:^| )([45]\d\d)(?: |$)/.exec(words)?.[1]
  if (status !== undefined) return reasonOfStatus(Number(status), said)
  if (words.trim() === "") return undefined
  if (tooLong.test(said)) return "context_length_exceeded"
  if (filtered.test(words)) return "content_filter"
  return reasonsByWord.find(([pattern]) => pattern.test(words))?.[1]
}

const tooLong =
  /context[ _-]?(length|window)|maximum context|prompt is too long|too many (input )?tokens|input token count|token limit/i
const filtered = /content[ _-]?(filter|policy|management)|responsible_?ai/i

const reasonsByWord: ReadonlyArray<readonly [RegExp, AdapterErrorReason]> = [
  [/rate.?limit|quota|resource_exhausted|too_many_requests/i, "rate_limited"],
  [/auth|permission|api_key|forbidden|billing/i, "authentication_failed"],
  [/timeout|timed.?out|deadline|ETIMEDOUT/i, "timeout"],
  [/overload|unavailable|server_error|api_error|internal|capacity/i, "provider_unavailable"],
  [/\b(ECONN|EPIPE|ENOTFOUND|EAI_|EHOST|ENET|UND_ERR|ERR_SSL|ERR_STREAM)/, "network_error"],
  [/invalid|bad_request|not_found|too_large|unprocessable/i, "invalid_request"]
]

/** Error classes by name: of the AI SDK, of `fetch`, and of the platform. */
const reasonsByName: Readonly<Record<string, AdapterErrorReason>> = {
  AI_JSONParseError: "malformed_response",
  AI_TypeValidationError: "malformed_response",
  AI_InvalidResponseDataError: "malformed_response",
  AI_EmptyResponseBodyError: "provider_unavailable",
  AI_NoContentGeneratedError: "malformed_response",
  AI_UnsupportedFunctionalityError: "unsupported_feature",
  AI_InvalidPromptError: "invalid_request",
  AI_InvalidArgumentError: "invalid_request",
  AI_NoSuchModelError: "invalid_request",
  AI_LoadAPIKeyError: "authentication_failed",
  AI_LoadSettingError: "invalid_request",
  TimeoutError: "timeout",
  HeadersTimeoutError: "timeout",
  BodyTimeoutError: "timeout",
  ConnectTimeoutError: "timeout",
  AbortError: "network_error",
  SocketError: "network_error",
  FetchFailed: "network_error"
}

/** The provider's retry delay; a date is compared with the response's own clock. */
const retryAfterMs = (headers: Readonly<Record<string, string>>): number | undefined => {
  const milliseconds = Number(headers["retry-after-ms"] ?? Number.NaN)
  if (Number.isFinite(milliseconds)) return Math.max(0, milliseconds)
  const said = headers["retry-after"]
  if (said === undefined) return undefined
  const seconds = Number(said)
  const waits = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(said) - Date.parse(headers["date"] ?? "")
  return Number.isFinite(waits) ? Math.max(0, Math.round(waits)) : undefined
}
