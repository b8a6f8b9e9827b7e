/**
 * Finds unknown names, and the known name that is closest to each.
 *
 * OPT1. An unknown option is refused, and the finding names the known option that it resembles.
 */
import type { Finding } from "./ChatError.ts"
import { closestName } from "./closestName.ts"

/** A finding for each member that has no known name. */
export const unknownNames = (given: object, known: ReadonlyArray<string>): ReadonlyArray<Finding> =>
  Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => ({ field: [name], reason: unknownName(name, known) }))

/** The reason of a finding about one unknown name. */
export const unknownName = (name: string, known: ReadonlyArray<string>): string => `unknown; ${adviceOn(name, known)}`

/** The reason of a finding about an option that does not exist; `otherwise` is the advice when no known name is close. */
export const unknownOption = (name: string, known: Iterable<string>, otherwise?: string): string => {
  const meant = closestName(name, known)
  if (meant !== undefined) return `unknown_option; did you mean ${meant}?`
  return otherwise === undefined ? "unknown_option" : `unknown_option; ${otherwise}`
}

const adviceOn = (name: string, known: ReadonlyArray<string>): string => {
  const meant = closestName(name, known)
  return meant === undefined ? `use ${known.join(", ")}` : `did you mean ${meant}?`
}
