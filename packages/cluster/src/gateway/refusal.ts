/** The refusal of another node, as the error that it was there. */
import { HttpError } from "@troupe/server/HttpError"

/** Reads the JSON form of a refusal. */
export const httpErrorOf = (json: unknown): HttpError => {
  const error = fieldOf(json, "error")
  const code = fieldOf(error, "code")
  const retryAfterMs = fieldOf(error, "retryAfterMs")
  return new HttpError(HttpError.isCode(code) ? code : "internal", String(fieldOf(error, "message")), {
    retryAfterMs: typeof retryAfterMs === "number" ? retryAfterMs : undefined
  })
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined
