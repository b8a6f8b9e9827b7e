/** Groups of hooks: matching of tools, and validation. */
import type { Finding } from "../errors/index.ts"

/** Searches a tool's name for the pattern, ignoring the `lastIndex` of a stateful expression. */
export const matches = (match: string | RegExp | undefined, name: string): boolean =>
  match === undefined || name.search(typeof match === "string" ? new RegExp(match) : match) >= 0

/** Whether a value can be a hook: a function that requires at most the payload and the context. */
export const isHook = (value: unknown): boolean => typeof value === "function" && value.length <= 2

/** The first problem of a group, in words, or `undefined`. */
export const groupProblem = (group: unknown): string | undefined => {
  const [first] = groupFindings(group)
  return first === undefined ? undefined : `a group of hooks: ${first.field.join(".")} ${first.reason}`
}

/** The findings about a group. */
export const groupFindings = (group: unknown): ReadonlyArray<Finding> => {
  const { match, hooks } = (group ?? {}) as { readonly match?: unknown; readonly hooks?: unknown }
  const pattern = patternProblem(match)
  const listed = Array.isArray(hooks) && hooks.every(isHook)
  return [
    ...(pattern === undefined ? [] : [{ field: ["match"], reason: pattern }]),
    ...(listed ? [] : [{ field: ["hooks"], reason: "must_be_a_list of functions of the payload and the context" }])
  ]
}

const patternProblem = (match: unknown): string | undefined => {
  if (match === undefined || match instanceof RegExp) return undefined
  if (typeof match !== "string") return "must_be a regular expression, as RegExp or text"
  try {
    "".search(match)
  } catch (thrown) {
    return `must_be a regular expression: ${thrown instanceof Error ? thrown.message : "it cannot be read"}`
  }
  return undefined
}
