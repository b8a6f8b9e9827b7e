/** Reads the body of a request: limits its size while it arrives, and validates it. */
import type * as z from "zod"
import { HttpError, type Issue } from "../errors/index.ts"

/** The maximum nesting. */
const deepest = 64

/** Throws an `HttpError`: 415, 413, 400, 422. */
export const jsonBody = async <A>(request: Request, schema: z.ZodType<A>, maxBytes: number): Promise<A> => {
  const type = request.headers.get("content-type") ?? ""
  if (!/^application\/json\s*(?:;|$)/iu.test(type)) {
    throw new HttpError("unsupported_media_type", "Send the body as JSON, with content-type: application/json")
  }
  return checked(schema, parsed(await text(request, maxBytes)), "The body")
}

/** The query parameters. Throws an `HttpError` (422). */
export const queryOf = <A>({ searchParams }: URL, schema: z.ZodType<A>): A =>
  checked(schema, Object.fromEntries(searchParams), "The query")

const checked = <A>(schema: z.ZodType<A>, value: unknown, what: string): A => {
  const { success, data, error } = schema.safeParse(value)
  if (success) return data
  throw new HttpError("invalid_input", `${what} does not have the form that is asked for; \`issues\` says where`, {
    issues: error.issues.slice(0, 20).map(({ path, message }): Issue => ({
      field: path.map((step) => (typeof step === "number" ? step : String(step).slice(0, 100))),
      reason: message.slice(0, 300)
    }))
  })
}

const text = async (request: Request, maxBytes: number): Promise<string> => {
  const declared = Number(request.headers.get("content-length") ?? 0)
  if (declared > maxBytes) throw tooLarge(maxBytes)
  if (request.body === null) return ""
  const decoder = new TextDecoder("utf-8", { fatal: true })
  let read = 0
  let out = ""
  try {
    for await (const chunk of request.body) {
      read += chunk.byteLength
      if (read > maxBytes) throw tooLarge(maxBytes)
      out += decoder.decode(chunk, { stream: true })
    }
    return out + decoder.decode()
  } catch (cause) {
    if (cause instanceof HttpError) throw cause
    throw new HttpError("invalid_json", "The body could not be read as UTF-8; send it whole, and encoded so", { cause })
  }
}

const parsed = (json: string): unknown => {
  if (depthOf(json) > deepest) {
    throw new HttpError("invalid_json", `The body is nested more than ${deepest} levels deep; send it flatter`)
  }
  try {
    return JSON.parse(json)
  } catch (cause) {
    throw new HttpError("invalid_json", "The body is not JSON", { cause })
  }
}

/** The depth of nested brackets outside of strings. */
const depthOf = (json: string): number => {
  let depth = 0
  let most = 0
  let inText = false
  for (let at = 0; at < json.length; at++) {
    const unit = json.charCodeAt(at)
    if (inText) {
      if (unit === backslash) at++
      else if (unit === quote) inText = false
    } else if (unit === quote) inText = true
    else if (unit === bracket || unit === brace) most = Math.max(most, ++depth)
    else if (unit === bracket + 2 || unit === brace + 2) depth--
  }
  return most
}

const quote = 0x22
const backslash = 0x5c
const bracket = 0x5b
const brace = 0x7b

const tooLarge = (maxBytes: number): HttpError =>
  new HttpError("body_too_large", `The body has more than ${maxBytes} bytes; send less`)
