/** What cases speak of and our API does not have: such a case is reported as not supported, and is no failure. */
import { type Case, type Fields, fieldsOf, isFields, listOf, textOf } from "./caseFile.ts"
import { chatOperations, type Operation } from "./chatOperations.ts"
import { dataOperations } from "./dataOperations.ts"
import { fakeOperations } from "./fakeOperations.ts"
import { sessionOperations } from "./sessionOperations.ts"
import { retryOperations } from "./retryOperations.ts"
import { hasForm, typesIn } from "./serializing.ts"

const operations: Readonly<Record<string, Operation>> = {
  ...chatOperations,
  ...dataOperations,
  ...fakeOperations,
  ...sessionOperations,
  ...retryOperations
}

/** The call a case's `when` names, if we have it. */
export const operationOf = ({ when }: Case): Operation | undefined => operations[when]

/** What a case speaks of and we do not have: for good, if a decision says so. */
export interface Lacking {
  readonly what: string
  readonly decision?: string
}

/** Calls we do not have, by `when`. */
const lacking: Readonly<Record<string, Lacking>> = {
  "fake.detect_shape": { decision: "D36", what: "there is one script language, and nothing to tell it from" },
  "error.raw_message": { decision: "closed sets", what: "every error has a reason" }
}

const options: Readonly<Record<string, Lacking>> = {
  prompt_cache: { decision: "D27", what: "an option that is not known is refused" }
}

const facets: Readonly<Record<string, Lacking>> = {
  spans: { what: "telemetry under the names of the reference" },
  same_request_id: { what: "telemetry under the names of the reference" },
  distinct_engine_ids: { what: "engine ids" },
  cursor_key: { decision: "D36", what: "a fake keeps its own cursor, and needs no key to find it by" }
}

/** The types whose values are made, and not just written down. */
const made: ReadonlySet<unknown> = new Set([
  "Message",
  "ToolCall",
  "Tool",
  "Usage",
  "Thread",
  "Request",
  "Response",
  "StepResult",
  "ChatResult",
  "Engine",
  "AdapterError",
  "EngineError",
  "StreamError",
  "ToolError",
  "ValidationError"
])

/** What is missing for a case; `undefined` when it can run. */
export const missing = (one: Case): Lacking | undefined => {
  if (operationOf(one) === undefined) return lacking[one.when] ?? { what: one.when }
  const { given, then } = one
  if (one.when === "new" && !made.has(given["type"])) return { what: `${textOf(given["type"])} values` }
  const typeless = typesIn(given).find((type) => !hasForm(type))
  if (typeless !== undefined) return { what: `${typeless} values` }
  const [facet] = Object.keys(facets).filter((name) => mentions(then, name))
  if (facet !== undefined) return facets[facet]
  // Resolving parameters is about option names only.
  if (one.when.startsWith("engine.")) return undefined
  const [option] = Object.entries(optionsIn(given)).filter(([name, value]) => name in options && value !== undefined)
  if (option !== undefined) return options[option[0]]
  if (mentions(given, "compact")) return { what: "compact tools" }
  return undefined
}

const optionsIn = ({ opts, value, calls }: Fields): Fields => ({
  ...fieldsOf(opts),
  ...fieldsOf(value),
  ...Object.assign({}, ...listOf(calls).map((call) => fieldsOf(fieldsOf(call)["opts"])))
})

/** Whether a key occurs anywhere below. */
const mentions = (value: unknown, key: string): boolean => {
  if (Array.isArray(value)) return value.some((element) => mentions(element, key))
  return isFields(value) && (key in value || Object.values(value).some((field) => mentions(field, key)))
}
