/** The types of a chat's options, and the options of one turn over them. A finding has the path of the bad value and the expected value. */
import * as z from "zod"
import {
  countFrom1,
  described,
  dictionary,
  either,
  type Finding,
  findingsFor,
  flag,
  functionOf,
  functionType,
  having,
  isMilliseconds,
  isObject,
  isRecord,
  milliseconds,
  partsOf,
  positiveInteger,
  text,
  unknownOption,
  wholeNumber,
  wordOf,
  ValidationError
} from "../errors/index.ts"
import { hooks, permissions, requestParams } from "../gate/index.ts"
import { RetryOptions } from "../adapter/index.ts"
import { isProviderTool, repeatedTool, schemaType, type Tool, toolAdvice, toolListAdvice } from "../tool/index.ts"
import type { ChatOptions, TurnOptions } from "./ChatOptions.ts"
import type { Engine } from "../tool/index.ts"

const timeout = z.custom(
  (value) => isMilliseconds(value) || typeof value === "function",
  "must_be_milliseconds or a function of the call"
)

const policy = z.custom(
  (value) => value === "continue" || value === "halt" || (typeof value === "function" && value.length <= 2),
  "must_be continue, halt or a function of the call and its error"
)

const isTool = (value: unknown): value is Tool => isObject(value) && typeof Reflect.get(value, "parse") === "function"

const tools = z.unknown().superRefine((value, context) => {
  const report = (path: ReadonlyArray<number>, message: string): void =>
    context.addIssue({ code: "custom", path: [...path], message })
  if (!Array.isArray(value)) return report([], `must_be_a_list of tools; ${toolListAdvice(value)}`)
  value.forEach((item: unknown, index) => {
    if (!isTool(item) && !isProviderTool(item))
      report([index], `must_be a tool, as Tool.make makes them; ${toolAdvice(item)}`)
  })
  const again = value.every((item) => isTool(item) || isProviderTool(item)) ? repeatedTool(value) : undefined
  if (again !== undefined) report([again.index], `duplicate_name; ${again.advice}`)
})

const positiveAmount = (what: string): z.ZodType =>
  z.custom((value) => isMilliseconds(value) && value > 0, `must_be${what}, more than 0`)

const budget = partsOf({
  tokens: positiveAmount(" a number of tokens").optional(),
  cost: positiveAmount(" a cost").optional(),
  timeMs: positiveAmount("_milliseconds").optional()
})

const retry = either(false, described(RetryOptions, "false or the parts of a retry policy"))

const types = {
  ...requestParams.shape,
  schema: schemaType.optional(),
  mode: wordOf("auto", "manual").optional(),
  tools: tools.optional(),
  adapterOptions: dictionary.optional(),
  toolTimeoutMs: timeout.optional(),
  toolIdleTimeoutMs: timeout.optional(),
  streamIdleTimeoutMs: milliseconds.optional(),
  maxReplyCharacters: positiveInteger.optional(),
  maxToolArgumentCharacters: positiveInteger.optional(),
  maxToolResultCharacters: positiveInteger.optional(),
  maxFileBytes: positiveInteger.optional(),
  drainMs: milliseconds.optional(),
  maxConcurrency: positiveInteger.optional(),
  maxCallsPerReply: countFrom1.optional(),
  compaction: having(
    "a compactor, as Compaction.make of @troupe/chat/compaction makes it",
    "isDue",
    "plan",
    "counted"
  ).optional(),
  schedule: wordOf("concurrent", "effects", "reference").optional(),
  haltOrder: wordOf("call", "observed").optional(),
  onToolError: policy.optional(),
  onToolTimeout: policy.optional(),
  onLateResult: functionType.optional(),
  onUnknownTool: wordOf("error", "continue").optional(),
  permissions: permissions.optional(),
  hooks: hooks.optional(),
  hookTimeoutMs: milliseconds.optional(),
  toolExecutor: having("a tool executor, with execute", "execute").optional(),
  toolResultEncoder: having("a tool result encoder, with encode", "encode").optional(),
  context: dictionary.optional(),
  storedMetadata: partsOf({ ofMessage: functionType.optional(), ofThread: functionType.optional() }).optional(),
  sessionId: text.optional(),
  requestId: text.optional(),
  emitTextDeltas: flag.optional(),
  emitToolDeltas: flag.optional(),
  includeRawChunks: flag.optional(),
  retry: retry.optional(),
  onRetry: functionType.optional(),
  onEvent: functionType.optional(),
  signal: having("an AbortSignal", "addEventListener", "removeEventListener", "throwIfAborted").optional(),
  system: having("a system, as System.make makes them; a system prompt is the option instructions", "make").optional(),
  tracing: z
    .custom(
      (value) => isRecord(value) && isObject(value["tracer"]),
      "must_be { tracer } with Effect's tracer; for OpenTelemetry write Tracing.openTelemetry(provider)"
    )
    .optional(),
  maxTurns: countFrom1.optional(),
  haltWhen: functionOf(1, "the step").optional(),
  budget: budget.optional(),
  maxMistakes: wholeNumber.optional(),
  maxUnproductive: wholeNumber.optional(),
  structuredFinalize: flag.optional(),
  structuredFinalizeNudge: text.optional()
} satisfies { readonly [Key in keyof Required<ChatOptions>]: z.ZodType }

