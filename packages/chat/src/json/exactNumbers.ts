/**
 * Integers of a JSON text that a JavaScript number cannot hold.
 *
 * NUM1. An integer beyond 2^53 of a model's arguments reaches the handler unchanged, as a bigint, or the call is `invalid`. The
 *       arguments that are stored and shown are rounded; the text of the model is kept beside them, and is repeated to it exactly.
 *       A call with a number that no JavaScript number can round to, as `1e400`, is `invalid`.
 */

/** An integer of this many digits may be beyond 2^53. */
const longInteger = /\d{16}/

/** The most digits of an integer: more than any number that JavaScript can round to. */
const mostDigits = 309

/** A number of so many digits, or with such an exponent, may be beyond the range of JavaScript's numbers. */
const vastNumber = /\d{300}|e\+?\d{2}/i

const exactJson: {
  readonly parse: (
    text: string,
    reviver: (key: string, value: unknown, context?: { readonly source?: string }) => unknown
  ) => unknown
  readonly rawJSON?: (text: string) => unknown
} = JSON

/** The value with the integers that the text has in their places, each made by `made` from its digits. */
const withIntegers = (value: unknown, text: string | undefined, made: (digits: string) => unknown): unknown => {
  if (text === undefined || !longInteger.test(text)) return value
  let hasLarge = false
  const read = (_: string, one: unknown, context?: { readonly source?: string }): unknown => {
    const source = context?.source
    if (typeof one !== "number" || Number.isSafeInteger(one) || source === undefined) return one
    if (!/^-?\d+$/.test(source) || source.length > mostDigits) return one
    hasLarge = true
    return new Large(one, source)
  }
  const exact = exactJson.parse(text, read)
  return hasLarge ? merged(value, exact, made) : value
}

/** A large integer: its rounded value, and its digits. */
class Large {
  readonly rounded: number
  readonly digits: string
  constructor(rounded: number, digits: string) {
    this.rounded = rounded
    this.digits = digits
  }
}

/** A copy of the value; a number of it that was changed since it was read stays as it is. */
const merged = (value: unknown, exact: unknown, made: (digits: string) => unknown): unknown => {
  if (exact instanceof Large) return value === exact.rounded ? made(exact.digits) : value
  if (typeof value !== "object" || value === null || typeof exact !== "object" || exact === null) return value
  if (Array.isArray(value)) return value.map((item, index) => merged(item, Reflect.get(exact, index), made))
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      merged(field, Object.hasOwn(exact, key) ? Reflect.get(exact, key) : undefined, made)
    ])
  )
}

/** The arguments with the integers of their text as bigints (NUM1); the arguments themselves if they have none. */
export const withBigints = (args: Record<string, unknown>, text: string | undefined): Record<string, unknown> =>
  withIntegers(args, text, BigInt) as Record<string, unknown>

/** The arguments that `JSON.stringify` writes with the integers of their text (NUM1); only for that. */
export const withRawIntegers = (args: Record<string, unknown>, text: string | undefined): Record<string, unknown> =>
  withIntegers(args, text, (digits) => exactJson.rawJSON?.(digits) ?? Number(digits)) as Record<string, unknown>

/** Whether arguments with this text have a number that is infinite for JavaScript (NUM1). */
export const overflows = (args: unknown, text: string | undefined): boolean =>
  text !== undefined && vastNumber.test(text) && hasInfinite(args)

const hasInfinite = (value: unknown): boolean =>
  typeof value === "number"
    ? !Number.isFinite(value)
    : typeof value === "object" && value !== null && Object.values(value).some(hasInfinite)
