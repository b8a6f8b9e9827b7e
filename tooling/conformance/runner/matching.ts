/**
 * Matches a value against a case's expectation: an object by its keys, an array element by element, a one-key object whose
 * key begins with `$` by that matcher. `null` matches a missing value.
 */
import { escaped, type Fields, fieldsOf, isFields, listOf, textOf } from "./fields.ts"

/** One difference: its path, and its description. */
export interface Difference {
  readonly path: string
  readonly message: string
  /** Our value and the case's value, if known; `undefined` is nothing. */
  readonly ours?: unknown
  readonly theirs?: unknown
  /** The facet is unknown to the runner: it neither passes nor fails. */
  readonly isUnexamined?: true
}

/** A facet that is unknown to the runner. */
export const unexamined = (facet: string): Difference => ({
  path: facet,
  message: "the runner has no such facet",
  isUnexamined: true
})

/** The differences in the facets of a case; `seen` has all facets that the runner supports. */
export const facetDifferences = (seen: Fields, expected: Fields, outcome: Fields = {}): ReadonlyArray<Difference> =>
  Object.entries(expected).flatMap(([facet, required]) =>
    Object.hasOwn(seen, facet)
      ? differences(fieldOf(seen, facet), required, { outcome, given: {} }, facet)
      : [unexamined(facet)]
  )

/** The values that references of an expectation refer to. */
export interface Scope {
  readonly outcome: Fields
  readonly given: Fields
}

/** The differences; none when the value matches. */
export const differences = (actual: unknown, expected: unknown, scope: Scope, path = ""): ReadonlyArray<Difference> => {
  if (isFields(expected)) {
    const [key] = Object.keys(expected)
    const matcher = key === undefined ? undefined : matchers[key]
    if (key !== undefined && matcher !== undefined && isLone(expected)) {
      return matcher({ actual, operand: expected[key], scope, path })
    }
    if (!isFields(actual)) return [differs(path, actual, expected)]
    return Object.entries(expected).flatMap(([field, required]) =>
      field === "$type" ? [] : differences(fieldOf(actual, field), required, scope, below(path, field))
    )
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return [differs(path, actual, expected)]
    if (actual.length !== expected.length) {
      const message = `has ${actual.length} elements instead of ${expected.length}: ${text(actual)}`
      return [{ path, message, ours: actual, theirs: expected }]
    }
    return expected.flatMap((required, index) => differences(actual[index], required, scope, below(path, index)))
  }
  const nothing = actual === undefined || actual === missing
  return (nothing ? null : actual) === expected ? [] : [differs(path, actual, expected)]
}

/** Whether the value matches. */
export const matches = (actual: unknown, expected: unknown, scope: Scope): boolean =>
  differences(actual, expected, scope).length === 0

/** `$type` may have other keys beside it; any other matcher is alone. */
const isLone = (expected: Fields): boolean => Object.keys(expected).length === 1

const missing = Symbol("missing")

const fieldOf = (actual: Fields, field: string): unknown => {
  const value = Object.hasOwn(actual, field) ? actual[field] : missing
  return value === undefined ? missing : value
}

interface Match {
  readonly actual: unknown
  readonly operand: unknown
  readonly scope: Scope
  readonly path: string
}

type Matcher = (match: Match) => ReadonlyArray<Difference>

const verdict = (holds: boolean, { actual, operand, path }: Match, word: string): ReadonlyArray<Difference> =>
  holds ? [] : [{ path, message: `${text(actual)} is not ${word} ${text(operand)}` }]

const lengthOf = (value: unknown): unknown => {
  if (Array.isArray(value) || typeof value === "string") return value.length
  return isFields(value) ? Object.keys(value).length : undefined
}

const constructed =
  (key: string): Matcher =>
  ({ actual, operand, scope, path }) =>
    isFields(actual) && key in actual
      ? differences(actual[key], operand, scope, below(path, key))
      : [differs(path, actual, { [key]: operand })]

