/** The types of a tool's parts and of the calls that a program passes; a bad part is named by its path, with what to write instead. */
import * as z from "zod"
import {
  dictionary,
  findingsFor,
  functionOf,
  isObject,
  isRecord,
  milliseconds,
  nameAdvice,
  nameProblem,
  quoted,
  repeatedIndex,
  repeatedName,
  ValidationError,
  wordOf,
  EngineError,
  type Finding
} from "../errors/index.ts"

/** Whether a value can be a schema; a function can be a Standard Schema, too. */
export const isSchema = (value: unknown): boolean =>
  isRecord(value) || (typeof value === "function" && "~standard" in value)

export const schemaType = z.custom(isSchema, "must_be a zod schema, any Standard Schema, or a JSON Schema object")

const validName = z.unknown().superRefine((value, context) => {
  const message = nameProblem(value)
  if (message !== undefined) context.addIssue({ code: "custom", message })
})

/** The id of a provider's tool: the provider, a dot, the tool. */
export const providerToolId = z.custom(
  (value) => typeof value === "string" && /^[^.\s]+\.\S+$/.test(value),
  'must_be the provider and the tool, as "openai.web_search"'
)

/** The parts of a tool as the AI SDK's packages make it that have no meaning here, or only as a schema. */
export const foreignParts = {
  type: z.literal("provider").optional(),
  isProviderExecuted: z.unknown().optional(),
  supportsDeferredResults: z.unknown().optional(),
  inputSchema: z.unknown().optional(),
  outputSchema: z.unknown().optional()
}

/** The value without the fields that have no value: the AI SDK's packages write such fields. */
const withoutUndefined = (value: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) : value

/** Its type names no class that the oldest supported version of zod does not export. */
const providerPart: z.ZodType = z.lazy(() =>
  z.preprocess(
    withoutUndefined,
    z.strictObject({ ...foreignParts, execute: z.unknown().optional(), id: providerToolId, args: dictionary })
  )
)

/** The types of the parts that every tool has. They are made with the first tool. */
const described = () => ({
  name: validName,
  description: z.string("not_a_string").nullish(),
  parameters: schemaType.nullish(),
  jsonSchema: dictionary.nullish(),
  manual: z.boolean("not_a_boolean").optional(),
  timeoutMs: milliseconds.optional(),
  idleTimeoutMs: milliseconds.optional(),
  metadata: dictionary.nullish(),
  effect: wordOf("read", "write").optional(),
  key: functionOf(1, "the arguments").optional(),
  needsApproval: z
    .custom(
      (value) => typeof value === "boolean" || (typeof value === "function" && value.length <= 1),
      "must_be true, false or a function of the arguments"
    )
    .optional(),
  onUnknown: wordOf("ask", "fail", "retry").optional(),
  background: z
    .union([z.literal(true), z.strictObject({ afterMs: milliseconds })], "must_be true, or { afterMs } in milliseconds")
    .optional(),
  deferred: z
    .union(
      [z.literal(true), z.strictObject({ group: z.string() })],
      "must_be true, or { group }, the heading of its name"
    )
    .optional(),
  provider: providerPart.optional()
})

const runner = functionOf(2, "the arguments and the context")

/** How the function that runs a tool is named depends on how the tool is made. */
const makers = {
  execute: () => z.strictObject({ execute: runner.optional(), ...described() }),
  handler: () => z.strictObject({ handler: runner.nullish(), ...described() })
}

const made: { [Maker in keyof typeof makers]?: z.ZodType } = {}

/** Throws a `ValidationError` (`invalid_tool`) that names each option that is unknown or of the wrong type. */
export const checkTool = (given: unknown, runBy: keyof typeof makers): void => {
  if (!isRecord(given)) {
    throw new ValidationError("invalid_tool", [{ field: [], reason: "must_be_an_object of options" }])
  }
  const type = (made[runBy] ??= makers[runBy]())
  const found = findingsFor(type, { name: undefined, ...given })
  const isMissing = runBy === "execute" && given["execute"] === undefined && given["manual"] !== true
  const missing = { field: ["execute"], reason: "must_be_a_function; only a tool with manual: true needs none" }
  if (found.length === 0 && runBy === "execute" && given["manual"] === true && given["execute"] !== undefined) {
    const reason = "is_never_called with manual: true, whose calls the caller answers; leave one of both out"
    throw new ValidationError("invalid_tool", [{ field: ["execute"], reason }])
  }
  if (found.length === 0 && !isMissing) return
  const advice = nameProblem(given["name"]) === undefined ? undefined : nameAdvice(given["name"])
  throw new ValidationError("invalid_tool", isMissing ? [...found, missing] : found, { advice })
}

/** What to write instead of a value that is no list of tools; an object of tools is one by mistake. */
export const toolListAdvice = (value: unknown): string => {
  const [name = "weather"] = isRecord(value) ? Object.keys(value) : []
  return `write tools: [${example(name)}]${isRecord(value) ? ", a list instead of an object" : ""}`
}

/** What to write instead of a value that is no tool. */
export const toolAdvice = (value: unknown): string => {
  const name: unknown = isObject(value) ? Reflect.get(value, "name") : undefined
  return `write ${example(typeof name === "string" ? name : "weather")}`
}

const example = (name: string): string => `tool({ name: "${quoted(name)}", description, parameters, execute })`

/** The second tool of a list that has the name of an earlier tool, and what to write. */
export const repeatedTool = (
  tools: ReadonlyArray<{ readonly name: string }>
): { readonly index: number; readonly advice: string } | undefined => {
  const names = tools.map(({ name }) => name)
  const index = repeatedIndex(names)
  return index < 0 ? undefined : { index, advice: repeatedName(names[index], names.indexOf(names[index] ?? ""), index) }
}

/** Whether an error means that a called tool does not exist. */
export const isUnknownTool = (error: unknown): error is EngineError =>
  error instanceof EngineError && error.reason === "unknown_tool"

/** The findings about a list of calls. */
export const callsFindings = (field: string, calls: unknown): ReadonlyArray<Finding> =>
  Array.isArray(calls)
    ? calls.flatMap((call: unknown, index) => (isCall(call) ? [] : [{ field: [field, index], reason: expected }]))
    : [{ field: [field], reason: "must_be_a_list of tool calls" }]

const expected = "must_be a tool call: { id, name, arguments } of text, text, and an object or null"

const isCall = (call: unknown): boolean => {
  if (!isRecord(call)) return false
  const { id, name, arguments: args } = call
  return typeof id === "string" && typeof name === "string" && (args === null || isRecord(args))
}
