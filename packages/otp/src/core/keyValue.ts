/**
 * Keys that compare by value.
 *
 * REGKEY1. Keys are equal when they are the same data: primitives as a `Map` compares them, arrays and plain objects by what
 *       they contain, at any depth. All else is equal to itself only: pids, functions, symbols, instances of classes.
 * REGKEY2. A key is read when it is used: a later change of the array or object changes no entry that exists.
 */
import * as Hash from "effect/Hash"

/** Starts the text of a key; a string key that starts with it is written too, so that no string equals an array. */
const mark = "\u0000"

/** How deep arrays and objects may be nested in a key; one that contains itself is deeper. */
const mostLevels = 100

const ids = new WeakMap<WeakKey, number>()
let lastId = 0

const idOf = (thing: WeakKey): number => {
  const known = ids.get(thing)
  if (known !== undefined) return known
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
  if (Array.isArray(data)) return `[${Array.from(data, (item: unknown) => written(item, level + 1)).join()}]`
  const fields = Object.entries(data).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${written(value, level + 1)}`).join()}}`
}

const written = (value: unknown, level: number): string => {
  if (isData(value)) return writtenData(value, level)
  switch (typeof value) {
    case "string":
      return JSON.stringify(value)
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

/** What stands for a key in a `Map`: the same for equal keys, and most often the key itself. */
export const placeOf = (key: unknown): unknown =>
  typeof key === "string" && key.charCodeAt(0) !== 0 ? key : writtenPlace(key)

/** A number for what `placeOf` gave, the same for the same. */
export const hashOf = (place: unknown): number => {
  const isObject = (typeof place === "object" && place !== null) || typeof place === "function"
  return Math.abs(isObject ? Hash.random(place) : Hash.hash(place))
}
