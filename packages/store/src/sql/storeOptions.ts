/** Validates options. */
import { ValidationError } from "@troupe/chat"
import type { Finding } from "@troupe/chat/errors"

const isText = (value: unknown): boolean => typeof value === "string" && value !== ""

const isTime = (value: unknown): boolean => typeof value === "number" && value >= 0 && Number.isFinite(value)

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0

const isClock = (value: unknown): boolean => typeof value === "object" && value !== null && "now" in value

/** A requirement of an option, in words, and its check. */
type Rule = readonly [must: string, holds: (value: unknown) => boolean]

const time: Rule = ["must_be_milliseconds", isTime]

/** The options of each store. */
const rules: Readonly<Record<"sqlite" | "postgres", Readonly<Record<string, Rule>>>> = {
  sqlite: {
    durability: ["must_be_one_of power, process", (value) => value === "power" || value === "process"],
    ttlMs: time,
    busyTimeoutMs: ["must_be_whole_milliseconds", (value) => Number.isSafeInteger(value) && isTime(value)],
    clock: ["must_be_a_clock", isClock]
  },
  postgres: {
    schema: ["must_be_a_name of letters, digits and _", (value) => /^[a-z_][a-z0-9_]{0,62}$/.test(String(value))],
    maxConnections: ["must_be_a_positive_integer", isCount],
    connectTimeoutMs: time,
    ttlMs: time,
    clock: ["must_be_a_clock", isClock]
  }
}

/**
 * Returns the options if all are known and valid. **Errors**: throws a `ValidationError` (`invalid_options`) that names the
 * others.
 */
export const checkedOptions = <Options extends object>(
  store: keyof typeof rules,
  where: unknown,
  options: Options
): Options => {
  const found: Array<Finding> = isText(where) ? [] : [{ field: [store], reason: "must_be_a_non_empty_string" }]
  for (const [name, value] of Object.entries(options)) {
    const rule = rules[store][name]
    if (rule === undefined) found.push({ field: [name], reason: "unknown_option" })
    else if (value !== undefined && !rule[1](value)) found.push({ field: [name], reason: rule[0] })
  }
  if (found.length > 0) throw new ValidationError("invalid_options", found)
  return options
}
