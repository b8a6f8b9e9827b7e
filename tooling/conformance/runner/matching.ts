/**
 * Matches a value against a case's expectation: an object by its keys, an array element by element, a one-key object whose
 * key begins with `$` by that matcher. `null` matches a missing value.
 */
import { escaped, type Fields, fieldsOf, isFields, listOf, textOf } from "./json.ts"

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
export const differences = (actual: unknown, expected: unknown, scope: Scope, path = ""): Found => {
  if (isFields(expected)) {
    // `$type` may have other keys beside it; any other matcher is alone.
    const [key = "", ...others] = Object.keys(expected)
    const [word, test] = (others.length === 0 ? tests[key] : undefined) ?? []
    const deep = others.length === 0 ? matchers[key] : undefined
    if (test !== undefined) {
      const holds = test(actual, expected[key], scope, path)
      return holds ? [] : [{ path, message: `${text(actual)} is not ${word} ${text(expected[key])}` }]
    }
    if (deep !== undefined) return deep(actual, expected[key], scope, path)
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
  return (actual ?? null) === expected ? [] : [differs(path, actual, expected)]
}

/** Whether the value matches. */
export const matches = (actual: unknown, expected: unknown, scope: Scope): boolean =>
  differences(actual, expected, scope).length === 0

const fieldOf = (actual: Fields, field: string): unknown => (Object.hasOwn(actual, field) ? actual[field] : undefined)

type Found = ReadonlyArray<Difference>

type Matcher<A> = (actual: unknown, operand: unknown, scope: Scope, path: string) => A

const includes = (actual: unknown, required: unknown, scope: Scope): boolean =>
  listOf(actual).some((element) => matches(element, required, scope))

/** Matchers that hold or not, each with its words for a difference. */
const tests: Readonly<Record<string, readonly [words: string, Matcher<boolean>]>> = {
  $absent: ["absent", (actual) => actual === undefined],
  $any: ["present", (actual) => actual !== undefined],
  $string: ["a string", (actual) => typeof actual === "string"],
  $contains: ["containing", (actual, part) => typeof actual === "string" && actual.includes(textOf(part))],
  $gte: ["at least", (actual, low) => Number(actual) >= Number(low)],
  $between: [
    "between",
    (actual, bounds) => Number(actual) >= Number(listOf(bounds)[0]) && Number(actual) <= Number(listOf(bounds)[1])
  ],
  $includes: ["including", (actual, all, scope) => listOf(all).every((one) => includes(actual, one, scope))],
  $excludes: ["excluding", (actual, all, scope) => !listOf(all).some((one) => includes(actual, one, scope))],
  $unordered: ["in any order", (actual, all, scope) => isPermuted(listOf(actual), listOf(all), scope)],
  $one_of: ["one of", (actual, all, scope) => listOf(all).some((one) => matches(actual, one, scope))],
  $given: ["given", (actual, path, { given }) => actual === at(given, textOf(path))],
  $not: ["other than", (actual, other, scope) => !matches(actual, other, scope)],
  $less: ["below", (actual, path, { outcome }) => Number(actual) < Number(at(outcome, textOf(path)))],
  // A pattern may have values of the outcome in it: `{given.type}`.
  $matches: [
    "like",
    (actual, pattern, { outcome }) => {
      const value = (_: string, path: string): string => escaped(textOf(at(outcome, path)))
      const written = textOf(pattern).replaceAll(/\{([a-z]\w*\.[\w.]+)\}/g, value)
      return actual !== undefined && new RegExp(written).test(textOf(actual))
    }
  ],
  // The text of the case has the value between two patterns; a number in the text exceeds the bound.
  $mentioned: [
    "mentioned by the case after",
    (actual, patterns, { outcome, given }) => {
      const [before, after = "", bound] = listOf(patterns).map(textOf)
      const value = isFields(actual) ? JSON.stringify(actual).slice(1, -1) : (JSON.stringify(actual) ?? "")
      const [found, size] = new RegExp(`${before}${escaped(value)}${after}`).exec(textOf(given)) ?? []
      return found !== undefined && (bound === undefined || Number(size) > Number(at(outcome, bound)))
    }
  ]
}

const constructed =
  (key: string): Matcher<Found> =>
  (actual, operand, scope, path) =>
    isFields(actual) && key in actual
      ? differences(actual[key], operand, scope, below(path, key))
      : [differs(path, actual, { [key]: operand })]

/** Matchers of a part, or of another form, of the value. */
const matchers: Readonly<Record<string, Matcher<Found>>> = {
  $exact: (actual, operand, _, path) => exactly(actual, operand, path),
  $ref: (actual, operand, { outcome }, path) => exactly(actual, at(outcome, textOf(operand)), path),
  $json: (actual, operand, scope, path) => {
    const read = parsed(actual)
    return read.length === 0 ? [differs(path, actual, { $json: operand })] : differences(read[0], operand, scope, path)
  },
  $len: (actual, operand, scope, path) => {
    const sized = isFields(actual) ? Object.keys(actual) : actual
    const length = Array.isArray(sized) || typeof sized === "string" ? sized.length : undefined
    return differences(length, operand, scope, below(path, "length"))
  },
  $last: (actual, operand, scope, path) => differences(listOf(actual).at(-1), operand, scope, below(path, -1)),
  $all: (actual, operand, scope, path) =>
    listOf(operand).flatMap((required) => differences(actual, required, scope, path)),
  $where: (actual, operand, scope, path) => {
    const [filter, required] = listOf(operand)
    const kept = listOf(actual).filter((element) => matches(element, filter, scope))
    return differences(kept, required, scope, path)
  },
  $error: constructed("$error"),
  $exception: constructed("$exception"),
  $usage: constructed("$usage"),
  $unencodable: constructed("$unencodable"),
  $part: constructed("$part")
}

const parsed = (value: unknown): readonly [unknown] | readonly [] => {
  try {
    return typeof value === "string" ? [JSON.parse(value)] : []
  } catch {
    return []
  }
}

/** Whether the elements can be paired with the expectations, one to one. */
const isPermuted = (elements: ReadonlyArray<unknown>, required: ReadonlyArray<unknown>, scope: Scope): boolean => {
  const [first, ...others] = required
  if (elements.length !== required.length) return false
  const isPaired = (element: unknown, chosen: number): boolean =>
    matches(element, first, scope) && isPermuted(elements.toSpliced(chosen, 1), others, scope)
  return required.length === 0 || elements.some(isPaired)
}

/** Deep equality; a library error matches the fields of its expectation. */
const exactly = (actual: unknown, expected: unknown, path: string): Found => {
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return [differs(path, actual, expected)]
    return expected.flatMap((required, index) => exactly(actual[index], required, below(path, index)))
  }
  if (!isFields(expected)) return actual === expected ? [] : [differs(path, actual, expected)]
  if (!isFields(actual)) return [differs(path, actual, expected)]
  if ("$result" in expected) return exactly(actual, expected["$result"], path)
  const isHeld = ["$error", "$exception", "$usage"].some((key) => key in expected && key in actual)
  const [left, right] = isHeld ? [actual, expected].map((held) => fieldsOf(Object.values(held)[0])) : [actual, expected]
  return Object.keys({ ...right, ...(isHeld ? {} : left) }).flatMap((key) =>
    exactly(left?.[key], right?.[key], below(path, key))
  )
}

/** The value at a dotted path; `-1` is the last element. */
export const at = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((here, step) => {
    if (Array.isArray(here)) return step === "length" ? here.length : here.at(Number(step))
    return fieldsOf(here)[step]
  }, value)

const below = (path: string, step: string | number): string => (path === "" ? textOf(step) : `${path}.${step}`)

const differs = (path: string, ours: unknown, theirs: unknown): Difference => ({
  path,
  message: `${text(ours)} instead of ${text(theirs)}`,
  ours,
  theirs
})

const longest = 160

const text = (value: unknown): string => {
  const said = JSON.stringify(value) ?? "nothing"
  return said.length > longest ? `${said.slice(0, longest)}…` : said
}
