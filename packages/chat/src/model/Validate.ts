/**
 * Structural checks; each collects every finding.
 *
 * @module
 * @source ALLM.Validate
 */
import {
  type Finding,
  isRecord,
  nameAdvice,
  nameProblem,
  repeatedIndex,
  repeatedName,
  unknownNames,
  ValidationError,
  type ValidationErrorReason
} from "../errors/index.ts"
import { messageFindings, messagesAdvice, messagesFindings } from "./messageFindings.ts"
import type { Message } from "./messageShapes.ts"
import type { Request, ToolDeclaration } from "./Request.ts"
import type { Thread } from "./Thread.ts"

/**
 * Checks a message: a known role, text or content parts, and the id of its call if it is a tool message.
 *
 * **Details**: an image or a file given as base64 text, or by a base64 `data:` URL, must be valid base64:
 * `unresolvable_image`, `unresolvable_file`. A URL must be an `http:`, `https:` or `data:` URL, and the source of an image
 * must have an image media type.
 */
export const message = (value: Message): ValidationError | undefined =>
  problem("invalid_message", messageFindings(value, []))

/** Checks a tool declaration: its name, its description, its schema. */
export const tool = (value: ToolDeclaration): ValidationError | undefined =>
  problem("invalid_tool", toolFindings(value, []))

/** Checks that the options of a tool have known names; a finding suggests the closest known name. */
export const toolOptions = (options: object, names: ReadonlyArray<string>): ValidationError | undefined =>
  problem("invalid_tool", unknownNames(options, names))

/**
 * Checks a thread: each message has a known role and text or content parts, and a tool message names its call.
 *
 * **Details**: an empty thread is valid. The pairing of calls and results is not checked here: a request and a live chat
 * check it.
 */
export const thread = (value: Thread): ValidationError | undefined => {
  if (!isRecord(value) || !Array.isArray(value.messages)) {
    const advice = messagesAdvice(value)
    return new ValidationError("invalid_thread", [{ field: ["thread"], reason: "invalid_type" }], { advice })
  }
  return problem("invalid_thread", messagesFindings(value.messages), () => messagesAdvice(value.messages))
}

/** The parts of a session that are checked; other fields are allowed. */
export interface SessionParts {
  readonly status: string
  readonly thread: Thread
  readonly pendingQuestion?: unknown
  readonly pendingToolCalls?: ReadonlyArray<unknown> | undefined
  readonly open?: unknown
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  readonly lastOutcome?: unknown
}

/** The words for the status of a conversation; `ConversationStatus` gives their meanings. */
export const statuses = [
  "idle",
  "completed",
  "awaiting_user",
  "awaiting_tools",
  "awaiting_approval",
  "interrupted",
  "cancelled",
  "error"
] as const

const words: ReadonlySet<unknown> = new Set(statuses)

/**
 * Checks a session: a known status, the parts that the status requires, and its messages.
 *
 * **Details**: `awaiting_user` requires a question, `awaiting_tools` calls, `awaiting_approval` an open step, and `error` the
 * error, in `lastOutcome` or in `metadata`.
 */
export const session = (value: SessionParts): ValidationError | undefined => {
  if (!isRecord(value)) return problem("invalid_session", [{ field: ["session"], reason: "invalid_type" }])
  const { status, thread: said, pendingQuestion, pendingToolCalls, open, metadata, lastOutcome } = value
  const found: Array<Finding> = words.has(status) ? [] : [{ field: ["status"], reason: "unknown" }]
  const need = (missing: boolean, field: string, reason: string): void => {
    if (missing) found.push({ field: [field], reason })
  }
  if (status === "awaiting_user") need((pendingQuestion ?? null) === null, "pending_question", "required_for_status")
  if (status === "awaiting_tools")
    need(!Array.isArray(pendingToolCalls) || pendingToolCalls.length === 0, "pending_tool_calls", "required_for_status")
  if (status === "awaiting_approval") need((open ?? null) === null, "open", "required_for_status")
  if (status === "error") need(!hasError(metadata) && !hasError(lastOutcome), "metadata", "error_required_for_status")
  if (!isRecord(said) || !Array.isArray(said.messages)) need(true, "thread", "invalid_type")
  else found.push(...messagesFindings(said.messages, ["thread", "messages"]))
  return problem("invalid_session", found)
}

const hasError = (field: unknown): boolean => isRecord(field) && (field["error"] ?? null) !== null

/**
 * Checks a request: its messages, its tools and its parameters; a request with `structuredFinalize` must ask for JSON of a
 * schema.
 *
 * **Details**: a repeated tool name is a `duplicate_name` of `tools`. A name that is not a string, empty or reserved has
 * only that finding.
 */
export const request = (
  value: Request & { readonly structuredFinalize?: boolean | undefined }
): ValidationError | undefined => {
  const found: Array<Finding> = value.messages.length === 0 ? [{ field: ["messages"], reason: "empty" }] : []
  found.push(...messagesFindings(value.messages))
  value.tools.forEach((declared, index) => found.push(...toolFindings(declared, ["tools", index])))
  const names = [...value.tools, ...(value.providerTools ?? [])].map(({ name }) => name)
  const again = repeatedIndex(names, canRepeat)
  if (again >= 0) found.push({ field: ["tools"], reason: "duplicate_name" })
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
  if (value.structuredFinalize === true && responseFormat?.type !== "json_schema") {
    found.push({ field: ["structured_finalize"], reason: "requires_json_schema" })
  }
  return problem("invalid_request", found, () => messagesAdvice(value.messages) ?? toolsAdvice(names, again))
}

/** What to write instead of the second of two equal names, or of the first invalid name. */
const toolsAdvice = (names: ReadonlyArray<unknown>, again: number): string | undefined => {
  if (again >= 0) return repeatedName(names[again], names.indexOf(names[again]), again)
  const wrong = names.findIndex((name) => nameProblem(name) !== undefined)
  return wrong < 0 ? undefined : nameAdvice(names[wrong])
}

const problem = (
  reason: ValidationErrorReason,
  found: ReadonlyArray<Finding>,
  advice?: () => string | undefined
): ValidationError | undefined =>
  found.length === 0 ? undefined : new ValidationError(reason, found, { advice: advice?.() })

/** Whether a name is checked for duplicates. A string with characters that are not allowed is checked too. */
const canRepeat = (name: unknown): boolean => {
  const wrong = nameProblem(name)
  return wrong === undefined || (wrong === "invalid_format" && typeof name === "string")
}

const toolFindings = (
  { name, description, schema, summary }: ToolDeclaration,
  path: ReadonlyArray<string | number>
): ReadonlyArray<Finding> => {
  const found: Array<Finding> = []
  const wrongName = nameProblem(name)
  if (wrongName !== undefined) found.push({ field: [...path, "name"], reason: wrongName })
  if (typeof description !== "string") found.push({ field: [...path, "description"], reason: "not_a_string" })
  if (!isRecord(schema)) found.push({ field: [...path, "schema"], reason: "not_a_map" })
  if (typeof (summary ?? "") !== "string") found.push({ field: [...path, "summary"], reason: "not_a_string" })
  return found
}
