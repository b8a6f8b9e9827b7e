/**
 * How Node prints the objects of this package (`console.log`, the REPL).
 *
 * ERRTEXT2. An error is printed as its name and message, its stack and its fields, each cut to a short text.
 */
import * as Data from "effect/Data"
import { attempt, errorTitle, summary } from "./valueSummary.ts"

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

/** Makes the class of an error, as `Data.TaggedError` does. */
export const TaggedError: typeof Data.TaggedError = (tag) => {
  const made = Data.TaggedError(tag)
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
