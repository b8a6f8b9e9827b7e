/**
 * Recorded replies of providers, with one event's data per line.
 *
 * @module
 */
import { readFileSync } from "node:fs"
import { basename } from "node:path"

/**
 * The API that a reply was recorded from.
 *
 * - `chat`: chat completions, as OpenAI and compatible providers stream them
 * - `responses`: OpenAI's Responses API
 * - `messages`: Anthropic's Messages API
 * - `gemini`: Google's streamGenerateContent
 */
export type Dialect = "chat" | "responses" | "messages" | "gemini"

/** One recorded reply. */
export interface Recording {
  readonly file: string
  /** The part of the file's name before `--`. */
  readonly provider: string
  readonly dialect: Dialect
  /** The data of each event, in order; a line that is not JSON is kept as it is. */
  readonly data: ReadonlyArray<string>
  /** The tools the reply calls, in order of appearance. */
  readonly toolNames: ReadonlyArray<string>
  /** The HTTP status, when the whole file is one error body instead of a stream. */
  readonly status: number | undefined
}

/** Reads one file. */
export const readRecording = (path: string): Recording => {
  const text = readFileSync(path, "utf8")
  const file = basename(path)
  const provider = file.includes("--") ? file.slice(0, file.indexOf("--")) : "unknown"
  const whole = parsed(text)
  const data = isRecord(whole) ? [JSON.stringify(whole)] : dataLines(text)
  const chunks = data.map(parsed).filter(isRecord)
  return {
    file,
    provider,
    dialect: dialectOf(chunks, provider),
    data,
    toolNames: [...new Set(chunks.flatMap(toolNamesIn))],
    status: chunks.length === 1 && data.length === 1 ? statusOf(chunks[0] ?? {}) : undefined
  }
}

/** Raw captures are supported too: their `data:` prefixes, `event:` lines and comments are removed. */
const dataLines = (text: string): ReadonlyArray<string> =>
  text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "" && !/^(event|id|retry)?:/.test(line))
    .map((line) => line.replace(/^data: ?/, ""))

const dialectOf = (chunks: ReadonlyArray<Record<string, unknown>>, provider: string): Dialect => {
  const some = (test: (chunk: Record<string, unknown>) => boolean): boolean => chunks.some(test)
  if (some((chunk) => startsAs(chunk["type"], "response."))) return "responses"
  if (some((chunk) => "candidates" in chunk || "usageMetadata" in chunk)) return "gemini"
  if (some((chunk) => "choices" in chunk || chunk["object"] === "chat.completion.chunk")) return "chat"
  if (some((chunk) => chunk["type"] === "message_start" || chunk["type"] === "content_block_start")) return "messages"
  if (provider === "anthropic") return "messages"
  if (provider === "google") return "gemini"
  return provider === "openai" && some((chunk) => chunk["type"] === "error") ? "responses" : "chat"
}

/** The names under the keys that each API uses for a called tool. */
const toolNamesIn = (value: unknown): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap(toolNamesIn)
  if (!isRecord(value)) return []
  const isCall = ["tool_use", "function_call", "custom_tool_call"].includes(String(value["type"]))
  const called = [isCall ? value : undefined, value["functionCall"], "arguments" in value ? value : undefined]
  const names = called.flatMap((call) => (isRecord(call) && typeof call["name"] === "string" ? [call["name"]] : []))
  return [...names.filter((name) => name !== ""), ...Object.values(value).flatMap(toolNamesIn)]
}

/** The status of an error body: a number, or a well-known word. */
const statusOf = (body: Record<string, unknown>): number | undefined => {
  const error = isRecord(body["error"]) ? body["error"] : body
  const isError = "error" in body || body["object"] === "error" || "detail" in body
  if (!isError || typeof body["id"] === "string" || startsAs(body["type"], "response.")) return undefined
  const said = [error["status"], error["statusCode"], error["code"], body["status"], body["statusCode"]]
    .map(Number)
    .find((status) => status >= 400 && status <= 599)
  if (said !== undefined) return said
  const words = [error["type"], error["code"], error["status"]].join(" ").toLowerCase()
  return statusWords.find(([word]) => word.test(words))?.[1] ?? 500
}

const statusWords: ReadonlyArray<readonly [RegExp, number]> = [
  [/rate_limit|quota|exhausted|too_many/, 429],
  [/overload/, 529],
  [/authentication|api_key|unauthenticated|unauthorized/, 401],
  [/permission/, 403],
  [/not_found/, 404],
  [/invalid|bad_request|context_length/, 400],
  [/unavailable/, 503]
]

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const startsAs = (value: unknown, start: string): boolean => typeof value === "string" && value.startsWith(start)

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