const matchers: Readonly<Record<string, Matcher>> = {
  $exact: ({ actual, operand, path }) => exactly(actual, operand, path),
  $absent: (match) => verdict(match.actual === missing || match.actual === undefined, match, "absent"),
  $any: (match) => verdict(match.actual !== missing && match.actual !== undefined, match, "present"),
  $string: (match) => verdict(typeof match.actual === "string", match, "a string"),
  $contains: (match) =>
    verdict(typeof match.actual === "string" && match.actual.includes(textOf(match.operand)), match, "containing"),
  $json: ({ actual, operand, scope, path }) => {
    const read = parsed(actual)
    return read.length === 0 ? [differs(path, actual, { $json: operand })] : differences(read[0], operand, scope, path)
  },
  $matches: (match) => {
    const pattern = textOf(match.operand).replaceAll(/\{([a-z]\w*\.[\w.]+)\}/g, (_, path: string) =>
      escaped(textOf(at(match.scope.outcome, path)))
    )
    return verdict(match.actual !== missing && new RegExp(pattern).test(textOf(match.actual)), match, "like")
  },
  $not: (match) => verdict(!matches(match.actual, match.operand, match.scope), match, "other than"),
  $mentioned: (match) => {
    const [before, after = "", bound] = listOf(match.operand).map(textOf)
    const [found, size] = new RegExp(`${before}${written(match.actual)}${after}`).exec(textOf(match.scope.given)) ?? []
    const exceeds = bound === undefined || Number(size) > Number(at(match.scope.outcome, bound))
    return verdict(found !== undefined && exceeds, match, "mentioned by the case after")
  },
  $adds: (match) => verdict(isMore(match), match, "the other list with more"),
  $extends: (match) => {
    const base = listOf(match.scope.outcome["theirs"])
    const isSame = base.every((element, index) => isWritten(listOf(match.actual)[index], element))
    return verdict(isSame && isMore(match), match, "the other list, then more")
  },
  $less: (match) =>
    verdict(Number(match.actual) < Number(at(match.scope.outcome, textOf(match.operand))), match, "below"),
  $gte: (match) => verdict(Number(match.actual) >= Number(match.operand), match, "at least"),
  $between: (match) => {
    const [low, high] = listOf(match.operand)
    return verdict(Number(match.actual) >= Number(low) && Number(match.actual) <= Number(high), match, "between")
  },
  $len: ({ actual, operand, scope, path }) => differences(lengthOf(actual), operand, scope, below(path, "length")),
  $includes: (match) => {
    const required = listOf(match.operand)
    const found = required.every((one) => listOf(match.actual).some((element) => matches(element, one, match.scope)))
    return verdict(found, match, "including")
  },
  $excludes: (match) => {
    const unwanted = listOf(match.operand)
    const found = unwanted.some((one) => listOf(match.actual).some((element) => matches(element, one, match.scope)))
    return verdict(!found, match, "excluding")
  },
  $unordered: (match) => verdict(permuted(match), match, "in any order"),
  $last: ({ actual, operand, scope, path }) => differences(listOf(actual).at(-1), operand, scope, below(path, -1)),
  $all: ({ actual, operand, scope, path }) =>
    listOf(operand).flatMap((required) => differences(actual, required, scope, path)),
  $where: ({ actual, operand, scope, path }) => {
    const [filter, required] = listOf(operand)
    const kept = listOf(actual).filter((element) => matches(element, filter, scope))
    return differences(kept, required, scope, path)
  },
  $one_of: (match) =>
    verdict(
      listOf(match.operand).some((required) => matches(match.actual, required, match.scope)),
      match,
      "one of"
    ),
  $ref: ({ actual, operand, scope, path }) => exactly(actual, at(scope.outcome, textOf(operand)), path),
  $given: (match) => verdict(match.actual === at(match.scope.given, textOf(match.operand)), match, "given"),
  $error: constructed("$error"),
  $exception: constructed("$exception"),
  $usage: constructed("$usage"),
  $unencodable: constructed("$unencodable"),
  $part: constructed("$part")
}

