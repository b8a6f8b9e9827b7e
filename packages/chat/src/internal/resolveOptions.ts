/** Reads a call's options once: unknown keys and bad values are refused, defaults filled in. */
import type { ChatOptions } from "../ChatOptions.ts"
import { type Finding, ValidationError } from "../ChatError.ts"
import { type Engine, resolveTools } from "../Engine.ts"
import type { Tool } from "../Tool.ts"
import { inProcess, type ToolExecutor } from "../ToolExecutor.ts"
import { json, type ToolResultEncoder } from "../ToolResultEncoder.ts"

/** The options of a running chat, complete. */
export interface RunOptions extends ChatOptions {
  readonly engine: Engine
  readonly mode: "auto" | "manual"
  readonly tools: ReadonlyArray<Tool>
  readonly toolsByName: ReadonlyMap<string, Tool>
  readonly toolExecutor: ToolExecutor
  readonly toolResultEncoder: ToolResultEncoder
  readonly toolTimeoutMs: number
  readonly drainMs: number
  readonly onUnknownTool: "error" | "continue"
  readonly context: Readonly<Record<string, unknown>>
  readonly adapterOptions: Readonly<Record<string, unknown>>
  readonly requestId: string
  readonly maxTurns: number
}

type Check = (value: unknown) => string | undefined

const positive: Check = (value) =>
  Number.isInteger(value) && Number(value) > 0 ? undefined : "must_be_a_positive_integer"
const milliseconds: Check = (value) => (typeof value === "number" && value >= 0 ? undefined : "must_be_milliseconds")
const oneOf =
  (...words: ReadonlyArray<string>): Check =>
  (value) =>
    words.some((word) => word === value) ? undefined : `must_be_one_of ${words.join(", ")}`
const ofType =
  (type: "function" | "string" | "boolean" | "object"): Check =>
  (value) =>
    typeof value === type && value !== null ? undefined : `must_be_a_${type}`
const anything: Check = () => undefined

const checks: { readonly [Key in keyof Required<ChatOptions>]: Check } = {
  mode: oneOf("auto", "manual"),
  model: ofType("string"),
  instructions: ofType("string"),
  tools: (value) => (Array.isArray(value) ? undefined : "must_be_a_list"),
  toolChoice: anything,
  responseFormat: anything,
  temperature: anything,
  maxTokens: anything,
  providerOptions: ofType("object"),
  adapterOptions: ofType("object"),
  toolTimeoutMs: milliseconds,
  drainMs: milliseconds,
  maxConcurrency: positive,
  onToolError: (value) =>
    value === "continue" || value === "halt" || (typeof value === "function" && value.length <= 2)
      ? undefined
      : "must_be continue, halt or a function of the call and its error",
  onUnknownTool: oneOf("error", "continue"),
  toolExecutor: ofType("object"),
  toolResultEncoder: ofType("object"),
  context: ofType("object"),
  sessionId: ofType("string"),
  requestId: ofType("string"),
  emitTextDeltas: ofType("boolean"),
  emitToolDeltas: ofType("boolean"),
  includeRawChunks: ofType("boolean"),
  onEvent: ofType("function"),
  signal: ofType("object"),
  maxTurns: positive,
  haltWhen: ofType("function")
}

const defaultMaxTurns = 8
const defaultToolTimeoutMs = 30_000
const defaultDrainMs = 1_000

/**
 * The complete options of a chat, a step or a tool batch.
 *
 * Throws a `ValidationError` (`invalid_options`) that names every unknown key and every bad value.
 */
export const resolveOptions = (engine: Engine, options: ChatOptions): RunOptions => {
  const found: Array<Finding> = []
  for (const [key, value] of Object.entries(options)) {
    const check: Check | undefined = Object.hasOwn(checks, key) ? checks[key as keyof ChatOptions] : undefined
    const problem =
      check === undefined
        ? "unknown_option; parameters of the provider go in `providerOptions`"
        : value === undefined
          ? undefined
          : check(value)
    if (problem !== undefined) found.push({ field: [key], reason: problem })
  }
  const maxTurns = options.maxTurns ?? engine.params["maxTurns"] ?? defaultMaxTurns
  const turnsProblem = positive(maxTurns)
  if (turnsProblem !== undefined && options.maxTurns === undefined) {
    found.push({ field: ["maxTurns"], reason: turnsProblem })
  }
  if (found.length > 0) throw new ValidationError("invalid_options", found)
  const tools = resolveTools(engine, options.tools)
  return {
    ...options,
    engine,
    mode: options.mode ?? "auto",
    tools,
    toolsByName: new Map(tools.toReversed().map((tool) => [tool.name, tool])),
    toolExecutor: options.toolExecutor ?? engine.toolExecutor ?? inProcess,
    toolResultEncoder: options.toolResultEncoder ?? engine.toolResultEncoder ?? json,
    toolTimeoutMs: options.toolTimeoutMs ?? defaultToolTimeoutMs,
    drainMs: options.drainMs ?? defaultDrainMs,
    onUnknownTool: options.onUnknownTool ?? "error",
    context: options.context ?? engine.context,
    adapterOptions: { ...engine.adapterOptions, ...options.adapterOptions },
    requestId: options.requestId ?? crypto.randomUUID(),
    maxTurns: maxTurns as number
  }
}
