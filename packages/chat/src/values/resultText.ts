/**
 * The text of a tool result: which values have a text, and its maximal length.
 *
 * RESULT1. A value that JSON would leave out or write as `{}` is refused with an error that names an alternative: bytes,
 *          functions, symbols, maps, sets, errors, promises, and instances without fields. A cycle, and an object too deep
 *          to be written, is refused too.
 * RESULT2. When a result has more characters than `maxToolResultCharacters`, or images and files of more than
 *          `maxFileBytes`, its call fails with a `ToolError` (`result_too_large`).
 */
import { ToolError } from "../errors/index.ts"
import { isPromiseLike } from "../async/index.ts"
import { deepestLevels } from "../json/index.ts"

/** The default bound on the characters of one result. */
export const defaultMaxToolResultCharacters = 1_000_000

/** The JSON text of a value; throws a `TypeError` for a value that has none (RESULT1). */
export const jsonText = (value: unknown): string => {
  const text: unknown = stringified(value ?? null)
  if (typeof text === "string") return text
  throw new TypeError("The value has no JSON form: its toJSON returns none; return plain data")
}

const stringified = (value: unknown): unknown => {
  try {
    return JSON.stringify(value, refusing)
  } catch (thrown) {
    if (!isEndless(thrown)) throw thrown
    const message = `The result is circular or nested too deep; ${plainAdvice}`
    throw new TypeError(message, { cause: thrown })
  }
}

const plainAdvice = `return plain data without cycles, at most ${deepestLevels} levels deep`

/** Whether `JSON.stringify` found a cycle, or more levels than the engine's stack holds. */
const isEndless = (thrown: unknown): boolean =>
  (thrown instanceof TypeError &&
    /^(Converting circular|cyclic |JSON\.stringify cannot serialize cyclic)/.test(thrown.message)) ||
  (thrown instanceof RangeError && thrown.message.includes("stack"))

/** The bounds of a result. */
export interface ResultLimits {
  readonly maxToolResultCharacters: number
  readonly maxFileBytes: number
}

/** The size of a result. `characters` is above the bound if there are more. */
export interface ResultSize {
  readonly characters: number
  /** The bytes of its images and files. */
  readonly fileBytes: number
}

/** The error of a call whose result is too large, or `undefined`. */
export const tooLarge = (
  { characters, fileBytes }: ResultSize,
  { maxToolResultCharacters, maxFileBytes }: ResultLimits,
  call: { readonly toolCallId: string; readonly toolName?: string | undefined }
): ToolError | undefined => {
  if (characters > maxToolResultCharacters) {
    return new ToolError("result_too_large", {
      ...call,
      message:
        `the result has ${characters} characters, and at most ${maxToolResultCharacters} are allowed; ` +
        "ask for less: a page, a part or a summary",
      metadata: { characters, maxToolResultCharacters }
    })
  }
  if (fileBytes <= maxFileBytes) return undefined
  return new ToolError("result_too_large", {
    ...call,
    message:
      `the images and files of the result have ${fileBytes} bytes, and at most ${maxFileBytes} are allowed; ` +
      "return fewer or smaller ones, or a URL",
    metadata: { fileBytes, maxFileBytes }
  })
}

/** A replacer that checks each value before its `toJSON`: `this` holds the original value. */
function refusing(this: unknown, key: string, written: unknown): unknown {
  const value: unknown = typeof this === "object" && this !== null ? Reflect.get(this, key) : written
  const advice = adviceFor(value, written)
  if (advice === undefined) return written
  throw new TypeError(`${key === "" ? "The result" : `The value of "${key}"`} ${advice}`)
}

const adviceFor = (value: unknown, written: unknown): string | undefined => {
  switch (typeof value) {
    case "function":
    case "symbol":
      return `is a ${typeof value}, which has no JSON form; leave it out`
    case "bigint":
      return typeof written === "bigint" ? "is a bigint, which has no JSON form; return String(value)" : undefined
    case "object":
      return value === null || Array.isArray(value) ? undefined : adviceForObject(value, written)
    default:
      return undefined
  }
}

/** JSON writes these objects as their primitive value. */
const boxed: ReadonlySet<string> = new Set(["[object Number]", "[object String]", "[object Boolean]"])

const adviceForObject = (value: object, written: unknown): string | undefined => {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype && !("then" in value)) return undefined
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    return "is binary data, which has no JSON form; return its text, base64 text, or where to find it"
  }
  if (isPromiseLike(value)) {
    Promise.resolve(value).catch(() => undefined)
    return "is a promise, which has no JSON form; await it in the handler"
  }
  if (value !== written) {
    return value instanceof Date && written === null ? "is an invalid date, which has no JSON form" : undefined
  }
  if (value instanceof Map) return "is a Map, which has no JSON form; return Object.fromEntries(map)"
  if (value instanceof Set) return "is a Set, which has no JSON form; return [...set]"
  if (value instanceof Error) return "is an error, which has no JSON form; return error(reason), or its message"
  if (boxed.has(Object.prototype.toString.call(value))) return undefined
  if (prototype === null || Object.keys(value).length > 0) return undefined
  return `is ${nameOf(prototype)}, which has no JSON form; return plain data`
}

const nameOf = (prototype: unknown): string => {
  const made: unknown =
    typeof prototype === "object" && prototype !== null ? Reflect.get(prototype, "constructor") : undefined
  return typeof made === "function" && made.name !== "" ? `an instance of ${made.name}` : "an instance of a class"
}
