/**
 * Converts any failure of a provider's package to one `AdapterError`: rejections of its call, exceptions of its stream, and
 * `error` parts. The error may be of an error class of the AI SDK, of `fetch`, or the error object in a provider's stream.
 *
 * @module
 */
import { AdapterError } from "@troupe/chat/errors"

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
  const text = `${facts.words} ${facts.message}`
  if (facts.status !== undefined) return reasonOfStatus(facts.status, text)
  const named = facts.names.map((name) => reasonsByName[name]).find((reason) => reason !== undefined)
  return named ?? reasonOfWords(facts.words, text) ?? "unknown"
}

const reasonOfStatus = (status: number, text: string): AdapterErrorReason => {
  switch (status) {
    case 400:
    case 413:
    case 422:
      if (tooLong.test(text)) return "context_length_exceeded"
      return filtered.test(text) ? "content_filter" : "invalid_request"
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
const reasonOfWords = (words: string, text: string): AdapterErrorReason | undefined => {
  const status = /(?:^| )([45]\d\d)(?: |$)/.exec(words)?.[1]
  if (status !== undefined) return reasonOfStatus(Number(status), text)
  if (words.trim() === "") return undefined
  if (tooLong.test(text)) return "context_length_exceeded"
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
  const header = headers["retry-after"]
  if (header === undefined) return undefined
  const seconds = Number(header)
  const waits = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.parse(headers["date"] ?? "")
  return Number.isFinite(waits) ? Math.max(0, Math.round(waits)) : undefined
}

/**
 * The facts of one error.
 *
 * - `code`: the provider's code, a word or a number
 * - `words`: every code, type and status of the provider's own error object, for errors without an HTTP status
 * - `names`: class names along its causes, outermost first; none when it contains the provider's own error object
 */
interface ErrorFacts {
  readonly message: string
  readonly status: number | undefined
  readonly code: string | undefined
  readonly words: string
  readonly headers: Readonly<Record<string, string>>
  readonly names: ReadonlyArray<string>
}

/** Reads the facts of an error. */
const factsOf = (error: unknown): ErrorFacts => {
  const chain = causes(error)
  const frame = frameOf(error)
  const records = frame === undefined ? chain : [frame, ...chain]
  const first = <A>(read: (record: Record<string, unknown>) => A | undefined): A | undefined => {
    for (const record of records) {
      const found = read(record)
      if (found !== undefined) return found
    }
    return undefined
  }
  return {
    message: typeof error === "string" ? error : (first((record) => textOf(record["message"])) ?? ""),
    status: first(statusOf),
    code: first(codeOf),
    words: records.flatMap(({ code, type, status }) => [code, type, status].map(textOf)).join(" "),
    headers: first(headersOf) ?? {},
    names: frame === undefined ? chain.map(nameOf) : []
  }
}

/** The error object inside a response body, or inside a stream chunk that fits no schema of the provider's package. */
const frameOf = (error: unknown): Record<string, unknown> | undefined => {
  if (!isRecord(error)) return undefined
  const body = [error["data"], error["value"], error["error"]].find(isRecord)
  if (body === undefined) return undefined
  const inner = body["error"] ?? body["detail"]
  if (isRecord(inner)) return inner
  const isFrame = typeof body["message"] === "string" && (codeOf(body) !== undefined || statusOf(body) !== undefined)
  return isFrame ? body : undefined
}

const causes = (error: unknown): ReadonlyArray<Record<string, unknown>> => {
  const found: Array<Record<string, unknown>> = []
  let at: unknown = error
  while (isRecord(at) && found.length < 8 && !found.includes(at)) {
    found.push(at)
    at = at["cause"]
  }
  return found
}

const nameOf = (record: Record<string, unknown>): string => {
  const name = textOf(record["name"]) ?? ""
  const lostConnection = name === "TypeError" && /fetch failed|terminated|network/i.test(String(record["message"]))
  return lostConnection || /^cannot connect to api/i.test(String(record["message"])) ? "FetchFailed" : name
}

const statusOf = (record: Record<string, unknown>): number | undefined =>
  [record["statusCode"], record["status"], record["code"]].find(
    (value): value is number => typeof value === "number" && value >= 400 && value <= 599
  )

/** A specific code takes precedence over a type that is only a category. */
const codeOf = (record: Record<string, unknown>): string | undefined => {
  const { code, type, status } = record
  if (typeof code === "number") return String(code)
  const categories = ["error", "response.failed"]
  return [code, type, status].map(textOf).find((text) => text !== undefined && !categories.includes(text))
}

const headersOf = (record: Record<string, unknown>): Record<string, string> | undefined => {
  const headers = record["responseHeaders"]
  if (!isRecord(headers)) return undefined
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null
