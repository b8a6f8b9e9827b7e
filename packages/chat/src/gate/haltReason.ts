/** Halt reasons of hooks, answers and decisions. */
import { reservedHaltReasons } from "../values/index.ts"

/** The halt reason, well-formed; default `"halt"`. */
export const haltWord = (reason: unknown): string => (typeof reason === "string" ? reason.toWellFormed() : "halt")

/** The problem of a halt reason; `undefined` for a valid reason or none. */
export const haltProblem = (reason: unknown): string | undefined => {
  if (reason === undefined) return undefined
  if (typeof reason !== "string" || reason.trim() === "") return "a halt reason is text that is not empty"
  return reservedHaltReasons.has(reason)
    ? `"${reason}" is a reserved halt reason; choose a word of your own`
    : undefined
}
