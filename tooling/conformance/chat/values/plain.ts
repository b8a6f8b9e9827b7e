/**
 * Converts names and plain values between the cases' form and ours: constructors, errors, outcomes, usage.
 *
 * There are no checks here: an ill-formed value of a case stays ill-formed, so that our own checks find it.
 */
import { error, ok } from "@troupe/chat"
import { AdapterError, EngineError, SessionError, StreamError, ToolError, ValidationError } from "@troupe/chat/errors"
import type { ContentPart, Usage } from "@troupe/chat/messages"
import { type HandlerResult, isHandlerResult } from "@troupe/chat/results"
import { type Fields, fieldsOf, isFields, listOf, present, tablesIn, textOf } from "../../runner/json.ts"

/** The names of the cases with what they mean. */
export const words = tablesIn("../words.json", import.meta.url) as Readonly<
  Record<"payloads" | "lacking" | "foreign" | "options" | "halts" | "facets" | "flags", Fields>
>

/** The exception of a case's `raise`, distinct from all of our errors. */
export class ScriptedException extends Error {
  constructor(type: string, message: string) {
    super(message)
    this.name = type
  }
}

/** `toolCallId` as `tool_call_id`. */
export const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** `tool_call_id` as `toolCallId`. */
export const camel = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** The same fields under translated names, without absent ones. */
export const renamed = (fields: Fields, name: (key: string) => string): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [name(key), value])
  )

/** Our values of constructors, by the key of the constructor. */
const constructors: Readonly<Record<string, (operand: unknown, value: Fields) => unknown>> = {
  $error: (operand) => typedError(fieldsOf(operand)),
  $exception: (operand) => {
    const { type = "RuntimeError", message = "" } = fieldsOf(operand)
    return new ScriptedException(textOf(type), textOf(message))
  },
  $unencodable: () => ({ unencodable: 1n }),
  $result: (operand) => {
    const result = fieldsOf(operand)
    return "error" in result ? error(construct(result["error"])) : ok(construct(result["ok"]))
  },
  $usage: (operand) => ({ type: "usage", usage: usageOf(operand) }),
  $part: (_, value) => partOf(value),
  $atom: (operand) => construct(operand),
  $not_event: (operand) => construct(operand),
  $tuple: (operand) => construct(operand)
}

/** Builds the values of constructors (`$error`, `$exception`, …), recursively. */
export const construct = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(construct)
  if (!isFields(value)) return value
  const [key = ""] = Object.keys(value)
  const made = constructors[key]
  if (made !== undefined) return made(value[key], value)
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, construct(field)]))
}

/** The types of library errors, by name. */
export const errorTypes = { AdapterError, EngineError, SessionError, StreamError, ToolError, ValidationError } as const

const isErrorType = (type: unknown): type is keyof typeof errorTypes => Object.hasOwn(errorTypes, textOf(type))

/** A library error; throws for an unknown reason, as its constructor does. */
export const typedError = ({ type, reason, errors, ...fields }: Fields): Error => {
  const rest = renamed(present(fieldsOf(construct(fields))), camel)
  if (!isErrorType(type)) throw new TypeError(`There is no error type ${textOf(type)}`)
  if (type === "SessionError") {
    const { message, ...others } = rest
    return new SessionError(reason as never, message === undefined ? undefined : textOf(message), others)
  }
  if (type === "ValidationError") return new ValidationError(reason as never, findings(errors ?? []), rest)
  return new errorTypes[type](reason as never, rest)
}

/** Findings, from pairs of a field or a path and a reason. */
export const findings = (errors: unknown): ReadonlyArray<{ field: ReadonlyArray<string>; reason: string }> =>
  Array.isArray(errors)
    ? errors.map(listOf).map(([field, reason]) => ({
        field: Array.isArray(field) ? field : [textOf(field)],
        reason: textOf(reason)
      }))
    : (errors as never)

/** Usage under our names. */
export const usageOf = (value: unknown): Usage.Usage => renamed(present(fieldsOf(value)), camel)

/** Usage under the cases' names. */
export const usageForm = (usage: unknown): Fields => ({ tool_usage: {}, extra: {}, ...renamed(fieldsOf(usage), snake) })

/** A content part. */
export const partOf = (part: unknown): ContentPart => {
  const { $part: type, url, detail, text } = fieldsOf(part)
  if (type === "text") return { type: "text", text: textOf(text) }
  if (type === "image") return { type: "image", image: { url: textOf(url) }, ...present({ detail }) } as ContentPart
  return part as never
}

/** A content part in the cases' form. */
export const partForm = (part: unknown): unknown => {
  const { type, text, image, detail } = fieldsOf(part)
  if (type === "text") return { $part: "text", text }
  return type === "image" ? { $part: "image", ...present({ url: fieldsOf(image)["url"], detail }) } : part
}

const isPlain = (value: unknown): value is Fields =>
  isFields(value) && (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null)

/** Converts any value: errors, outcomes and usage chunks in the form of their constructors. */
export const neutral = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(neutral)
  if (typeof value === "bigint") return { $unencodable: true }
  if (value instanceof Error) return errorForm(value)
  if (isHandlerResult(value)) return { $result: outcomeForm(value) }
  if (!isPlain(value)) return value ?? null
  if (value["type"] === "usage" && "usage" in value) return { $usage: usageForm(value["usage"]) }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .map(([key, field]) => [key, neutral(field)])
  )
}

/** An error: one of the library's, or any other as an exception. */
export const errorForm = (thrown: unknown): Fields => {
  if (!(thrown instanceof Error)) return { $exception: { type: "throw", message: textOf(thrown) } }
  const { name, message, cause } = thrown
  if (!Object.values(errorTypes).some((type) => thrown instanceof type)) {
    return { $exception: { type: name === "Error" ? "RuntimeError" : name, message } }
  }
  const { reason, metadata, provider, status, retryAfterMs, requestId, toolName, toolCallId } =
    thrown as unknown as Fields
  const errors =
    thrown instanceof ValidationError
      ? thrown.errors.map(({ field, reason: why }) => [field.length === 1 ? field[0] : [...field], why])
      : undefined
  // A thrown value that is no error is marked as thrown.
  const isThrown = reason === "handler_raised" && cause !== undefined && !(cause instanceof Error)
  const { reserved_halt_reason: reserved, ...notes } = renamed(fieldsOf(neutral(metadata)), snake)
  return {
    $error: {
      type: name,
      reason,
      message,
      cause: isThrown ? { throw: neutral(cause) } : neutral(cause),
      metadata: { ...notes, ...(reserved === undefined ? {} : { reserved_halt_atom: reserved }) },
      ...renamed({ provider, status, retryAfterMs, requestId, toolName, toolCallId, errors }, snake)
    }
  }
}

/** A tool's outcome as an object of one key. */
export const outcomeForm = (result: HandlerResult): Fields => {
  if (result.type === "ok") return { ok: neutral(result.value) }
  if (result.type === "error") return { error: neutral(result.reason) }
  if (result.type === "halt") return { halt: [result.reason, neutral(result.result)] }
  const { question, options } = result
  return { ask_user: Object.keys(options).length === 0 ? [question] : [question, neutral(options)] }
}