/** Whether a list is that of the other side, with more elements that match the operand. */
const isMore = ({ actual, operand, scope, path }: Match): boolean => {
  const isOurs = path === "ours"
  const base = listOf(scope.outcome[isOurs ? "theirs" : "ours"])
  let found = 0
  const added = listOf(actual).filter((element) => {
    const [ours, theirs] = isOurs ? [element, base[found]] : [base[found], element]
    const isBase = found < base.length && isWritten(ours, theirs)
    if (isBase) found++
    return !isBase
  })
  return found === base.length && added.length > 0 && added.every((element) => matches(element, operand, scope))
}

/** A value as the JSON text of a case has it; an object without its braces. */
const written = (value: unknown): string =>
  escaped(isFields(value) ? JSON.stringify(value).slice(1, -1) : (JSON.stringify(value) ?? ""))

/** Whether two values are the same; cases write more after a role: `assistant:t (unanswered)`. */
const isWritten = (ours: unknown, theirs: unknown): boolean =>
  textOf(ours) === textOf(theirs) || textOf(theirs).startsWith(`${textOf(ours)} (`)

const parsed = (value: unknown): readonly [unknown] | readonly [] => {
  try {
    return typeof value === "string" ? [JSON.parse(value)] : []
  } catch {
    return []
  }
}

/** Whether the elements can be paired with the expectations, one to one. */
const permuted = ({ actual, operand, scope }: Match): boolean => {
  const required = listOf(operand)
  const elements = listOf(actual)
  if (elements.length !== required.length) return false
  const pair = (index: number, free: ReadonlyArray<unknown>): boolean =>
    index === required.length ||
    free.some(
      (element, chosen) => matches(element, required[index], scope) && pair(index + 1, free.toSpliced(chosen, 1))
    )
  return pair(0, elements)
}

/** Deep equality; a library error matches the fields of its expectation. */
const exactly = (actual: unknown, expected: unknown, path: string): ReadonlyArray<Difference> => {
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return [differs(path, actual, expected)]
    return expected.flatMap((required, index) => exactly(actual[index], required, below(path, index)))
  }
  if (!isFields(expected)) return actual === expected ? [] : [differs(path, actual, expected)]
  if (!isFields(actual)) return [differs(path, actual, expected)]
  if ("$result" in expected) return exactly(actual, expected["$result"], path)
  const held = ["$error", "$exception", "$usage"].some((key) => key in expected && key in actual)
  const keys = held
    ? Object.keys(fieldsOf(Object.values(expected)[0]))
    : Object.keys({ ...expected, ...actual }).filter((key) => expected[key] !== undefined || actual[key] !== undefined)
  const [left, right] = held
    ? [fieldsOf(Object.values(actual)[0]), fieldsOf(Object.values(expected)[0])]
    : [actual, expected]
  return keys.flatMap((key) => exactly(left[key], right[key], below(path, key)))
}

/** The value at a dotted path; `-1` is the last element. */
export const at = (value: unknown, path: string): unknown => {
  let here = value
  for (const step of path.split(".")) {
    if (Array.isArray(here)) here = step === "length" ? here.length : here.at(Number(step))
    else here = fieldsOf(here)[step]
  }
  return here
}

const below = (path: string, step: string | number): string => (path === "" ? textOf(step) : `${path}.${step}`)

const differs = (path: string, actual: unknown, expected: unknown): Difference => ({
  path,
  message: `${text(actual)} instead of ${text(expected)}`,
  ours: actual === missing ? undefined : actual,
  theirs: expected === missing ? undefined : expected
})

const longest = 160

const text = (value: unknown): string => {
  const said = value === missing ? "nothing" : (JSON.stringify(value) ?? "nothing")
  return said.length > longest ? `${said.slice(0, longest)}…` : said
}
