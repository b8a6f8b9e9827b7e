/**
 * How long a value is as JSON text, without the text.
 *
 * SIZE1. The walk ends once it counted more than `most`, so a value that is too large costs no more than one that is not.
 * SIZE2. A cycle, an object that cannot be read, and what is nested deeper than a thread allows count nothing: who stores the
 *        value refuses them.
 */

/** Levels of nesting that are counted. */
const deepestCounted = 101

/** The characters of a date in JSON. */
const charactersOfDate = 26

/** The characters of an empty list and of an empty object. */
const charactersOfNothing = 2

/** The characters of the value as JSON, without escapes; a number above `most` when there are more. */
export const jsonSize = (value: unknown, most: number): number => sizeWithin(value, most, [])

const sizeWithin = (value: unknown, most: number, above: Array<object>): number => {
  switch (typeof value) {
    case "string":
      return value.length + 2
    case "number":
    case "boolean":
      return String(value).length
    case "bigint":
      return value.toString(16).length
    case "object":
      return value === null ? 4 : sizeOfObject(value, most, above)
    default:
      return 0
  }
}

const sizeOfObject = (value: object, most: number, above: Array<object>): number => {
  if (value instanceof Date) return charactersOfDate
  if (ArrayBuffer.isView(value)) return Math.ceil(value.byteLength / 3) * 4
  if (above.length >= deepestCounted || above.includes(value)) return 0
  above.push(value)
  try {
    return Array.isArray(value) ? sizeOfList(value, most, above) : sizeOfFields(value, most, above)
  } catch {
    return 0
  } finally {
    above.pop()
  }
}

const sizeOfList = (list: ReadonlyArray<unknown>, most: number, above: Array<object>): number => {
  let size = 1
  for (let index = 0; index < list.length && size <= most; index++) {
    size += 1 + sizeWithin(list[index], most - size, above)
  }
  return Math.max(size, charactersOfNothing)
}

const sizeOfFields = (value: object, most: number, above: Array<object>): number => {
  let size = 1
  if (value instanceof Error) size += sizeWithin(value.message, most, above)
  for (const [key, field] of Object.entries(value)) {
    if (size > most) break
    if (field !== undefined) size += key.length + 4 + sizeWithin(field, most - size, above)
  }
  return Math.max(size, charactersOfNothing)
}

/** Levels of nesting. A record has room for as many again around them. */
export const deepestLevels = 100
