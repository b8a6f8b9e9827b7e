/**
 * The findings about messages, with their paths: their shapes, the results that calls have, and values that no thread may have.
 *
 * PLAINMSG1. A message that passes the quick check fits the schema `Message`, and has no findings. Any other value is
 *            checked with both.
 * PAIR1. In a paired thread, exactly one of the tool messages right after an assistant message answers each of its calls,
 *        and there is no other tool message. Every provider accepts such a thread.
 * STORABLE1. A value with a function, a cycle, an instance of a class or more than 100 levels of nesting is refused before
 *            it enters a thread. A thread with such a value, and every later message, could not be stored.
 */
import { type Finding, isRecord, shortened, SessionError, beginningOf } from "../errors/index.ts"
import {
  AssistantPart,
  ContentPart,
  type FilePart,
  type ImagePart,
  type Message,
  type ToolMessage
} from "./messageShapes.ts"
import { Outcome } from "./Outcome.ts"
import { sourceProblem } from "./mediaSource.ts"
import * as Thread from "./Thread.ts"
import type { ToolCall } from "./ToolCall.ts"
import { write } from "../values/index.ts"
import { deepestLevels, jsonSize, overflows, wellFormed } from "../json/index.ts"

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

/** Why a thread cannot be sent to a model (PAIR1). */
export const unpaired = ({ messages }: Thread.Thread): SessionError | undefined => {
  let open: Array<string> = []
  for (const message of messages) {
    if (message.role === "tool") {
      const at = open.indexOf(message.toolCallId)
      if (at === -1) return orphan(message.toolCallId)
      open.splice(at, 1)
      continue
    }
    if (open[0] !== undefined) return unanswered(open[0])
    open = callIds(message)
  }
  return open[0] === undefined ? undefined : unanswered(open[0])
}

/**
 * The thread with this result right after the other results of the same message; at the end when no message made that call.
 */
export const answered = (thread: Thread.Thread, result: ToolMessage): Thread.Thread => {
  const { messages } = thread
  const asking = messages.findLastIndex((message) => callIds(message).includes(result.toolCallId))
  if (asking === -1) return Thread.append(thread, result)
  const after = messages.findIndex((message, index) => index > asking && message.role !== "tool")
  return after === -1 ? Thread.append(thread, result) : { ...thread, messages: messages.toSpliced(after, 0, result) }
}

/** The thread with this result in the order of the calls of its message; at the end when no message made that call. */
export const answeredInOrder = (thread: Thread.Thread, result: ToolMessage): Thread.Thread => {
  const place = resultPlace(thread, result.toolCallId)
  const messages = place === undefined ? [...thread.messages, result] : thread.messages.toSpliced(place, 0, result)
  return { ...thread, messages }
}

/** The place of the missing result of a call: behind the results of the calls before it; `undefined` when no message made that call. */
const resultPlace = ({ messages }: Thread.Thread, id: string): number | undefined => {
  const asking = messages.findLastIndex((message) => callIds(message).includes(id))
  if (asking === -1) return undefined
  const ids = callIds(messages[asking])
  const before = ids.slice(0, ids.indexOf(id) + 1)
  let place = asking + 1
  for (let message = messages[place]; message?.role === "tool"; message = messages[place]) {
    if (!before.includes(message.toolCallId)) break
    place++
  }
  return place
}

const callIds = (message: Message | undefined): Array<string> =>
  message?.role === "assistant" && Array.isArray(message.toolCalls) ? message.toolCalls.map(({ id }) => id) : []

const unanswered = (toolCallId: string): SessionError =>
  new SessionError(
    "unpaired_tool_calls",
    `The call ${toolCallId} of the thread has no result right after it; append its tool message, or leave the call out`,
    { metadata: { toolCallId } }
  )

