/**
 * Merges the changes that a call made to the state of its batch into the changes of its siblings.
 *
 * FOLD1. When no sibling changed a value since the call got it, the call's value is used.
 * FOLD2. Otherwise a number's difference is added, a list's new elements are appended, records are merged field by
 *        field, and of any other value the last in call order is used.
 * FOLD3. The mistake counter is raised by the difference, and lowered to the value that a call returned: a reset undoes
 *        the mistakes of earlier calls, but not of later calls.
 * FOLD4. A field that a call left out, and a budget that it returned as `null` or `undefined`, stay unchanged.
 */

/** The state after one more call, which got the state `given` and returned the state `returned`. */
export const fold = <State extends object>(current: State, initial: State, returned: State): State => {
  const here = current as Readonly<Record<string, unknown>>
  const before = initial as Readonly<Record<string, unknown>>
  const changed: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(returned)) {
    if (Object.is(value, before[field])) continue
    if (field === "budget" && (value === undefined || value === null)) continue
    changed[field] = (field === mistakes ? counted : folded)(here[field], before[field], value)
  }
  return { ...current, ...changed }
}

/** The state after a call that failed without a state of its own. */
export const mistaken = <State extends object>(state: State): State => ({
  ...state,
  [mistakes]: numberOf((state as Readonly<Record<string, unknown>>)[mistakes]) + 1
})

const mistakes = "consecutiveMistakes"

const counted = (current: unknown, initial: unknown, returned: unknown): unknown =>
  typeof current === "number" && typeof returned === "number" && returned < numberOf(initial)
    ? Math.min(current, returned)
    : folded(current, initial, returned)

const folded = (current: unknown, initial: unknown, returned: unknown): unknown => {
  if (Object.is(current, initial)) return returned
  if (typeof current === "number" && typeof returned === "number") return current + (returned - numberOf(initial))
  if (Array.isArray(current) && Array.isArray(returned)) {
    const before: ReadonlyArray<unknown> = Array.isArray(initial) ? initial : []
    const after: ReadonlyArray<unknown> = returned
    const extended = before.every((element, index) => Object.is(element, after[index]))
    return extended ? [...(current as ReadonlyArray<unknown>), ...after.slice(before.length)] : returned
  }
  if (!isRecord(current) || !isRecord(returned)) return returned
  const before = isRecord(initial) ? initial : {}
  const merged: Record<string, unknown> = { ...current }
  for (const [field, value] of Object.entries(returned)) {
    if (!Object.is(value, before[field])) merged[field] = folded(current[field], before[field], value)
  }
  return merged
}

const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0)

/** Whether a value is a plain object. */
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
