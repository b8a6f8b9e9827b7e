/**
 * The length of a value as JSON text, computed without building the text.
 *
 * SIZE1. The walk ends when the count exceeds `most`, so a value that is too large costs no more than one of size `most`.
 * SIZE2. A cycle, an unreadable object, and levels deeper than a thread allows count as 0: the code that stores the value
 *        rejects them.
 */

/** The most levels of nesting that are counted. */
const deepestCounted = 101

/** The characters of a date in JSON. */
const charactersOfDate = 26

/** The characters of an empty list and of an empty object. */
const charactersOfNothing = 2

/** The number of characters of the value as JSON, without escapes; a number above `most` when there are more. */
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

/** The most levels of nesting of a value. A record may have as many levels again around the value. */
export const deepestLevels = 100
