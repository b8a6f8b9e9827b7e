/**
 * The estimate of the tokens of a request.
 *
 * **Details**: a text is counted by its runs of letters, digits, spaces and signs, in one pass, so that hexadecimal and base64 texts
 * count with the many tokens that they have. Of a long text some samples count for all of it. Images and files count by their kind.
 */
import type { ContentPart, Message } from "../model/index.ts"
import type { SizedTool } from "./Compactor.ts"

const longText = 8_000
const sample = 1_000
const imageTokens = 1_600
const fileTokens = 3_000
/** The tokens around a message, a call and a tool. */
const frame = 6

type Run = "lower" | "upper" | "digit" | "space" | "sign" | "letter" | "syllable" | "ideograph"

const runOf = (code: number): Run => {
  if (code < 128) return ascii[code] ?? "sign"
  if (code < 0x250) return "lower"
  if (code < 0x590) return "letter"
  return code < 0x1100 ? "syllable" : "ideograph"
}

const ascii: ReadonlyArray<Run> = Array.from({ length: 128 }, (_, code) => {
  if (code >= 97 && code <= 122) return "lower"
  if (code >= 65 && code <= 90) return "upper"
  if (code >= 48 && code <= 57) return "digit"
  return code <= 32 ? "space" : "sign"
})

/** The tokens of a run of characters of one kind, as the tokenizers of the large providers count them on average. */
const runTokens = (run: Run, length: number): number => {
  switch (run) {
    case "lower":
      return length <= 7 ? 1 : 1 + (length - 7) / 5
    case "upper":
      return length === 1 ? 0.35 : length / 2.5
    case "digit":
      return Math.ceil(length / 3)
    case "space":
      return length === 1 ? 0.1 : 0.7 + length / 32
    case "sign":
      return 0.85 + (length - 1) * 0.4
    case "letter":
      return 0.3 + length * 0.28
    case "syllable":
      return length * 0.6
    case "ideograph":
      return length * 0.9
  }
}

const counted = (text: string, from: number, to: number): number => {
  let total = 0
  let length = 0
  let run: Run = "space"
  for (let at = from; at < to; at++) {
    const now = runOf(text.charCodeAt(at))
    if (now === run) length++
    else {
      if (length > 0) total += runTokens(run, length)
      run = now
      length = 1
    }
  }
  return total + (length > 0 ? runTokens(run, length) : 0)
}

/** The estimated tokens of a text. */
export const tokensOf = (text: string): number => {
  const { length } = text
  if (length <= longText) return Math.ceil(counted(text, 0, length))
  let total = 0
  for (let at = 0; at < 8; at++) {
    const from = Math.floor((at * (length - sample)) / 7)
    total += counted(text, from, from + sample)
  }
  return Math.ceil((total * length) / (8 * sample))
}

const partTokens = (part: ContentPart | { readonly type: string }): number => {
  switch (part.type) {
    case "image":
      return imageTokens
    case "file":
      return fileTokens
    case "tool_call":
      return 0
    case "text":
    case "reasoning": {
      const { text, metadata } = part as Extract<ContentPart, { readonly type: "text" }>
      return tokensOf(text) + (metadata === undefined ? 0 : tokensOf(JSON.stringify(metadata)))
    }
    default:
      return tokensOf(JSON.stringify(part))
  }
}

const sum = <A>(list: ReadonlyArray<A>, of: (item: A) => number): number =>
  list.reduce((total, item) => total + of(item), 0)

/** The estimated tokens of a message. */
export const messageTokens = (message: Message): number => {
  const { content } = message
  const text = typeof content === "string" ? tokensOf(content) : sum(content, partTokens)
  if (message.role !== "assistant") return frame + text
  const { toolCalls = [], parts } = message
  const calls = sum(
    toolCalls,
    (call) => frame + tokensOf(call.name) + tokensOf(JSON.stringify(call.arguments ?? call.rawArguments ?? ""))
  )
  return frame + calls + (parts === undefined ? text : Math.max(text, sum(parts, partTokens)))
}

/** The estimated tokens of the declaration of tools. */
export const toolTokens = (tools: ReadonlyArray<SizedTool>): number =>
  sum(
    tools,
    ({ name, description, schema }) => frame + tokensOf(name) + tokensOf(description) + tokensOf(JSON.stringify(schema))
  )