const chatOptions = z.strictObject(types)

/** The types of the options of a chat, by name. */
export const chatOptionTypes = types

/** The names of all options of a chat. */
export const chatOptionNames: ReadonlyArray<string> = Object.keys(types)

/** The advice for an option that resembles no known option. */
export const providerAdvice = "parameters of the provider go in `providerOptions`"

/** A finding for every unknown option and every bad value. */
export const findingsOf = (options: ChatOptions): Array<Finding> =>
  Object.keys(options).length === 0
    ? []
    : [...findingsFor(chatOptions, options, (name) => unknownOption(name, chatOptionNames, providerAdvice))]

/** The problem of a number of turns, or `undefined`. */
export const positive = (value: unknown): string | undefined => countFrom1.safeParse(value).error?.issues[0]?.message

/** The findings about a list of tools. */
export const toolsFindings = (field: string, value: unknown): ReadonlyArray<Finding> =>
  findingsFor(z.object({ [field]: tools }), { [field]: value }, () => "unknown")

/** Every name of a turn's own options. */
const names: ReadonlyArray<string> = Object.keys({
  model: true,
  instructions: true,
  tools: true,
  toolChoice: true,
  responseFormat: true,
  temperature: true,
  maxTokens: true,
  providerOptions: true,
  context: true,
  storedMetadata: true,
  maxTurns: true,
  includeRawChunks: true,
  structuredFinalize: true,
  structuredFinalizeNudge: true
} satisfies Record<keyof TurnOptions, true>)

/**
 * The options of a turn, over those of its chat and its engine. Throws a `ValidationError` (`invalid_options`) for an option
 * that a turn cannot have.
 */
export const withTurnOptions = (engine: Pick<Engine, "context">, chat: ChatOptions, turn: TurnOptions): ChatOptions => {
  const given: unknown = turn
  if (!isRecord(given)) {
    throw new ValidationError("invalid_options", [{ field: ["options"], reason: "must_be_an_object of options" }])
  }
  const unknown = Object.keys(turn).filter((name) => !names.includes(name))
  const found =
    unknown.length > 0
      ? unknown.map((name) => ({ field: [name], reason: unknownOption(name, names) }))
      : findingsOf(turn)
  if (found.length > 0) {
    throw new ValidationError(
      "invalid_options",
      found.map(({ field, reason }) => ({ field: ["options", ...field], reason }))
    )
  }
  const instructions = [chat.instructions, turn.instructions].filter((part) => part !== undefined && part !== "")
  return {
    ...chat,
    ...turn,
    instructions: instructions.length === 0 ? undefined : instructions.join("\n\n"),
    tools: turn.tools === undefined ? chat.tools : [...(chat.tools ?? []), ...turn.tools],
    providerOptions: { ...chat.providerOptions, ...turn.providerOptions },
    context: turn.context === undefined ? chat.context : { ...(chat.context ?? engine.context), ...turn.context }
  }
}
