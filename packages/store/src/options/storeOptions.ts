/** The types of a store's options; a bad value is named by its option, with what to write instead. */
import { type Finding, optionFindings, ValidationError } from "@troupe/chat/errors"
import * as z from "zod"

const isCountFrom = (least: number, value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= least

const location = z.custom(
  (value) => typeof value === "string" && value !== "",
  "must_be_a_non_empty_string, the path of a file or a folder, or the URL of a database"
)
const milliseconds = z.number("must_be_milliseconds").nonnegative("must_be_milliseconds").optional()
const clock = z
  .custom((value) => typeof value === "object" && value !== null && "now" in value, "must_be_a_clock")
  .optional()

/** The options of each store. */
const types = {
  blobFolder: z.strictObject({ clock }),
  sqlite: z.strictObject({
    durability: z.enum(["power", "process"], "must_be_one_of power, process").optional(),
    ttlMs: milliseconds,
    busyTimeoutMs: z.custom((value) => isCountFrom(0, value), "must_be_whole_milliseconds").optional(),
    clock
  }),
  postgres: z.strictObject({
    schema: z
      .custom((value) => /^[a-z_][a-z0-9_]{0,62}$/.test(String(value)), "must_be_a_name of letters, digits and _")
      .optional(),
    maxConnections: z.custom((value) => isCountFrom(1, value), "must_be_a_positive_integer").optional(),
    connectTimeoutMs: milliseconds,
    statementTimeoutMs: milliseconds,
    idleTransactionTimeoutMs: milliseconds,
    keepAliveMs: z
      .custom((value) => isCountFrom(1_000, value), "must_be_whole_milliseconds, at least 1,000")
      .optional(),
    ttlMs: milliseconds,
    clock
  })
}

/**
 * Returns the options if all are known and valid. **Errors**: throws a `ValidationError` (`invalid_options`) that names the
 * others.
 */
export const checkedOptions = <Options extends object>(
  store: keyof typeof types,
  where: unknown,
  options: Options
): Options => {
  // Findings stand in the order of the given options.
  const names = Object.keys(options)
  const ofPlace = optionFindings(z.object({ [store]: location }), { [store]: where })
  const ofOptions = optionFindings(types[store], { ...options })
  const found = [...ofPlace, ...ofOptions.toSorted((one, other) => indexIn(names, one) - indexIn(names, other))]
  if (found.length > 0) throw new ValidationError("invalid_options", found)
  return options
}

/** The place of a finding's option among the given ones. */
const indexIn = (names: ReadonlyArray<string>, { field }: Finding): number => names.indexOf(String(field[0]))
