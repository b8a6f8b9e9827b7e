/**
 * Deviations: the decisions that explain differences from the cases.
 *
 * DEV1. A deviation excuses only a difference at one of its paths with the values of that path, in its cases.
 * DEV2. A case deviates when deviations excuse each of its differences, and each element that one list has more.
 *
 * @module
 */
import { escaped, type Fields, tablesIn, textOf } from "./json.ts"
import { type Difference, matches } from "./matching.ts"
import type { CaseFacts } from "./suite.ts"

/** One decision, and the differences that it excuses. */
export interface Deviation {
  readonly suite: CaseFacts["suite"]
  /** A short name of the decision, to find it by. */
  readonly topic: string
  /** The decision in plain words. */
  readonly decision: string
  /** What the case and the difference match; by default all of the suite do. */
  readonly of?: Fields
  /** The difference that this one comes with, or after, in a list of operations. */
  readonly since?: { readonly path: string; readonly message: string }
  /** What the difference matches, by its path: `*` is one step, `**` any number of steps, `more` an element that one list has more. */
  readonly at: Readonly<Record<string, Fields>>
}

/** All intended differences from the cases. Deviations describe differences, not single cases. */
export const deviations = tablesIn("../deviations.json", import.meta.url) as ReadonlyArray<Deviation>

const pattern = (path: string): RegExp => {
  const steps: Readonly<Record<string, string>> = { "**": String.raw`(?:[^.]+\.)*`, "*": String.raw`[^.]+\.` }
  const step = (word: string): string => steps[word] ?? `${escaped(word)}\\.`
  return new RegExp(`^${path.split(".").map(step).join("")}$`)
}

/** Whether a path matches the path of a deviation. */
export const isAt = (path: string, of: string): boolean => pattern(of).test(`${path}.`)

const operationIn = (path: string): number => Number(/\.(\d+)\./.exec(path)?.[1])

/** A difference of two lists, of which one has all elements of the other and more, as one difference for each more. */
const byElement = (difference: Difference): ReadonlyArray<Difference> => {
  const { ours, theirs, path, message } = difference
  if (!Array.isArray(ours) || !Array.isArray(theirs)) return [difference]
  const [longer, base, side] = ours.length > theirs.length ? [ours, theirs, "ours"] : [theirs, ours, "theirs"]
  let found = 0
  const more = longer.filter((element) => {
    const isBase = found < base.length && isSame(element, base[found])
    if (isBase) found++
    return !isBase
  })
  const isBased = found === base.length && more.length > 0
  return isBased ? more.map((element) => ({ path: `${path}.more`, message, [side]: element })) : [difference]
}

/** Whether two elements are the same; cases write more after a role: `assistant:t (unanswered)`. */
const isSame = (one: unknown, other: unknown): boolean =>
  textOf(one) === textOf(other) ||
  textOf(one).startsWith(`${textOf(other)} (`) ||
  textOf(other).startsWith(`${textOf(one)} (`)

/** The reason why a case differs, when deviations of this list excuse each of its differences. */
export const reasonOf = (
  list: ReadonlyArray<Deviation>,
  one: CaseFacts,
  found: ReadonlyArray<Difference>
): string | undefined => {
  const isSince = (path: string, since: NonNullable<Deviation["since"]>): boolean =>
    found.some(
      (other) =>
        isAt(other.path, since.path) &&
        new RegExp(since.message).test(other.message) &&
        operationIn(other.path) <= operationIn(path)
    )
  const decisions = found.flatMap(byElement).map((difference) => {
    const field = { [difference.path.slice(difference.path.lastIndexOf(".") + 1)]: difference.theirs }
    const facts = { ...one, ...difference, field }
    const scope = { outcome: facts, given: one.given }
    return list.find(
      ({ suite, of = {}, since, at }) =>
        suite === one.suite &&
        Object.entries(at).some(([path, values]) => isAt(difference.path, path) && matches(facts, values, scope)) &&
        matches(facts, of, scope) &&
        (since === undefined || isSince(difference.path, since))
    )
  })
  if (decisions.includes(undefined)) return undefined
  return [...new Set(decisions.map((decision) => `${decision?.topic}: ${decision?.decision}`))].join("; ")
}
