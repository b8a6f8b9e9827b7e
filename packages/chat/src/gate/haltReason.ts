/** The word a turn is ended with by a hook, by a question's answer or by a decision. */
import { reservedHaltReasons } from "../values/index.ts"

/** The word where none is given. */
export const haltWord = (reason: unknown): string => (typeof reason === "string" ? reason : "halt")

/** What keeps a reason from being the word of a halt, or `undefined`; without one, `haltWord` is. */
export const haltProblem = (reason: unknown): string | undefined => {
  if (reason === undefined) return undefined
  if (typeof reason !== "string" || reason.trim() === "") return "a halt reason is text that is not empty"
  return reservedHaltReasons.has(reason)
    ? `"${reason}" is a reserved halt reason; choose a word of your own`
    : undefined
}
