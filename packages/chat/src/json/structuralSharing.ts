/** Deep equality and structural sharing of plain JSON. A field that is `undefined` equals a missing field. */

/** Whether two plain values are deeply equal. */
export const isSame = (left: unknown, right: unknown): boolean => {
  if (Object.is(left, right)) return true
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((one: unknown, index) => isSame(one, (right as ReadonlyArray<unknown>)[index]))
    )
  }
  return !Array.isArray(right) && hasAll(left, right) && lacksNone(left, right)
}

const hasAll = (left: object, right: object): boolean =>
  Object.keys(left).every((key) => isSame(own(left, key), own(right, key)))

const lacksNone = (left: object, right: object): boolean =>
  Object.keys(right).every((key) => Object.hasOwn(left, key) || own(right, key) === undefined)

const own = (value: object, key: string): unknown => (Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined)

/** The length of the common prefix of two lists. */
export const samePrefix = (left: ReadonlyArray<unknown>, right: ReadonlyArray<unknown>): number => {
  const most = Math.min(left.length, right.length)
  let kept = 0
  while (kept < most && isSame(left[kept], right[kept])) kept += 1
  return kept
}

/** The old value if both are equal, else the new value. */
export const sharing = <A>(before: A | undefined, after: A): A =>
  before !== undefined && isSame(before, after) ? before : after

/** The new list, with each element that equals the old element replaced by it; the old list if all elements are equal. */
export const sharingEach = <A>(before: ReadonlyArray<A> | undefined, after: ReadonlyArray<A>): ReadonlyArray<A> => {
  if (before === undefined || before === after) return after
  const shared = after.map((one, index) => sharing(before[index], one))
  if (before.length === shared.length && shared.every((one, index) => one === before[index])) return before
  return shared.every((one, index) => one === after[index]) ? after : shared
}
