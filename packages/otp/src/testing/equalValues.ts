/**
 * Equality of the messages of a test.
 *
 * TESTP4. Arrays, plain objects, dates, maps, sets and errors are equal when their contents are. All else, such as a pid or an
 *         instance of another class, is equal only to itself.
 */

/** The depth to which values are compared. One that contains itself exceeds it. */
const mostLevels = 100

const plainOf = (value: object): unknown => Object.getPrototypeOf(value) ?? Object.prototype

const hasEqualFields = (one: object, other: object, level: number): boolean => {
  const fields = Object.entries(one)
  const others = new Map(Object.entries(other))
  return (
    fields.length === others.size &&
    fields.every(([key, value]) => others.has(key) && isEqual(value, others.get(key), level))
  )
}

/** Whether each item of one has its own equal in the other, in any order. */
const hasEqualItems = (one: Iterable<unknown>, other: Iterable<unknown>, level: number): boolean => {
  const left = [...other]
  for (const item of one) {
    const at = left.findIndex((candidate) => isEqual(item, candidate, level))
    if (at < 0) return false
    left.splice(at, 1)
  }
  return left.length === 0
}

const isEqual = (one: unknown, other: unknown, above: number): boolean => {
  if (one === other || Object.is(one, other)) return true
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false
  const level = above + 1
  if (level > mostLevels || plainOf(one) !== plainOf(other)) return false
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && Array.from(one).every((item, at) => isEqual(item, other[at], level))
  }
  if (one instanceof Date && other instanceof Date) return Object.is(one.getTime(), other.getTime())
  if (one instanceof Map && other instanceof Map) return hasEqualItems(one, other, level)
  if (one instanceof Set && other instanceof Set) return hasEqualItems(one, other, level)
  if (one instanceof Error && other instanceof Error) {
    return (
      one.name === other.name &&
      one.message === other.message &&
      isEqual(one.cause, other.cause, level) &&
      hasEqualFields(one, other, level)
    )
  }
  return plainOf(one) === Object.prototype && hasEqualFields(one, other, level)
}

/** Whether two messages are equal (TESTP4). */
export const equalValues = (one: unknown, other: unknown): boolean => isEqual(one, other, 0)
