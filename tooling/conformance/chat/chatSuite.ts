/** The suite of chat cases, which run against `@troupe/chat`. */
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../runner/fields.ts"
import type { Difference } from "../runner/matching.ts"
import { type Case, type Finding, type NotRun, type Suite, unexaminedCase } from "../runner/suite.ts"
import { Observations } from "./behaviours.ts"
import { unmet } from "./expectations.ts"
import { chatOperations } from "./operations/chatOperations.ts"
import { dataOperations } from "./operations/dataOperations.ts"
import { fakeOperations } from "./operations/fakeOperations.ts"
import { retryOperations } from "./operations/retryOperations.ts"
import { sessionOperations } from "./operations/sessionOperations.ts"
import { isMade, typeOperations, typeWithoutForm } from "./operations/typeOperations.ts"
import type { Operation, Outcome } from "./outcome.ts"

/** The operations by `when`. */
const operations: Readonly<Record<string, Operation>> = {
  ...chatOperations,
  ...dataOperations,
  ...typeOperations,
  ...fakeOperations,
  ...sessionOperations,
  ...retryOperations
}

/** Calls we do not have, by `when`. */
const lacking: Readonly<Record<string, string>> = {
  "fake.detect_shape": "scripts of another shape: there is one script language",
  "error.raw_message": "errors without a reason"
}

/** Expectations of features that we do not have, by a key of `then`. */
const foreign: Readonly<Record<string, string>> = {
  spans: "telemetry under the names of the reference",
  same_request_id: "telemetry under the names of the reference",
  distinct_engine_ids: "engine ids",
  cursor_key: "keys of a fake's cursor: it keeps its own"
}

export const chatSuite: Suite = {
  concurrency: 1,
  casesOf: (content) => listOf(fieldsOf(content)["cases"]).map((one) => caseOf(fieldsOf(one)))
}

const caseOf = (one: Fields): Case => {
  const { id, given, when, then } = one
  const isFormed = typeof id === "string" && typeof when === "string" && isFields(given) && isFields(then)
  const facts = { suite: "chat", operation: textOf(when), given: fieldsOf(given), expected: fieldsOf(then) } as const
  return {
    id: textOf(id),
    facts,
    run: async () => (isFormed ? (notRun(one) ?? differing(facts)) : [{ path: "case", message: "is ill-formed" }])
  }
}

const notRun = (one: Fields): NotRun | undefined => {
  const because = ["elixir_only", "optional"].find((mark) => one[mark] === true)
  if (because !== undefined) return { notRun: "skipped", because }
  const feature = missing(textOf(one["when"]), fieldsOf(one["given"]), fieldsOf(one["then"]))
  return feature === undefined ? undefined : unexaminedCase(feature)
}

/** The missing feature of a case; `undefined` when it can run. */
const missing = (when: string, given: Fields, then: Fields): string | undefined => {
  if (operations[when] === undefined) return lacking[when] ?? when
  if (when === "new" && !isMade(given["type"])) return `${textOf(given["type"])} values`
  const typeless = typeWithoutForm(given)
  if (typeless !== undefined) return `${typeless} values`
  const facet = Object.keys(foreign).find((name) => mentions(then, name))
  if (facet !== undefined) return foreign[facet]
  // Resolving parameters uses only the names of options.
  if (when.startsWith("engine.")) return undefined
  const { opts, value, calls } = given
  const options = [opts, value, ...listOf(calls).map((call) => fieldsOf(call)["opts"])].map(fieldsOf)
  if (options.some((bag) => bag["prompt_cache"] !== undefined)) {
    return "options of a provider: they have a bag of their own"
  }
  return mentions(given, "compact") ? "compact tools" : undefined
}

/** Whether a key occurs anywhere in a value. */
const mentions = (value: unknown, key: string): boolean =>
  Array.isArray(value)
    ? value.some((element) => mentions(element, key))
    : isFields(value) && (key in value || Object.values(value).some((field) => mentions(field, key)))

const differing = async ({ operation, given, expected }: Case["facts"]): Promise<Finding> => {
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
