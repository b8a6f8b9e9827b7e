/** The keywords that limit a number, or a count. */
import type { Draft } from "./document.ts"
import { isNumber, type Keyword, type Value } from "./keyword.ts"

/** A keyword of values of one type with a limit of another; the limit's text is the message. */
export const limit = <A, L>(
  isValue: Value<A>,
  isLimit: Value<L>,
  holds: (value: A, limit: L) => boolean,
  message: (limit: L) => string,
  since: Draft = 4
): Keyword => ({
  since,
  make: (argument) =>
    isLimit(argument)
      ? (value, at, run) => !isValue(value) || holds(value, argument) || run.fail(at, message(argument))
      : undefined
})

/** In draft 4 a flag beside the limit makes it exclusive. */
export const bound = (
  flag: string,
  holds: (value: number | bigint, limit: number | bigint) => boolean,
  word: string
): Keyword => ({
  make: (argument, schema) => {
    if (!isNumber(argument)) return undefined
    const isExclusive = schema[flag] === true
    const message = isExclusive ? `must be ${word} ${argument}` : `must be ${word} or equal to ${argument}`
    return (value, at, run) =>
      // oxlint-disable-next-line eqeqeq -- a bigint and a number can be equal
      !isNumber(value) || holds(value, argument) || (!isExclusive && value == argument) || run.fail(at, message)
  }
})
