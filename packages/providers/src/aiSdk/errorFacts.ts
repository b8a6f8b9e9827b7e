/**
 * Reads the facts of a foreign error of any shape: an error class of the AI SDK, an error of `fetch`, or the error object
 * in a provider's stream.
 *
 * @module
 */

/**
 * The facts of one error.
 *
 * - `code`: the provider's code, a word or a number
 * - `words`: every code, type and status of the provider's own error object, for errors without an HTTP status
 * - `names`: class names along its causes, outermost first; none when it contains the provider's own error object
 */
export interface ErrorFacts {
  readonly message: string
  readonly status: number | undefined
  readonly code: string | undefined
  readonly words: string
  readonly headers: Readonly<Record<string, string>>
  readonly names: ReadonlyArray<string>
}

/** Reads the facts of an error. */
export const factsOf = (error: unknown): ErrorFacts => {
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
  return [code, type, status].map(textOf).find((said) => said !== undefined && !categories.includes(said))
}

const headersOf = (record: Record<string, unknown>): Record<string, string> | undefined => {
  const headers = record["responseHeaders"]
  if (!isRecord(headers)) return undefined
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null
