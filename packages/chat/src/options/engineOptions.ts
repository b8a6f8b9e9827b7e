/** The parts of an engine, their types, and what to write instead of a wrong value. */
import * as z from "zod"
import { type Adapter, type Fallback, type Prices, RetryOptions } from "../adapter/index.ts"
import type { ToolResultEncoder } from "../values/index.ts"
import { unknownOption } from "../errors/index.ts"
import {
  isProviderTool,
  type ProviderTool,
  type Tool,
  toolAdvice,
  type ToolExecutor,
  toolListAdvice
} from "../tool/index.ts"

const has = <A>(member: string, type: "function" | "string", what: string) =>
  z.custom<A>((value) => hasMember(value, member, type), `must be ${what}`)

const hasMember = (value: unknown, member: string, type: "function" | "string"): boolean =>
  typeof value === "object" && value !== null && typeof Reflect.get(value, member) === type

/** Whether a value is a model of the AI SDK, which is not an adapter. */
const isModel = (value: unknown): boolean =>
  hasMember(value, "specificationVersion", "string") &&
  (hasMember(value, "doStream", "function") || hasMember(value, "doGenerate", "function"))

const written = 'with import { aiSdk } from "@troupe/providers"'

/** What to write instead of a value that is not an adapter. */
const adapterAdvice = (value: unknown): string => {
  if (isModel(value)) return `: this is a model of the AI SDK; write aiSdk(model), ${written}`
  if (typeof value === "string") return `: the name of a model is none; write aiSdk(openai("gpt-5.5")), ${written}`
  return ": an object with a name and a stream function"
}

const adapter = z.custom<Adapter>((value) => !isModel(value) && hasMember(value, "name", "string"), {
  error: ({ input }) => `must be an adapter${adapterAdvice(input)}`
})

const fallbackAdvice = (value: unknown): string =>
  adapterAdvice(typeof value === "object" && value !== null && "adapter" in value ? value.adapter : value)
const record = z.record(z.string(), z.unknown(), "must be an object of names and values")

/** The findings in the parts of a retry policy; none for a value that is not an object. */
const inRetry = (input: unknown): string => {
  const issues = typeof input === "object" ? (RetryOptions.safeParse(input).error?.issues ?? []) : []
  return issues.map(({ path, message }) => `; ${[...path, message].map(String).join(": ")}`).join("")
}

const parts = {
  adapter: adapter.optional(),
  fallbacks: z
    .array(
      z.union([adapter, z.strictObject({ adapter, model: z.string().optional() })], {
        error: ({ input }) => `must be an adapter, or { adapter, model }${fallbackAdvice(input)}`
      }),
      "must be a list of adapters, or of { adapter, model }"
    )
    .readonly()
    .optional(),
  retry: z
    .union([RetryOptions, z.literal(false)], {
      error: ({ input }) =>
        `must be false, or an object of ${Object.keys(RetryOptions.shape).join(", ")}${inRetry(input)}`
    })
    .optional(),
  prices: z
    .custom<Prices>((value) => typeof value === "function", {
      error: ({ input }) =>
        `must be a function of the model and its usage${typeof input === "object" ? "; write Engine.prices(table)" : ""}`
    })
    .optional(),
  model: z.string("must be the name of a model, as text").optional(),
  tools: z
    .array(
      z.custom<Tool | ProviderTool>((value) => hasMember(value, "parse", "function") || isProviderTool(value), {
        error: ({ input }) => `must be a tool, as tool() and Tool.make make them; ${toolAdvice(input)}`
      }),
      { error: ({ input }) => `must be a list of tools; ${toolListAdvice(input)}` }
    )
    .readonly()
    .optional(),
  toolExecutor: has<ToolExecutor>(
    "execute",
    "function",
    "a tool executor: an object with an execute function"
  ).optional(),
  toolResultEncoder: has<ToolResultEncoder>(
    "encode",
    "function",
    "a tool result encoder: an object with an encode function"
  ).optional(),
  params: record.optional(),
  context: record.optional(),
  adapterOptions: record.optional(),
  metadata: record.optional()
}

/** The parts of an engine. */
export interface EngineOptions {
  /** Sends requests to the model. Default: none, and the first request fails. */
  readonly adapter?: Adapter | undefined
  /** Further adapters, in order, for a request that the adapter refuses; each may have a model name of its own. Default: none. */
  readonly fallbacks?: ReadonlyArray<Adapter | Fallback> | undefined
  /** The retry policy of a refused request; that of a call precedes it. `false` is no retries. Default: `Retry.defaults`. */
  readonly retry?: RetryOptions | false | undefined
  /** Returns the cost of a request from its model and usage; {@link prices} makes a table of prices. Default: no cost is reported. */
  readonly prices?: Prices | undefined
  /** The model name, for adapters that serve several. Default: that of the adapter. */
  readonly model?: string | undefined
  /** The tools of the model, also those of its provider: `{ type: "provider", id, name, args }`. Names are unique. Default: none. */
  readonly tools?: ReadonlyArray<Tool | ProviderTool> | undefined
  /** Calls the handlers. Default: the library's own, which calls them in this program. */
  readonly toolExecutor?: ToolExecutor | undefined
  /** Makes the text that the model reads from a result. Default: the library's own, which makes JSON. */
  readonly toolResultEncoder?: ToolResultEncoder | undefined
  /** Defaults for `temperature`, `maxTokens`, `maxTurns` and the provider's own parameters. Default: none. */
  readonly params?: Readonly<Record<string, unknown>> | undefined
  /** Passed to every tool handler. Default: empty. */
  readonly context?: Readonly<Record<string, unknown>> | undefined
  /** Passed to the adapter, overlaid by those of the call. Default: empty. */
  readonly adapterOptions?: Readonly<Record<string, unknown>> | undefined
  /** The program's own data about the engine; nothing reads it. Default: none. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}
export const EngineOptions = z.strictObject(parts, {
  error: (issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((name) => `${name}: ${unknownOption(name, Object.keys(parts))}`).join("; ")
      : undefined
}) satisfies z.ZodType<EngineOptions>
