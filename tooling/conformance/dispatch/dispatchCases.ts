/**
 * Dispatch cases: files with an array of cases, and `golden` files with sections of recorded runs.
 *
 * Both are converted to the same form: an id, the operation that runs it, and its text.
 *
 * @module
 */
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../runner/fields.ts"

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
  readonly version: string | undefined
  /** A recorded run from its golden file; empty for a written case. */
  readonly recorded: Fields
}

/** The cases of a file. */
export const dispatchCasesOf = (content: unknown, file: string): ReadonlyArray<DispatchCase> =>
  Array.isArray(content)
    ? content.map((one) => writtenCase(file, fieldsOf(one)))
    : Object.entries(fieldsOf(content)).flatMap(([section, runs]) =>
        listOf(runs).map((one, index) => recordedCase(`${file}.${section}`, index, fieldsOf(one)))
      )

const writtenCase = (file: string, { id, given, when, then, version }: Fields): DispatchCase => ({
  id: textOf(id),
  operation: Object.keys(fieldsOf(when))[0] ?? `${file} without a when`,
  given: fieldsOf(given),
  when: fieldsOf(when),
  expected: newestOf(then),
  version: typeof version === "string" ? version : undefined,
  recorded: {}
})

const recordedCase = (operation: string, index: number, recorded: Fields): DispatchCase => ({
  id: textOf(recorded["id"] ?? `${operation}.${index}`),
  operation,
  given: {},
  when: {},
  expected: newestOf(recorded["expected"]),
  version: undefined,
  recorded
})

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
