/** Validates tool calls that a program passes to be run. Findings name the places of invalid calls. */
import { type Finding, isRecord } from "../errors/index.ts"

/** The findings about a list of calls. */
export const callsFindings = (field: string, calls: unknown): ReadonlyArray<Finding> =>
  Array.isArray(calls)
    ? calls.flatMap((call: unknown, index) => (isCall(call) ? [] : [{ field: [field, index], reason: expected }]))
    : [{ field: [field], reason: "must_be_a_list of tool calls" }]

const expected = "must_be a tool call: { id, name, arguments } of text, text, and an object or null"

const isCall = (call: unknown): boolean => {
  if (!isRecord(call)) return false
  const { id, name, arguments: args } = call
  return typeof id === "string" && typeof name === "string" && (args === null || isRecord(args))
}
