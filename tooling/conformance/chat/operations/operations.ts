/** The table of operations, and the features of cases that our API does not have. */
import type { ChatCase } from "../chatCases.ts"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../runner/fields.ts"
import { chatOperations } from "./chatOperations.ts"
import { type Operation } from "./operation.ts"
import { dataOperations } from "./dataOperations.ts"
import { fakeOperations } from "./fakeOperations.ts"
import { sessionOperations } from "./sessionOperations.ts"
import { retryOperations } from "./retryOperations.ts"
import { hasForm, typesIn } from "../values/serializing.ts"

/** The operations by `when`. */
export const operations: Readonly<Record<string, Operation>> = {
  ...chatOperations,
  ...dataOperations,
  ...fakeOperations,
  ...sessionOperations,
  ...retryOperations
}

/** Calls we do not have, by `when`. */
const lacking: Readonly<Record<string, string>> = {
  "fake.detect_shape": "scripts of another shape: there is one script language",
  "error.raw_message": "errors without a reason"
}

const options: Readonly<Record<string, string>> = {
  prompt_cache: "options of a provider: they have a bag of their own"
}

const facets: Readonly<Record<string, string>> = {
  spans: "telemetry under the names of the reference",
  same_request_id: "telemetry under the names of the reference",
  distinct_engine_ids: "engine ids",
  cursor_key: "keys of a fake's cursor: it keeps its own"
}

/** The types whose values are constructed, not only described. */
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

/** The missing feature of a case; `undefined` when it can run. */
export const missing = (one: ChatCase): string | undefined => {
  if (operations[one.when] === undefined) return lacking[one.when] ?? one.when
  const { given, then } = one
  if (one.when === "new" && !made.has(given["type"])) return `${textOf(given["type"])} values`
  const typeless = typesIn(given).find((type) => !hasForm(type))
  if (typeless !== undefined) return `${typeless} values`
  const [facet] = Object.keys(facets).filter((name) => mentions(then, name))
  if (facet !== undefined) return facets[facet]
  // Resolving parameters uses only the names of options.
  if (one.when.startsWith("engine.")) return undefined
  const [option] = Object.entries(optionsIn(given)).filter(([name, value]) => name in options && value !== undefined)
  if (option !== undefined) return options[option[0]]
  if (mentions(given, "compact")) return "compact tools"
  return undefined
}

const optionsIn = ({ opts, value, calls }: Fields): Fields => ({
  ...fieldsOf(opts),
  ...fieldsOf(value),
  ...Object.assign({}, ...listOf(calls).map((call) => fieldsOf(fieldsOf(call)["opts"])))
})

/** Whether a key occurs anywhere in a value. */
const mentions = (value: unknown, key: string): boolean => {
  if (Array.isArray(value)) return value.some((element) => mentions(element, key))
  return isFields(value) && (key in value || Object.values(value).some((field) => mentions(field, key)))
}
