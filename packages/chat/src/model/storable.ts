/**
 * Checks that every store can keep the values of a thread.
 *
 * STORABLE1. A value with a function, a cycle, an instance of a class or more than 100 levels of nesting is refused before
 *            it enters a thread. A thread with such a value, and every later message, could not be stored.
 */
import { beginningOf, type Finding } from "../errors/index.ts"
import type { ToolCall } from "./ToolCall.ts"
import { write } from "../values/index.ts"
import { deepestLevels, jsonSize, overflows, wellFormed } from "../json/index.ts"

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
