/**
 * How Node prints the objects of this package (`console.log`, the REPL).
 *
 * ERRTEXT2. An error is printed as its name and message, its stack and its fields, each cut to a short text.
 * ERRTEXT3. An error that nothing catches is printed by Node itself, without the insides of its pids.
 */
import * as Data from "effect/Data"
import { attempt, errorTitle, isPid, summary } from "./valueSummary.ts"

/** The name of the method that Node calls to print an object. It needs no import of Node. */
export const inspected = Symbol.for("nodejs.util.inspect.custom")

const isFrame = (line: string): boolean => /^\s+at /.test(line)

const printed = (error: Error): string => {
  const frames = (error.stack ?? "").split("\n").filter(isFrame)
  const fields = Object.entries(error)
    .filter(([key]) => key !== "_tag")
    .map(([key, value]) => `  ${key}: ${summary(value)}`)
  return [errorTitle(error), ...frames, ...fields].join("\n")
}

/**
 * Makes the fields that are pids getters. Node prints an uncaught error without the method above, with all that its fields hold, which
 * for a pid is its whole system. It calls no getter.
 */
const hidePids = (error: object): void => {
  for (const [key, value] of Object.entries(error)) {
    if (typeof value !== "object" || value === null || !isPid(value)) continue
    Object.defineProperty(error, key, { get: () => value, enumerable: true })
  }
}

/** Makes the class of an error, as `Data.TaggedError` does. */
export const TaggedError: typeof Data.TaggedError = (tag) => {
  const Base = Data.TaggedError(tag) as unknown as new (fields: object) => Error
  class Tagged extends Base {
    constructor(fields: object) {
      super(fields)
      hidePids(this)
    }
  }
  const made = Tagged as unknown as ReturnType<typeof Data.TaggedError<typeof tag>>
  Object.defineProperties(made.prototype, {
    toString: {
      value(this: Error): string {
        return errorTitle(this)
      }
    },
    [inspected]: {
      value(this: Error): string {
        return attempt(() => printed(this))
      }
    }
  })
  return made
}
