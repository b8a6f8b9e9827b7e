/**
 * Structural checks; each collects every finding.
 *
 * @module
 * @source ALLM.Validate
 */
import { type Finding, ValidationError } from "./ChatError.ts"
import type { Request } from "./Request.ts"
import type { Thread } from "./Thread.ts"
import { nameProblem } from "./Tool.ts"

const roles: ReadonlySet<unknown> = new Set(["system", "user", "assistant", "tool"])
const partTypes: ReadonlySet<unknown> = new Set(["text", "image", "file", "reasoning"])

/**
 * Checks a thread: each message has a known role and text or content parts, and a tool message names its call.
 *
 * **Details**: an empty thread is valid, and nothing is said about calls and results pairing up: a request has the last
 * word on the first, a living chat on the second.
 */
export const thread = (value: Thread): ValidationError | undefined => {
  if (!isRecord(value) || !Array.isArray(value.messages)) {
    return new ValidationError("invalid_thread", [{ field: ["thread"], reason: "invalid_type" }])
  }
  const found = messages(value.messages)
  return found.length === 0 ? undefined : new ValidationError("invalid_thread", found)
}

/** Checks a request: its messages, its tools and its parameters. */
export const request = (value: Request): ValidationError | undefined => {
  const found: Array<Finding> = value.messages.length === 0 ? [{ field: ["messages"], reason: "empty" }] : []
  found.push(...messages(value.messages))
  const names = new Set<string>()
  value.tools.forEach((tool, index) => {
    const problem = nameProblem(tool.name)
    if (problem !== undefined) found.push({ field: ["tools", index, "name"], reason: problem })
    if (typeof tool.description !== "string")
      found.push({ field: ["tools", index, "description"], reason: "not_a_string" })
    if (!isRecord(tool.schema)) found.push({ field: ["tools", index, "schema"], reason: "not_a_map" })
    names.add(tool.name)
  })
  if (names.size !== value.tools.length) found.push({ field: ["tools"], reason: "duplicate_name" })
  const { temperature, maxTokens, responseFormat } = value
  if (temperature !== undefined && !(typeof temperature === "number" && temperature >= 0 && temperature <= 2)) {
    found.push({ field: ["temperature"], reason: "out_of_range" })
  }
  if (maxTokens !== undefined && !(Number.isInteger(maxTokens) && maxTokens > 0)) {
    found.push({ field: ["max_tokens"], reason: "must_be_positive" })
  }
  if (responseFormat !== undefined && !isRecord(responseFormat)) {
    found.push({ field: ["response_format"], reason: "invalid_shape" })
  }
  return found.length === 0 ? undefined : new ValidationError("invalid_request", found)
}

const messages = (list: ReadonlyArray<unknown>): Array<Finding> => {
  const found: Array<Finding> = []
  const say = (index: number, field: string, reason: string) =>
    found.push({ field: ["messages", index, field], reason })
  list.forEach((message, index) => {
    if (!isRecord(message) || !roles.has(message["role"])) return say(index, "role", "unknown")
    const { content } = message
    if (Array.isArray(content)) {
      if (!content.every((part) => isRecord(part) && partTypes.has(part["type"])))
        say(index, "content", "invalid_part_type")
    } else if (typeof content !== "string") {
      say(index, "content", "invalid_type")
    }
    if (message["role"] === "tool" && typeof message["toolCallId"] !== "string") say(index, "tool_call_id", "required")
  })
  return found
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
