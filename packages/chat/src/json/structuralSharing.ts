/**
 * Deep equality, structural sharing, deep copies and well-formed texts of plain JSON. A field that is `undefined` equals a missing field.
 *
 * Owns: which lists grew from which, and which objects have been found well-formed.
 *
 * GROW1. Two additions of the same elements to a list of 32 or more return the same list. So a chat, its writes and its store copy a long thread once for each
 *        addition, and compare nothing of what was there before.
 * COPY1. Plain objects and lists are copied at every depth, each exactly once, so cycles stay cycles. Other values
 *        (dates, bytes, class instances, functions) are shared with the original.
 * COPY2. A getter is read once; in the copy it is a value. If the getter throws, `copied` throws.
 * WELL1. Half a surrogate pair is no Unicode text: strict readers of JSON refuse a whole request that has one, and with it each
 *        later request of the conversation. Inputs of users, decisions of persons and hooks, results and questions of tools,
 *        and replies of models are well-formed when they enter a thread. Every message of a request is well-formed, wherever it came from. Every cut of a text
 *        keeps pairs (`beginningOf`).
 */
import { deepestLevels } from "./jsonSize.ts"

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

/**
 * Lists of which each is the beginning of the longer ones; the first `wellFormed` elements have been checked (WELL1). No holder of an older
 * list keeps the newest one in memory.
 */
interface Growth {
  newest: WeakRef<ReadonlyArray<unknown>>
  wellFormed: number
}

const growths = new WeakMap<ReadonlyArray<unknown>, Growth>()

/** A shorter list is copied: the memory of its growth would cost more than the copy. */
const shortest = 32

/** A list with these elements at the end (GROW1). */
export const extended = <A>(list: ReadonlyArray<A>, added: ReadonlyArray<A>): ReadonlyArray<A> => {
  const { length } = list
  if (length + added.length < shortest) return list.concat(added)
  const growth = growths.get(list)
  const newest = growth?.newest.deref() as ReadonlyArray<A> | undefined
  let same = 0
  if (newest !== undefined) while (same < added.length && newest[length + same] === added[same]) same += 1
  const goesOn = growth !== undefined && newest?.length === length + same
  if (goesOn && same === added.length) return newest
  const longer = goesOn ? newest.concat(added.slice(same)) : list.concat(added)
  const ref = new WeakRef(longer)
  if (goesOn) growth.newest = ref
  growths.set(longer, goesOn ? growth : { newest: ref, wellFormed: 0 })
  return longer
}

/** The length of the common prefix of identical elements. A list that proves to be the beginning of the other one grew to it. */
export const identicalPrefix = (before: ReadonlyArray<unknown>, after: ReadonlyArray<unknown>): number => {
  const most = Math.min(before.length, after.length)
  const growth = growths.get(after)
  if (before === after || (growth !== undefined && growths.get(before) === growth)) return most
  let kept = 0
  while (kept < most && before[kept] === after[kept]) kept += 1
  if (kept === before.length && growth !== undefined) growths.set(before, growth)
  return kept
}

/** A deep copy of a value (COPY1). */
export const copied = <A>(value: A): A => {
  if (!isContainer(value)) return value
  const copy = shallow(value)
  let pending: Array<Record<string, unknown>> | undefined
  let copies: Map<Record<string, unknown>, Record<string, unknown>> | undefined
  for (let open: Record<string, unknown> | undefined = copy; open !== undefined; open = pending?.pop()) {
    for (const key of Object.keys(open)) {
      const inner = open[key]
      if (!isContainer(inner)) continue
      copies ??= new Map([[value, copy]])
      pending ??= []
      let kept = copies.get(inner)
      if (kept === undefined) {
        kept = shallow(inner)
        copies.set(inner, kept)
        pending.push(kept)
      }
      open[key] = kept
    }
  }
  return copy as A
}

const isContainer = (value: unknown): value is Record<string, unknown> => {
  if (typeof value !== "object" || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

const shallow = (value: Record<string, unknown>): Record<string, unknown> =>
  Array.isArray(value) ? (Array.from<unknown>(value) as unknown as Record<string, unknown>) : { ...value }

/** The value with well-formed texts and keys, in plain objects and lists; the same value if all of them are. */
export const wellFormed = <A>(value: A): A => (isWellFormed(value, 0) ? value : (repaired(value, 0) as A))

/** The list with well-formed elements; the same list if all of them are. An object is checked once, and so is the beginning of a list that grows. */
export const wellFormedEach = <A extends object>(list: ReadonlyArray<A>): ReadonlyArray<A> => {
  const growth = growths.get(list)
  for (let at = growth?.wellFormed ?? 0; at < list.length; at++)
    if (!isChecked(list[at])) return list.map((element) => (isChecked(element) ? element : wellFormed(element)))
  if (growth !== undefined) growth.wellFormed = Math.max(growth.wellFormed, list.length)
  return list
}

/** Objects without half a surrogate pair. */
const checked = new WeakSet<object>()

const isChecked = (element: unknown): boolean => {
  if (typeof element !== "object" || element === null) return isWellFormed(element, 0)
  if (checked.has(element)) return true
  if (!isWellFormed(element, 0)) return false
  checked.add(element)
  return true
}

/** The code that stores a value refuses deeper levels. */
const deepest = 2 * deepestLevels

const isWellFormed = (value: unknown, level: number): boolean => {
  if (typeof value === "string") return value.isWellFormed()
  if (typeof value !== "object" || value === null || level > deepest || !isContainer(value)) return true
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
  if (typeof value !== "object" || value === null || level > deepest || !isContainer(value)) return value
  if (Array.isArray(value)) return value.map((element) => repaired(element, level + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key.toWellFormed(), repaired(field, level + 1)])
  )
}