const orphan = (toolCallId: string): SessionError =>
  new SessionError(
    "unpaired_tool_calls",
    `The result of ${toolCallId} in the thread follows no message that makes this call, or is its second; leave it out`,
    { metadata: { toolCallId } }
  )

/** The default bound on the characters of one call's arguments. */
export const defaultMaxToolArgumentCharacters = 1_000_000

/** How many characters are kept of arguments that are too large. */
const keptCharacters = 1_000

/** The bound on the characters of a call's name. */
const longestName = 1_000

/** The places of a value that cannot be stored. */
export const unstorable = (value: unknown): ReadonlyArray<Finding> => write(value, false, deepestLevels).found

/** A short text for the first finding. */
export const reasonOf = (found: ReadonlyArray<Finding>): string => {
  const [first] = found
  if (first === undefined) return ""
  if (first.reason === "too_deep") return `it is nested deeper than ${deepestLevels} levels`
  const { field, reason } = first
  const place = field.length > 6 ? [...field.slice(0, 3), "…", ...field.slice(-2)] : field
  const what = reason.replaceAll("_", " ")
  return place.length === 0 ? `it is ${what}` : `${place.join(".")} is ${what}`
}

/**
 * A call that can be stored. If the arguments are too large or cannot be stored, `arguments` is `null` and `problem` is the
 * reason: the call never runs, and ends as `invalid`. The same holds for a call whose name or metadata is too large: the
 * beginning of the name is kept, and no metadata. The texts of the call are well-formed (WELL1).
 */
export const storableCall = <Call extends Pick<ToolCall, "name" | "arguments" | "rawArguments" | "metadata">>(
  call: Call,
  maxCharacters: number
): Call => wellFormed(boundedCall(call, maxCharacters))

const boundedCall = <Call extends Pick<ToolCall, "name" | "arguments" | "rawArguments" | "metadata">>(
  call: Call,
  maxCharacters: number
): Call => {
  const { name, rawArguments = "", metadata } = call
  if (name.length > longestName) {
    const { metadata: _, ...kept } = call
    const problem = `the name has ${name.length} characters, and at most ${longestName} are allowed; name a tool`
    return refused({ ...(kept as Call), name: shortOf(name), rawArguments: shortOf(rawArguments) }, problem)
  }
  if (rawArguments.length > maxCharacters) {
    const problem = `the arguments have ${rawArguments.length} characters, ${atMost(maxCharacters)}`
    return refused({ ...call, rawArguments: shortOf(rawArguments) }, problem)
  }
  if (jsonSize(call.arguments, maxCharacters) > maxCharacters) {
    return refused(call, `the arguments have more than ${maxCharacters} characters, ${atMost(maxCharacters)}`)
  }
  if (jsonSize(metadata, maxCharacters) > maxCharacters) {
    const { metadata: _, ...kept } = call
    return refused(kept as Call, `the metadata of the call has more than ${maxCharacters} characters`)
  }
  const foundInArguments = unstorable(call.arguments)
  if (foundInArguments.length > 0) {
    return refused(call, `the arguments cannot be stored: ${reasonOf(foundInArguments)}; send a flat JSON object`)
  }
  if (overflows(call.arguments, rawArguments)) {
    return refused(call, "a number of the arguments is too large for a number; send it as text")
  }
  if (metadata === undefined) return call
  const foundInMetadata = unstorable(metadata)
  if (foundInMetadata.length === 0) return call
  const { metadata: _, ...kept } = call
  return refused(kept as Call, `the metadata of the call cannot be stored: ${reasonOf(foundInMetadata)}`)
}

const atMost = (maxCharacters: number): string =>
  `and at most ${maxCharacters} are allowed; send less, in several calls if need be`

const shortOf = (text: string): string =>
  text.length > keptCharacters ? `${beginningOf(text, keptCharacters)}…` : text

const refused = <Call extends Pick<ToolCall, "arguments">>(call: Call, problem: string): Call => ({
  ...call,
  arguments: null,
  problem
})
