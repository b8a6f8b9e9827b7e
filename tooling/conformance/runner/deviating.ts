/**
 * A deviation, and the differences that it excuses.
 *
 * DEV1. A rule excuses only a difference at its path with its values, in its cases.
 * DEV2. A case deviates when rules excuse each of its differences.
 *
 * @module
 */
import { type Fields, isFields } from "./fields.ts"
import type { Difference } from "./matching.ts"
import type { CaseFacts } from "./suite.ts"

/** Whether these are the values of a rule: ours, and the one of the case. */
export type Value = (ours: unknown, theirs: unknown, message: string) => boolean

/** One decision, and the difference it excuses. */
export interface Deviation {
  readonly suite: CaseFacts["suite"]
  /** A short name of the decision, to find it by. */
  readonly topic: string
  /** The decision in plain words. */
  readonly decision: string
  /** The cases of the rule; by default all of its suite. */
  readonly of?: (one: CaseFacts, difference: Difference, all: ReadonlyArray<Difference>) => boolean
  /** The path of the difference: `*` matches one step, `**` any number of steps. */
  readonly path: string
  readonly value: Value
}

const pattern = (path: string): RegExp => {
  const step = (word: string): string => {
    if (word === "**") return String.raw`(?:[^.]+\.)*`
    return word === "*" ? String.raw`[^.]+\.` : `${word.replaceAll("$", String.raw`\$`)}\\.`
  }
  return new RegExp(`^${path.split(".").map(step).join("")}$`)
}

/** Whether a path matches the path of a rule. */
export const isAt = (path: string, rule: string): boolean => pattern(rule).test(`${path}.`)

/** The reason why a case differs, when rules of this list excuse each of its differences. */
export const reasonOf = (
  list: ReadonlyArray<Deviation>,
  one: CaseFacts,
  found: ReadonlyArray<Difference>
): string | undefined => {
  const rules = found.map((difference) =>
    list.find(
      ({ suite, of, path, value }) =>
        suite === one.suite &&
        isAt(difference.path, path) &&
        value(difference.ours, difference.theirs, difference.message) &&
        (of === undefined || of(one, difference, found))
    )
  )
  if (rules.includes(undefined)) return undefined
  return [...new Set(rules.map((rule) => `${rule?.topic}: ${rule?.decision}`))].join("; ")
}

/** Whether two values have the same JSON form. */
export const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Our value is the first, and the case's value is the second; `undefined` is nothing. */
export const is =
  (required: unknown, expected: unknown): Value =>
  (ours, theirs) =>
    same(ours, required) && same(theirs, expected)

/** Both values are texts of these forms. */
export const texts =
  (ours: RegExp, theirs: RegExp): Value =>
  (one, other) =>
    typeof one === "string" && typeof other === "string" && ours.test(one) && theirs.test(other)

/** The description of the difference matches. */
export const says =
  (words: RegExp): Value =>
  (_, __, message) =>
    words.test(message)

/** The call succeeds, though the case expects a failure of this kind. */
export const succeeds =
  (expected: (failure: unknown) => boolean): Value =>
  (ours, theirs, message) =>
    ours === undefined && /^(the call did not fail|nothing was raised)$/.test(message) && expected(theirs)

/** The case has a value of this kind, and we have none. */
export const leavesOut =
  (expected: (value: unknown) => boolean): Value =>
  (ours, theirs) =>
    ours === undefined && expected(theirs)

/** Our list is the list of the case, followed by elements of this kind. */
export const adds =
  (kind: (element: unknown) => boolean): Value =>
  (ours, theirs) =>
    Array.isArray(ours) &&
    Array.isArray(theirs) &&
    ours.length > theirs.length &&
    theirs.every((element, index) => matchesText(ours[index], element)) &&
    ours.slice(theirs.length).every(kind)

/** Our list is the list of the case without some elements of this kind. */
export const lacks =
  (kind: (element: unknown) => boolean): Value =>
  (ours, theirs) =>
    Array.isArray(ours) &&
    Array.isArray(theirs) &&
    ours.length < theirs.length &&
    same(
      ours,
      theirs.filter((element) => ours.some((own) => same(own, element)) || !kind(element))
    )

/** Cases write more after a role: `assistant:t (unanswered)`. */
const matchesText = (ours: unknown, theirs: unknown): boolean =>
  same(ours, theirs) || (typeof ours === "string" && typeof theirs === "string" && theirs.startsWith(`${ours} (`))

/** An element that is a text of this form. */
export const text =
  (form: RegExp) =>
  (element: unknown): boolean =>
    typeof element === "string" && form.test(element)

/** An object with this text in this field. */
export const field =
  (name: string, form: RegExp) =>
  (element: unknown): boolean =>
    isFields(element) && text(form)(element[name])

/** An object with these fields and values, and no others. */
export const exactly =
  (required: Fields) =>
  (element: unknown): boolean =>
    same(element, required)

/** One rule for each path and value of the same decision. */
export const rules = (
  decision: Pick<Deviation, "suite" | "topic" | "decision"> & Partial<Pick<Deviation, "of">>,
  values: Readonly<Record<string, Deviation["value"]>>
): ReadonlyArray<Deviation> => Object.entries(values).map(([path, value]) => ({ ...decision, path, value }))
