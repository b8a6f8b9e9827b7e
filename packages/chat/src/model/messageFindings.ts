/**
 * The findings about messages, with their paths, and a quick check of messages of the usual shapes.
 *
 * PLAINMSG1. A message that passes the quick check fits the schema `Message`, and has no findings. Any other value is
 *            checked with both.
 */
import { type Finding, isRecord, shortened } from "../errors/index.ts"
import { AssistantPart, ContentPart, type FilePart, type ImagePart, type Message } from "./messageShapes.ts"
import { Outcome } from "./Outcome.ts"
import { sourceProblem } from "./mediaSource.ts"

const roles: ReadonlySet<unknown> = new Set(["system", "user", "assistant", "tool"])

/** The findings about a list of messages. */
export const messagesFindings = (
  list: ReadonlyArray<unknown>,
  path: ReadonlyArray<string | number> = ["messages"],
  problemOf: (part: ImagePart | FilePart) => string | undefined = sourceProblem
): ReadonlyArray<Finding> => list.flatMap((value, index) => messageFindings(value, [...path, index], problemOf))

/** The findings about a message. */
export const messageFindings = (
  value: unknown,
  path: ReadonlyArray<string | number>,
  problemOf: (part: ImagePart | FilePart) => string | undefined = sourceProblem
): ReadonlyArray<Finding> => {
  if (!isRecord(value)) return [{ field: [...path, "role"], reason: "unknown" }]
  const { role, content, parts, toolCallId } = value
  const found: Array<Finding> = roles.has(role) ? [] : [{ field: [...path, "role"], reason: "unknown" }]
  if (Array.isArray(content)) {
    found.push(...partsFindings(content, ContentPart, [...path, "content"], problemOf))
  } else if (typeof content !== "string") {
    found.push({ field: [...path, "content"], reason: "invalid_type" })
  }
  if (role === "assistant" && parts !== undefined) {
    const field = [...path, "parts"]
    if (Array.isArray(parts)) found.push(...partsFindings(parts, AssistantPart, field, problemOf))
    else found.push({ field, reason: "invalid_type" })
  }
  if (role === "tool" && typeof toolCallId !== "string") {
    found.push({ field: [...path, "tool_call_id"], reason: "required" })
  }
  return found
}

/** The findings about a list of parts. */
const partsFindings = (
  parts: ReadonlyArray<unknown>,
  schema: typeof ContentPart | typeof AssistantPart,
  field: ReadonlyArray<string | number>,
  problemOf: (part: ImagePart | FilePart) => string | undefined
): ReadonlyArray<Finding> => {
  const isPart = (part: unknown): part is AssistantPart => schema.safeParse(part).success
  if (!parts.every(isPart)) return [{ field, reason: "invalid_part_type" }]
  return parts.flatMap((part, index) => {
    const reason = part.type === "image" || part.type === "file" ? problemOf(part) : undefined
    return reason === undefined ? [] : [{ field: [...field, index], reason }]
  })
}

const outcomes: ReadonlySet<unknown> = new Set(Outcome.options)

/** Whether a value is a message with text as its content. A `false` says nothing about the value. */
export const isPlainMessage = (value: unknown): value is Message => {
  if (!isPlain(value)) return false
  const { role, content, name, metadata } = value
  if (typeof content !== "string" || !isOptionalText(name) || !isOptionalPlain(metadata)) return false
  switch (role) {
    case "user":
      return isOptionalPlain(value["writer"]) && isOptionalCount(value["attempt"])
    case "system":
      return isOptionalPlain(value["writer"])
    case "assistant":
      return (
        isOptionalPlain(value["writer"]) &&
        isOptionalList(value["toolCalls"], isCall) &&
        isOptionalList(value["parts"], isPlainPart)
      )
    case "tool": {
      const { toolCallId, outcome } = value
      return typeof toolCallId === "string" && (outcome === undefined || outcomes.has(outcome))
    }
    default:
      return false
  }
}

const isOptionalCount = (value: unknown): boolean =>
  value === undefined || (Number.isSafeInteger(value) && Number(value) > 0)

const isOptionalList = (value: unknown, isElement: (element: unknown) => boolean): boolean =>
  value === undefined || (Array.isArray(value) && value.every(isElement))

/** Whether a value is one of the usual parts of a reply. */
const isPlainPart = (value: unknown): boolean => {
  if (!isPlain(value)) return false
  const { type, text, toolCallId, metadata } = value
  switch (type) {
    case "text":
    case "reasoning":
      return typeof text === "string" && isOptionalPlain(metadata)
    case "tool_call":
      return typeof toolCallId === "string"
    default:
      return false
  }
}

const isCall = (value: unknown): boolean => {
  if (!isPlain(value)) return false
  const { id, name, arguments: given, rawArguments, problem, metadata } = value
  return (
    typeof id === "string" &&
    typeof name === "string" &&
    (given === null || isPlain(given)) &&
    isOptionalText(rawArguments) &&
    isOptionalText(problem) &&
    isOptionalPlain(metadata)
  )
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

const isOptionalText = (value: unknown): boolean => value === undefined || typeof value === "string"

const isOptionalPlain = (value: unknown): boolean => value === undefined || isPlain(value)

/** What to write instead of a value that is no thread, a text in a list, or an unknown role; `undefined` for another value. */
export const messagesAdvice = (value: unknown): string | undefined => {
  if (typeof value === "string") return `instead of a text write ${asUser(value, "[", "]")}`
  if (isRecord(value)) {
    if ("role" in value) return "instead of one message write a list: [message]"
    if ("messages" in value) return messagesAdvice(value["messages"])
  }
  if (!Array.isArray(value)) return `write a list of messages, for example ${asUser("Hello", "[", "]")}`
  if (value.length === 0) return `write at least one message, for example ${asUser("Hello", "[", "]")}`
  const index = value.findIndex((said) => typeof said === "string")
  if (index >= 0) return `instead of the text at messages.${index} write ${asUser(String(value[index]))}`
  const unknown = value.findIndex((message) => isRecord(message) && !roles.has(message["role"]))
  return unknown < 0 ? undefined : `the role of messages.${unknown} must be one of ${[...roles].join(", ")}`
}

const shownCharacters = 40

const asUser = (said: string, before = "", after = ""): string =>
  `${before}user(${JSON.stringify(shortened(said, shownCharacters))})${after}, with import { user } from "@troupe/chat"`
