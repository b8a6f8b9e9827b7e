/** What is wrong with a value of a client, in plain English. */
import type * as z from "zod"
import type { Issue } from "./HttpError.ts"
import { beginningOf } from "./quotedText.ts"

/** The most problems that are named, and the most characters of a name and of a reason. */
const mostIssues = 20
const mostOfName = 100
const mostOfReason = 300

const nouns: Readonly<Record<string, string>> = {
  array: "a list",
  bigint: "a whole number",
  boolean: "true or false",
  int: "a whole number",
  map: "an object",
  null: "null",
  number: "a number",
  object: "an object",
  record: "an object",
  string: "text",
  undefined: "left out"
}

const units: Readonly<Record<string, readonly [string, string]>> = {
  string: ["character", "characters"],
  array: ["item", "items"],
  set: ["item", "items"]
}

const counted = (count: number | bigint, [one, many]: readonly [string, string]): string =>
  `${count} ${Number(count) === 1 ? one : many}`

const listed = (values: ReadonlyArray<unknown>): string => values.map((value) => JSON.stringify(value)).join(", ")

type Raw = z.core.$ZodRawIssue

const tooBig = ({ origin, maximum, inclusive }: Extract<Raw, { readonly code: "too_big" }>): string => {
  const unit = units[origin]
  if (unit !== undefined) return `must have at most ${counted(maximum, unit)}`
  return inclusive === false ? `must be less than ${maximum}` : `must be at most ${maximum}`
}

const tooSmall = ({ origin, minimum, inclusive }: Extract<Raw, { readonly code: "too_small" }>): string => {
  const unit = units[origin]
  if (unit !== undefined)
    return Number(minimum) === 1 ? "must not be empty" : `must have at least ${counted(minimum, unit)}`
  return inclusive === false ? `must be more than ${minimum}` : `must be at least ${minimum}`
}

const kindOf = (expected: string): string => nouns[expected] ?? expected

/** Lists the words of a discriminator, or names the kinds of values if those are what differs. */
const noneOf = (issue: Extract<Raw, { readonly code: "invalid_union" }>): string => {
  // Older versions of zod that the range allows give no `options`.
  const options = "options" in issue && Array.isArray(issue.options) ? issue.options : []
  if (options.length > 0) return `must be one of ${listed(options)}`
  const { errors } = issue
  const kinds = errors.flatMap(([first]) =>
    first?.code === "invalid_type" && first.path.length === 0 ? [kindOf(first.expected)] : []
  )
  const isOfKind = kinds.length > 0 && kinds.length === errors.length
  return isOfKind ? `must be ${kinds.join(" or ")}` : "has none of the permitted forms"
}

/** The reasons of findings whose type has none of its own. */
const reasonOf = (issue: Raw): string => {
  if (issue.input === undefined) return "is missing"
  switch (issue.code) {
    case "invalid_type":
      return `must be ${kindOf(issue.expected)}`
    case "invalid_value":
      return issue.values.length === 1 ? `must be ${listed(issue.values)}` : `must be one of ${listed(issue.values)}`
    case "too_big":
      return tooBig(issue)
    case "too_small":
      return tooSmall(issue)
    case "unrecognized_keys":
      return `has the unknown ${issue.keys.length === 1 ? "field" : "fields"} ${listed(issue.keys)}`
    case "invalid_union":
      return noneOf(issue)
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`
    case "invalid_format":
      return `must have the format ${issue.format}`
    default:
      return "is not valid"
  }
}

/** The value if it fits the type, or what is wrong with it. */
export const fitting = <A>(
  schema: z.ZodType<A>,
  value: unknown
):
  | { readonly data: A; readonly issues?: undefined }
  | { readonly data?: undefined; readonly issues: ReadonlyArray<Issue> } => {
  const { success, data, error } = schema.safeParse(value, { error: reasonOf })
  if (success) return { data }
  const issues = error.issues.slice(0, mostIssues).map(({ path, message }) => ({
    field: path.map((step) => (typeof step === "number" ? step : beginningOf(String(step), mostOfName))),
    reason: beginningOf(message, mostOfReason)
  }))
  return { issues }
}
