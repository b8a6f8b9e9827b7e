/**
 * Deviations: the decisions that explain differences from the cases.
 *
 * DEV1. A deviation excuses only a difference at one of its paths with the values of that path, in its cases.
 * DEV2. A case deviates when deviations excuse each of its differences.
 *
 * @module
 */
import { readFileSync } from "node:fs"
import { escaped, type Fields } from "./fields.ts"
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
  /** What the difference matches, by its path: `*` is one step, `**` any number of steps. */
  readonly at: Readonly<Record<string, Fields>>
}

/** All intended differences from the cases. Deviations describe differences, not single cases. */
export const deviations = JSON.parse(
  readFileSync(new URL("../deviations.json", import.meta.url), "utf8")
) as ReadonlyArray<Deviation>

const pattern = (path: string): RegExp => {
  const steps: Readonly<Record<string, string>> = { "**": String.raw`(?:[^.]+\.)*`, "*": String.raw`[^.]+\.` }
  const step = (word: string): string => steps[word] ?? `${escaped(word)}\\.`
  return new RegExp(`^${path.split(".").map(step).join("")}$`)
}

/** Whether a path matches the path of a deviation. */
export const isAt = (path: string, of: string): boolean => pattern(of).test(`${path}.`)

const operationIn = (path: string): number => Number(/\.(\d+)\./.exec(path)?.[1])

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
  const decisions = found.map((difference) => {
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
