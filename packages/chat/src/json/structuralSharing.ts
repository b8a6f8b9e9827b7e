/** Compares plain JSON, and keeps of the old what is equal in the new. A field that is `undefined` is as one that is missing. */

/** Whether two plain values say the same. */
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

/** How many elements both lists begin with. */
export const samePrefix = (left: ReadonlyArray<unknown>, right: ReadonlyArray<unknown>): number => {
  const most = Math.min(left.length, right.length)
  let kept = 0
  while (kept < most && isSame(left[kept], right[kept])) kept += 1
  return kept
}

/** The new value, as the old one where they are equal. */
export const sharing = <A>(before: A | undefined, after: A): A =>
  before !== undefined && isSame(before, after) ? before : after

/** The new list, its elements as those of the old one where they are equal; the old one, where all of them are. */
export const sharingEach = <A>(before: ReadonlyArray<A> | undefined, after: ReadonlyArray<A>): ReadonlyArray<A> => {
  if (before === undefined || before === after) return after
  const shared = after.map((one, index) => sharing(before[index], one))
  if (before.length === shared.length && shared.every((one, index) => one === before[index])) return before
  return shared.every((one, index) => one === after[index]) ? after : shared
}
