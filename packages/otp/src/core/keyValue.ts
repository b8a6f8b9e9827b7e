/**
 * Keys that compare by value.
 *
 * REGKEY1. Primitives are equal as in a `Map`. Arrays and plain objects are equal when they have equal contents, at any
 *       depth. Pids, functions, symbols and class instances are equal only to themselves.
 * REGKEY2. A key is read when it is used: a later change of the array or object does not change an existing entry.
 */
import * as Hash from "effect/Hash"

/** Prefix of the text of a key. A string key that starts with it is encoded too, so that no string equals an array. */
const mark = "\u0000"

/** The maximum depth of arrays and objects in a key. A key that contains itself exceeds it. */
const mostLevels = 100

const ids = new WeakMap<WeakKey, number>()
let lastId = 0

const idOf = (thing: WeakKey): number => {
  const id = ids.get(thing)
  if (id !== undefined) return id
  ids.set(thing, ++lastId)
  return lastId
}

const isData = (key: unknown): key is object => {
  if (typeof key !== "object" || key === null) return false
  if (Array.isArray(key)) return true
  const prototype: unknown = Object.getPrototypeOf(key)
  return prototype === Object.prototype || prototype === null
}

const writtenData = (data: object, level: number): string => {
  if (level > mostLevels) {
    throw new TypeError(`a key is nested deeper than ${mostLevels} levels, or contains itself: use a string as the key`)
  }
  if (Array.isArray(data)) {
    let text = "["
    // A hole is read as `undefined`.
    for (let at = 0; at < data.length; at++) text += `${written(data[at], level + 1)},`
    return `${text}]`
  }
  const fields = Object.entries(data).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${written(value, level + 1)}`).join()}}`
}

const written = (value: unknown, level: number): string => {
  if (isData(value)) return writtenData(value, level)
  switch (typeof value) {
    // The length makes the end of the text certain, whatever is in it.
    case "string":
      return `"${value.length}:${value}`
    case "bigint":
      return `${value}n`
    case "symbol": {
      const name = Symbol.keyFor(value)
      return name === undefined ? `#${idOf(value)}` : `@${JSON.stringify(name)}`
    }
    case "object":
    case "function":
      return value === null ? "null" : `#${idOf(value)}`
    default:
      return `${value}`
  }
}

const writtenPlace = (key: unknown): unknown => {
  if (typeof key === "string") return mark + JSON.stringify(key)
  return isData(key) ? mark + writtenData(key, 1) : key
}

/** The `Map` key that represents a key: equal for equal keys, and mostly the key itself. */
export const placeOf = (key: unknown): unknown =>
  typeof key === "string" && key.charCodeAt(0) !== 0 ? key : writtenPlace(key)

/** A hash of a result of `placeOf`: equal results have equal hashes. */
export const hashOf = (place: unknown): number => {
  const isObject = (typeof place === "object" && place !== null) || typeof place === "function"
  return Math.abs(isObject ? Hash.random(place) : Hash.hash(place))
}
