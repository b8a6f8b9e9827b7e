/** Tells names that are none apart, and finds the one that may have been meant. */
import type { Finding } from "../ChatError.ts"
import { closestName } from "./closestName.ts"

/** A finding for each member that has no known name. */
export const unknownNames = (given: object, known: ReadonlyArray<string>): ReadonlyArray<Finding> =>
  Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => ({ field: [name], reason: `unknown; ${adviceOn(name, known)}` }))

const adviceOn = (name: string, known: ReadonlyArray<string>): string => {
  const meant = closestName(name, known)
  return meant === undefined ? `use ${known.join(", ")}` : `did you mean ${meant}?`
}
