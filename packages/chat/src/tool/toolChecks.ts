/** Checks the options of a tool. A finding has the path of the bad option and the allowed values. */
import { type Finding, isRecord, nameProblem, unknownNames, ValidationError } from "../errors/index.ts"

type Check = (value: unknown) => string | undefined

const oneOf =
  (...words: ReadonlyArray<string>): Check =>
  (value) =>
    words.some((word) => word === value) ? undefined : `must_be_one_of ${words.join(", ")}`
const milliseconds: Check = (value) => (typeof value === "number" && value >= 0 ? undefined : "must_be_milliseconds")
const record: Check = (value) => (isRecord(value) ? undefined : "must_be_an_object of names and values")
const asFunction =
  (of: string): Check =>
  (value) =>
    typeof value === "function" ? undefined : `must_be_a_function of ${of}`

/** A function can be a Standard Schema, too. */
const parameters: Check = (value) =>
  isRecord(value) || (typeof value === "function" && "~standard" in value)
    ? undefined
    : "must_be a zod schema, any Standard Schema, or a JSON Schema object"

const described = {
  name: nameProblem,
  description: (value) => (typeof value === "string" ? undefined : "not_a_string"),
  parameters,
  jsonSchema: record,
  manual: (value) => (typeof value === "boolean" ? undefined : "not_a_boolean"),
  timeoutMs: milliseconds,
  idleTimeoutMs: milliseconds,
  metadata: record,
  effect: oneOf("read", "write"),
  key: asFunction("the arguments"),
  onUnknown: oneOf("ask", "fail", "retry")
} satisfies Readonly<Record<string, Check>>

/** The options for which `null` means the same as absent. */
const nullable: ReadonlySet<string> = new Set(["description", "parameters", "jsonSchema", "metadata", "handler"])

/** The option with the function depends on the constructor of the tool. */
const parts = {
  execute: { execute: asFunction("the arguments and the context"), ...described },
  handler: { handler: asFunction("the arguments and the context"), ...described }
} satisfies Readonly<Record<string, Readonly<Record<string, Check>>>>

/** Throws a `ValidationError` (`invalid_tool`) that names each option that is unknown or of the wrong type. */
export const checkTool = (given: unknown, runBy: keyof typeof parts): void => {
  if (!isRecord(given)) {
    throw new ValidationError("invalid_tool", [{ field: [], reason: "must_be_an_object of options" }])
  }
  const checks: Readonly<Record<string, Check>> = parts[runBy]
  const found: Array<Finding> = [...unknownNames(given, Object.keys(checks))]
  for (const [part, check] of Object.entries(checks)) {
    const value = given[part]
    if (part !== "name" && (value === undefined || (value === null && nullable.has(part)))) continue
    const wrong = check(value)
    if (wrong !== undefined) found.push({ field: [part], reason: wrong })
  }
  if (runBy === "execute" && given["execute"] === undefined && given["manual"] !== true) {
    found.push({ field: ["execute"], reason: "must_be_a_function; only a tool with manual: true needs none" })
  }
  if (found.length > 0) throw new ValidationError("invalid_tool", found)
}
