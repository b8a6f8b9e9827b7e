/** Reads the body of a request: limits its size while it arrives, and validates it. */
import type * as z from "zod"
import { fitting, HttpError } from "../errors/index.ts"
import { HistoryText } from "./historyText.ts"

/** The maximum nesting. */
export const deepest = 64

/** The limits of a body: its bytes, and with a posted history in the list `history` the bytes of both. */
export interface BodyLimits {
  readonly bodyBytes: number
  readonly historyBytes: number
  readonly history?: string | undefined
  /** Called when so many characters more of the body are kept, or with a negative number, less. May throw. */
  readonly keeps: (more: number) => void
  /** Called with the body before its form is checked. May reject. */
  readonly admits: (body: unknown) => Promise<void>
}

/** The parts of a request that its body is read from. */
type Sent = Pick<Request, "headers" | "body">

/** Throws an `HttpError`: 415, 413, 400, 422. */
export const jsonBody = async <A>(request: Sent, schema: z.ZodType<A>, limits: BodyLimits): Promise<A> => {
  const type = request.headers.get("content-type") ?? ""
  if (!/^application\/json\s*(?:;|$)/iu.test(type)) {
    throw new HttpError("unsupported_media_type", "Send the body as JSON, with content-type: application/json")
  }
  const body = parsed(await textOf(request, limits))
  await limits.admits(body)
  return checked(schema, body, "The body")
}

/** The query parameters. Throws an `HttpError` (422). */
export const queryOf = <A>({ searchParams }: URL, schema: z.ZodType<A>): A =>
  checked(schema, Object.fromEntries(searchParams), "The query")

const checked = <A>(schema: z.ZodType<A>, value: unknown, what: string): A => {
  const { data, issues } = fitting(schema, value)
  if (issues === undefined) return data
  throw new HttpError("invalid_input", `${what} does not have the form that is asked for; \`issues\` says where`, {
    issues
  })
}

const textOf = async (request: Sent, { bodyBytes, historyBytes, history, keeps }: BodyLimits): Promise<string> => {
  const most = history === undefined ? bodyBytes : Math.max(bodyBytes, historyBytes)
  const declared = Number(request.headers.get("content-length") ?? 0)
  if (declared > most) throw tooLarge(most)
  if (request.body === null) return ""
  const decoder = new TextDecoder("utf-8", { fatal: true })
  const kept = history === undefined ? new WholeText() : new HistoryText(history, bodyBytes)
  let read = 0
  try {
    for await (const chunk of request.body) {
      read += chunk.byteLength
      if (read > most) throw tooLarge(most)
      const before = kept.length
      kept.push(decoder.decode(chunk, { stream: true }))
      keeps(kept.length - before)
      if (kept.length > bodyBytes) throw tooLarge(bodyBytes)
    }
    kept.push(decoder.decode())
    return kept.text
  } catch (cause) {
    if (cause instanceof HttpError) throw cause
    throw new HttpError("invalid_json", "The body could not be read as UTF-8; send it whole, and encoded so", { cause })
  }
}

/** A text without a history. */
class WholeText {
  text = ""

  get length(): number {
    return this.text.length
  }

  push(text: string): void {
    this.text += text
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
export const depthOf = (json: string): number => {
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
