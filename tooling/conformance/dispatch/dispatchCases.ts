/**
 * Dispatch cases: files with an array of cases, and `golden` files with sections of recorded runs.
 *
 * Both become the same thing: an id, the operation that runs it, and its text.
 *
 * @module
 */
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../runner/fields.ts"

/** One case, as an operation gets it. */
export interface DispatchCase {
  readonly id: string
  /** What is called: a key of the case's `when`, or `<file>.<section>` of a golden file. */
  readonly operation: string
  readonly given: Fields
  readonly when: Fields
  /** What must hold of the newest version; where the versions differ only its answer stands here. */
  readonly expected: Fields
  /** The version the case is pinned to, if it is. */
  readonly version: string | undefined
  /** A recorded run as it stands in its golden file; empty for a written case. */
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

/** What holds for the newest version: its own answer beside what holds for both. */
const newestOf = (then: unknown): Fields => {
  const { byVersion, newest, "0.4.2": _, ...both } = fieldsOf(then)
  return { ...both, ...answerOf(fieldsOf(byVersion)["newest"]), ...answerOf(newest) }
}

/** An answer that is no object is an outcome, or a list of answers. */
const answerOf = (answer: unknown): Fields => {
  if (answer === undefined) return {}
  return isFields(answer) ? answer : { [Array.isArray(answer) ? "answers" : "outcome"]: answer }
}
