/** The suite of chat cases, which run against `@troupe/chat`. */
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../runner/json.ts"
import type { Difference } from "../runner/matching.ts"
import { type Case, type Finding, NotRun, type Suite, unexaminedCase } from "../runner/suite.ts"
import { Observations } from "./behaviours.ts"
import { unmet } from "./expectations.ts"
import { chatOperations } from "./operations/chatOperations.ts"
import { dataOperations } from "./operations/dataOperations.ts"
import { fakeOperations } from "./operations/fakeOperations.ts"
import { retryOperations } from "./operations/retryOperations.ts"
import { sessionOperations } from "./operations/sessionOperations.ts"
import { typeOperations } from "./operations/typeOperations.ts"
import type { Operation, Outcome } from "./outcome.ts"
import { words } from "./values/plain.ts"

/** The operations by `when`. */
const operations: Readonly<Record<string, Operation>> = {
  ...chatOperations,
  ...dataOperations,
  ...typeOperations,
  ...fakeOperations,
  ...sessionOperations,
  ...retryOperations
}

export const chatSuite: Suite = {
  casesOf: (content) => listOf(fieldsOf(content)["cases"]).map((one) => caseOf(fieldsOf(one)))
}

const caseOf = (one: Fields): Case => {
  const { id, given, when, then } = one
  const isFormed = typeof id === "string" && typeof when === "string" && isFields(given) && isFields(then)
  const facts = { suite: "chat", operation: textOf(when), given: fieldsOf(given), expected: fieldsOf(then) } as const
  return {
    id: textOf(id),
    facts,
    run: async () => (isFormed ? differing(one, facts) : [{ path: "case", message: "is ill-formed" }])
  }
}

/** The missing feature of a case; `undefined` when it can run. */
const missing = ({ operation, given, expected }: Case["facts"]): unknown => {
  if (operations[operation] === undefined) return words.lacking[operation] ?? operation
  // Resolving parameters uses only the names of options.
  const options = operation.startsWith("engine.") ? {} : given
  return [...mentioned(expected, words.foreign), ...mentioned(options, words.options)][0]?.[1]
}

/** The rows of a table whose names are keys anywhere in a value. */
const mentioned = (value: unknown, table: Fields): ReadonlyArray<[string, unknown]> =>
  Object.entries(table).filter(([name]) => mentions(value, name))

/** Whether a key occurs anywhere in a value. */
const mentions = (value: unknown, key: string): boolean =>
  Array.isArray(value)
    ? value.some((element) => mentions(element, key))
    : isFields(value) && (key in value || Object.values(value).some((field) => mentions(field, key)))

const differing = async (one: Fields, facts: Case["facts"]): Promise<Finding> => {
  const { operation, given, expected } = facts
  const because = ["elixir_only", "optional"].find((mark) => one[mark] === true)
  if (because !== undefined) throw new NotRun(because, "skipped")
  const feature = missing(facts)
  if (feature !== undefined) unexaminedCase(textOf(feature))
  const seen = new Observations()
  const outcome = await seen.clock.run((async () => operations[operation]?.(given, seen))())
  return compared(given, expected, Object.assign({ elapsedMs: seen.clock.now() }, seen, outcome))
}

const compared = (given: Fields, then: Fields, outcome: Outcome): ReadonlyArray<Difference> => {
  const { each } = outcome
  if (!Array.isArray(each)) return unmet(outcome, then, given)
  const list = "after" in then ? "after" : "calls"
  const { [list]: required, ...rest } = then
  const ofCalls = listOf(required).flatMap((one, index) =>
    callDifferences((each as ReadonlyArray<Outcome>)[index] ?? {}, one, given).map((found) => ({
      ...found,
      path: `${list}.${index}.${found.path}`
    }))
  )
  return [...unmet(outcome, rest, given), ...ofCalls]
}

/** The differences of one of several calls: its own facets, with those of its stream one level down. */
const callDifferences = (outcome: Outcome, required: unknown, given: Fields): ReadonlyArray<Difference> => {
  const { stream, $any: anything, ...facets } = fieldsOf(required)
  return anything === true ? [] : unmet(outcome, { ...facets, ...fieldsOf(stream) }, given)
}
