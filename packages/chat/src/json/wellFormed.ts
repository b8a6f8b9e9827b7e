/**
 * Replaces each half of a surrogate pair in texts by the replacement character U+FFFD.
 *
 * WELL1. Half a surrogate pair is no Unicode text: strict readers of JSON refuse a whole request that has one, and with it each
 *        later request of the conversation. Inputs of users, decisions of persons and hooks, results and questions of tools,
 *        and replies of models are well-formed when they enter a thread. Every message of a request is well-formed, wherever it came from. Every cut of a text
 *        keeps pairs (`beginningOf`).
 */
import { deepestLevels } from "./jsonSize.ts"
import { growths } from "./structuralSharing.ts"

/** The value with well-formed texts and keys, in plain objects and lists; the same value if all of them are. */
export const wellFormed = <A>(value: A): A => (isWellFormed(value, 0) ? value : (repaired(value, 0) as A))

/** The list with well-formed elements; the same list if all of them are. An object is checked once, and so is the beginning of a list that grows. */
export const wellFormedEach = <A extends object>(list: ReadonlyArray<A>): ReadonlyArray<A> => {
  const growth = growths.get(list)
  for (let at = growth?.wellFormed ?? 0; at < list.length; at++)
    if (!isKnown(list[at])) return list.map((element) => (isKnown(element) ? element : wellFormed(element)))
  if (growth !== undefined) growth.wellFormed = Math.max(growth.wellFormed, list.length)
  return list
}

const known = new WeakSet<object>()

const isKnown = (element: unknown): boolean => {
  if (typeof element !== "object" || element === null) return isWellFormed(element, 0)
  if (known.has(element)) return true
  if (!isWellFormed(element, 0)) return false
  known.add(element)
  return true
}

/** The code that stores a value refuses deeper levels. */
const deepest = 2 * deepestLevels

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || Array.isArray(value)
}

const isWellFormed = (value: unknown, level: number): boolean => {
  if (typeof value === "string") return value.isWellFormed()
  if (typeof value !== "object" || value === null || level > deepest || !isPlain(value)) return true
  // Every event and message passes here: the loops allocate nothing, and call nothing for a text.
  if (Array.isArray(value)) {
    for (const element of value) if (!isWellFormed(element, level + 1)) return false
    return true
  }
  for (const key in value) {
    if (!key.isWellFormed()) return false
    const field: unknown = Reflect.get(value, key)
    const isText = typeof field === "string"
    if (isText ? !field.isWellFormed() : typeof field === "object" && !isWellFormed(field, level + 1)) return false
  }
  return true
}

const repaired = (value: unknown, level: number): unknown => {
  if (typeof value === "string") return value.toWellFormed()
  if (typeof value !== "object" || value === null || level > deepest || !isPlain(value)) return value
  if (Array.isArray(value)) return value.map((element) => repaired(element, level + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key.toWellFormed(), repaired(field, level + 1)])
  )
}
