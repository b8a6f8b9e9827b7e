/** The suite of chat cases, which run against `@troupe/chat`. */
import { Clock } from "@troupe/otp"
import { fieldsOf, listOf } from "../runner/fields.ts"
import type { Difference } from "../runner/matching.ts"
import { type Case, type Finding, type NotRun, type Suite, unexaminedCase } from "../runner/suite.ts"
import { Observations } from "./behaviours.ts"
import { type ChatCase, chatCasesOf } from "./chatCases.ts"
import { unmet } from "./expectations.ts"
import { missing, operations } from "./operations/operations.ts"
import type { Outcome } from "./outcome.ts"

/** Some cases measure time, so they run one after another. */
export const chatSuite: Suite = {
  concurrency: 1,
  casesOf: (content) => chatCasesOf(content).map((one) => ("illFormed" in one ? illFormed(one.illFormed) : caseOf(one)))
}

const illFormed = (id: string): Case => ({
  id,
  facts: { suite: "chat", operation: "", given: {}, expected: {} },
  run: async () => [{ path: "case", message: "is ill-formed" }]
})

const caseOf = (one: ChatCase): Case => ({
  id: one.id,
  facts: { suite: "chat", operation: one.when, given: one.given, expected: one.then },
  run: async () => notRun(one) ?? (await differing(one))
})

const notRun = (one: ChatCase): NotRun | undefined => {
  if (one.elixir_only === true) return { notRun: "skipped", because: "elixir_only" }
  if (one.optional === true) return { notRun: "skipped", because: "optional" }
  const lacking = missing(one)
  return lacking === undefined ? undefined : unexaminedCase(lacking)
}

const differing = async (one: ChatCase): Promise<Finding> => {
  const operation = operations[one.when]
  if (operation === undefined) return unexaminedCase(one.when)
  const seen = new Observations()
  const start = Clock.live.now()
  const outcome = await operation(one.given, seen)
  return compared(one, {
    calls: seen.calls,
    policyCalls: seen.policyCalls,
    observedTags: seen.observedTags,
    peakConcurrency: seen.peakConcurrency,
    adapterOptions: seen.adapterOptions,
    elapsedMs: Clock.live.now() - start,
    ...outcome
  })
}

const compared = ({ given, then }: ChatCase, outcome: Outcome): ReadonlyArray<Difference> => {
  const each = outcome["each"]
  if (!Array.isArray(each)) return unmet(outcome, then, given)
  const list = "after" in then ? "after" : "calls"
  const { [list]: required, ...rest } = then
  return [
    ...unmet(outcome, rest, given),
    ...listOf(required).flatMap((one, index) =>
      callDifferences((each as ReadonlyArray<Outcome>)[index] ?? {}, one, given).map((found) => ({
        ...found,
        path: `${list}.${index}.${found.path}`
      }))
    )
  ]
}

/** The differences of one of several calls: its own facets, with those of its stream one level down. */
const callDifferences = (outcome: Outcome, required: unknown, given: ChatCase["given"]): ReadonlyArray<Difference> => {
  const { stream, $any: anything, ...facets } = fieldsOf(required)
  return anything === true ? [] : unmet(outcome, { ...facets, ...fieldsOf(stream) }, given)
}
