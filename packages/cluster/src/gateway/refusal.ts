/** Refusals and failures of other nodes, as errors for the client. */
import { HttpError, isErrorCode } from "@troupe/server/HttpError"
import { ClusterError } from "../placement/index.ts"

/** Reads the JSON form of a refusal. */
export const httpErrorOf = (json: unknown): HttpError => {
  const error = fieldOf(json, "error")
  const code = fieldOf(error, "code")
  const retryAfterMs = fieldOf(error, "retryAfterMs")
  return new HttpError(isErrorCode(code) ? code : "internal", String(fieldOf(error, "message")), {
    retryAfterMs: typeof retryAfterMs === "number" ? retryAfterMs : undefined
  })
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined

/** The error for the client of a request that another node has not answered. */
export const refusalOf = (cause: unknown): unknown => {
  if (!(cause instanceof ClusterError)) return cause
  if (cause.reason === "stopped")
    return new HttpError("troupe_stopped", "This server has stopped; ask again", { cause, retryAfterMs: 1_000 })
  if (cause.reason !== "silent") return cause
  return new HttpError(
    "home_silent",
    "The conversation's server gave no answer; whether it processed the request is not known. Send a message again under the same id",
    { cause, retryAfterMs: 1_000, headers: HttpError.noResend }
  )
}
