/**
 * Dispatch cases: files with an array of cases, and `golden` files with sections of recorded runs.
 *
 * Both are converted to the same form: an id, the operation that runs it, and its text.
 *
 * @module
 */
import { type Fields, fieldsOf, isFields, listOf, tablesIn, textOf } from "../runner/json.ts"
import { type Difference, facetDifferences } from "../runner/matching.ts"
import type { Finding } from "../runner/suite.ts"

/** One case, as input of an operation. */
export interface DispatchCase {
  readonly id: string
  /** The name of the operation: a key of the case's `when`, or `<file>.<section>` of a golden file. */
  readonly operation: string
  readonly given: Fields
  readonly when: Fields
  /** The expectation for the newest version; if the versions differ, only that version's. */
  readonly expected: Fields
  /** The version that the case is pinned to, if any. */
  readonly version: unknown
  /** A recorded run from its golden file; empty for a written case. */
  readonly recorded: Fields
}

/** Runs a case, and returns its differences, none when it passes, or the missing feature. */
export type Operation = (one: DispatchCase) => Promise<Finding>

/** Operations by the case's name. */
export type Operations = Readonly<Record<string, Operation>>

/** The words of cases and the titles of recorded runs, with what they mean. */
export const meanings = tablesIn("words.json", import.meta.url) as Readonly<
  Record<
    | ("elsewhere" | "gates" | "answers" | "hooks" | "emitted" | "models")
    | ("tools" | "finishes" | "categories" | "usage" | "modes" | "prints" | "additions" | "lacking"),
    Fields
  >
>

/** The differences of a run that the operation examined from what its case expects. */
export const compared = (seen: Fields, { expected }: Pick<DispatchCase, "expected">): ReadonlyArray<Difference> =>
  facetDifferences(seen, expected, seen)

/** The cases of a file. */
export const dispatchCasesOf = (content: unknown, file: string): ReadonlyArray<DispatchCase> =>
  Array.isArray(content)
    ? content.map(fieldsOf).map(({ id, given, when, then, version }) => ({
        id: textOf(id),
        operation: Object.keys(fieldsOf(when))[0] ?? `${file} without a when`,
        given: fieldsOf(given),
        when: fieldsOf(when),
        expected: newestOf(then),
        version,
        recorded: {}
      }))
    : Object.entries(fieldsOf(content)).flatMap(([section, runs]) =>
        listOf(runs)
          .map(fieldsOf)
          .map((recorded, index) => ({
            id: textOf(recorded["id"] ?? `${file}.${section}.${index}`),
            operation: `${file}.${section}`,
            given: {},
            when: {},
            expected: newestOf(recorded["expected"]),
            version: undefined,
            recorded
          }))
      )

/** The expectation for the newest version: its own, merged with the common one. */
const newestOf = (then: unknown): Fields => {
  const { byVersion, newest, "0.4.2": _, ...both } = fieldsOf(then)
  return { ...both, ...answerOf(fieldsOf(byVersion)["newest"]), ...answerOf(newest) }
}

/** An answer that is no object is an outcome, or a list of answers. */
const answerOf = (answer: unknown): Fields => {
  if (answer === undefined) return {}
  return isFields(answer) ? answer : { [Array.isArray(answer) ? "answers" : "outcome"]: answer }
}
