/** What each option may be; a value that may not be is named by its path, with what is allowed there. */
import type * as z from "zod"
import type { Finding } from "../errors/ChatError.ts"
import type { ChatOptions } from "./ChatOptions.ts"
import { ResponseFormat, ToolChoice } from "../model/Request.ts"
import { RetryOptions } from "../request/Retry.ts"
import { hooks, permissions } from "../gate/gateChecks.ts"
import { unknownOption } from "../errors/unknownKeys.ts"

/** What is wrong with a value: in a word, or place by place below it. */
type Check = (value: unknown) => string | ReadonlyArray<Finding> | undefined

export const positive = (value: unknown): string | undefined =>
  Number.isInteger(value) && Number(value) > 0 ? undefined : "must_be_a_positive_integer"
const count: Check = (value) => (Number.isInteger(value) && Number(value) >= 0 ? undefined : "must_be_a_whole_number")
const amount = (value: unknown): value is number => typeof value === "number" && value >= 0
const milliseconds: Check = (value) => (amount(value) ? undefined : "must_be_milliseconds")
const oneOf =
  (...words: ReadonlyArray<string>): Check =>
  (value) =>
    words.some((word) => word === value) ? undefined : `must_be_one_of ${words.join(", ")}`
const ofType =
  (type: "function" | "string" | "boolean" | "number"): Check =>
  (value) =>
    typeof value === type ? undefined : `must_be_a_${type}`
const record: Check = (value) => (isRecord(value) ? undefined : "must_be_an_object of names and values")
const having =
  (what: string, ...members: ReadonlyArray<string>): Check =>
  (value) =>
    isObject(value) && members.every((member) => typeof Reflect.get(value, member) === "function")
      ? undefined
      : `must_be ${what}`
const schema =
  (type: z.ZodType, what: string): Check =>
  (value) => {
    const read = type.safeParse(value)
    if (read.success) return undefined
    const { issues } = read.error
    return issues.every(({ path }) => path.length === 0)
      ? `must_be ${what}`
      : issues.map(({ path, message }) => ({ field: path.map(placeOf), reason: message }))
  }
const either =
  (constant: unknown, check: Check): Check =>
  (value) =>
    value === constant ? undefined : check(value)

/** Whether a value is a deadline in milliseconds. */
export const isTimeout = (value: unknown): value is number => amount(value)

const timeout: Check = (value) =>
  isTimeout(value) || typeof value === "function" ? undefined : "must_be_milliseconds or a function of the call"

const policy: Check = (value) =>
  value === "continue" || value === "halt" || (typeof value === "function" && value.length <= 2)
    ? undefined
    : "must_be continue, halt or a function of the call and its error"

const isTool = having("a tool, as Tool.make makes them", "parse")

const tools: Check = (value) => {
  if (!Array.isArray(value)) return "must_be_a_list of tools"
  return value.flatMap((one: unknown, index) => findingsAt(index, isTool(one)))
}

const budgeted: Readonly<Record<string, string>> = {
  tokens: "must_be a number of tokens, more than 0",
  cost: "must_be a cost, more than 0",
  timeMs: "must_be_milliseconds, more than 0"
}

const budget: Check = (value) => {
  if (!isRecord(value)) return `must_be_an_object of ${Object.keys(budgeted).join(", ")}`
  return Object.entries(value).flatMap(([part, bound]) => {
    const allowed = Object.hasOwn(budgeted, part) ? budgeted[part] : `unknown; use ${Object.keys(budgeted).join(", ")}`
    const fits = bound === undefined || (amount(bound) && bound > 0)
    return allowed !== undefined && (!fits || !Object.hasOwn(budgeted, part))
      ? [{ field: [part], reason: allowed }]
      : []
  })
}

const checks: { readonly [Key in keyof Required<ChatOptions>]: Check } = {
  mode: oneOf("auto", "manual"),
  model: ofType("string"),
  instructions: ofType("string"),
  tools,
  toolChoice: schema(ToolChoice, "auto, none, required or { name } of a tool"),
  responseFormat: schema(ResponseFormat, "{ type } of text, json_object or json_schema"),
  temperature: ofType("number"),
  maxTokens: ofType("number"),
  providerOptions: record,
  adapterOptions: record,
  toolTimeoutMs: timeout,
  toolIdleTimeoutMs: timeout,
  streamIdleTimeoutMs: milliseconds,
  maxReplyCharacters: positive,
  maxToolArgumentCharacters: positive,
  maxToolResultCharacters: positive,
  drainMs: milliseconds,
  maxConcurrency: positive,
  schedule: oneOf("concurrent", "effects", "reference"),
  onToolError: policy,
  onToolTimeout: policy,
  onLateResult: ofType("function"),
  onUnknownTool: oneOf("error", "continue"),
  permissions,
  hooks,
  hookTimeoutMs: milliseconds,
  toolExecutor: having("a tool executor, with execute", "execute"),
  toolResultEncoder: having("a tool result encoder, with encode", "encode"),
  context: record,
  sessionId: ofType("string"),
  requestId: ofType("string"),
  emitTextDeltas: ofType("boolean"),
  emitToolDeltas: ofType("boolean"),
  includeRawChunks: ofType("boolean"),
  retry: either(false, schema(RetryOptions, "false or the parts of a retry policy")),
  onRetry: ofType("function"),
  onEvent: ofType("function"),
  signal: having("an AbortSignal", "addEventListener", "removeEventListener", "throwIfAborted"),
  system: having("a system, as System.make makes them", "make"),
  tracing: (value) =>
    isRecord(value) && isObject(value["tracer"]) ? undefined : "must_be { tracer } with Effect's tracer",
  maxTurns: positive,
  haltWhen: ofType("function"),
  budget,
  maxMistakes: count,
  maxUnproductive: count,
  structuredFinalize: ofType("boolean"),
  structuredFinalizeNudge: ofType("string")
}

/** The names of all options of a chat. */
export const chatOptionNames: ReadonlyArray<string> = Object.keys(checks)

/** Where an option that nothing resembles may belong. */
export const providerAdvice = "parameters of the provider go in `providerOptions`"

/** Every unknown option and every bad value. */
export const findingsOf = (options: ChatOptions): Array<Finding> => {
  const found: Array<Finding> = []
  for (const key of Object.keys(options)) {
    const value: unknown = options[key as keyof ChatOptions]
    const check: Check | undefined = Object.hasOwn(checks, key) ? checks[key as keyof ChatOptions] : undefined
    if (check === undefined) {
      found.push({ field: [key], reason: unknownOption(key, chatOptionNames, providerAdvice) })
    } else if (value !== undefined) {
      const wrong = check(value)
      if (wrong !== undefined) found.push(...findingsAt(key, wrong))
    }
  }
  return found
}

/** What is wrong with a list of tools. */
export const toolsFindings = (field: string, value: unknown): ReadonlyArray<Finding> => findingsAt(field, tools(value))

const findingsAt = (place: string | number, wrong: ReturnType<Check>): ReadonlyArray<Finding> => {
  if (wrong === undefined) return []
  if (typeof wrong === "string") return [{ field: [place], reason: wrong }]
  return wrong.map(({ field, reason }) => ({ field: [place, ...field], reason }))
}

const placeOf = (key: PropertyKey): string | number => (typeof key === "number" ? key : String(key))

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

export const isRecord = (value: unknown): value is Record<string, unknown> => isObject(value) && !Array.isArray(value)
