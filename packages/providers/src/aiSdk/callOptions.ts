/** Converts a request to the call options of an AI SDK model. */
import type { JSONObject, LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from "@ai-sdk/provider"
import type { Adapter, Request } from "@troupe/chat/models"
import { promptOf } from "./prompt.ts"
import { handedBack, type ProviderData } from "./providerMetadata.ts"
import type { ToolFiles } from "./toolFiles.ts"

/** Parameters of a request's `options` for which the AI SDK has its own field. */
const settings = [
  "topP",
  "topK",
  "seed",
  "stopSequences",
  "presencePenalty",
  "frequencyPenalty",
  "reasoning",
  "headers"
] as const

/** The call options, without the abort signal. */
export const callOptionsOf = (
  request: Request,
  providerName: string,
  options: Pick<Adapter.AdapterOptions, "includeRawChunks" | "adapterOptions">,
  files: ToolFiles
): LanguageModelV4CallOptions => {
  const given: Record<string, unknown> = { ...request.options }
  const own: Record<string, unknown> = {}
  if (options.adapterOptions["headers"] !== undefined) own["headers"] = options.adapterOptions["headers"]
  for (const setting of settings) {
    if (given[setting] !== undefined) own[setting] = given[setting]
    delete given[setting]
  }
  const strict = request.responseFormat?.type === "json_schema" ? request.responseFormat.strict : undefined
  const body = providerOptions(given, providerName, strict === undefined ? {} : { strictJsonSchema: strict })
  return {
    ...own,
    prompt: promptOf(request.messages, providerName, files),
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(request.maxTokens === undefined ? {} : { maxOutputTokens: request.maxTokens }),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(functionTool), ...toolChoice(request) }),
    ...responseFormat(request),
    ...(options.includeRawChunks ? { includeRawChunks: true } : {}),
    ...(body === undefined ? {} : { providerOptions: body })
  }
}

/**
 * Flat parameters are options of the model's provider; an object under a provider's name has that provider's options.
 */
const providerOptions = (
  given: Readonly<Record<string, unknown>>,
  providerName: string,
  implied: JSONObject
): ProviderData | undefined => {
  const { [providerName]: named, ...flat } = given
  const mine = { ...implied, ...flat, ...(isRecord(named) ? named : {}) } as JSONObject
  return Object.keys(mine).length === 0 ? undefined : { [providerName]: mine }
}

const functionTool = (tool: Request["tools"][number]): LanguageModelV4FunctionTool => ({
  type: "function",
  name: tool.name,
  description: tool.description,
  inputSchema: tool.schema,
  ...(typeof tool.metadata?.["strict"] === "boolean" ? { strict: tool.metadata["strict"] } : {}),
  ...handedBack(tool.metadata)
})

const toolChoice = ({ toolChoice: choice }: Request): Pick<LanguageModelV4CallOptions, "toolChoice"> => {
  if (choice === undefined) return {}
  return { toolChoice: typeof choice === "string" ? { type: choice } : { type: "tool", toolName: choice.name } }
}

const responseFormat = ({ responseFormat: format }: Request): Pick<LanguageModelV4CallOptions, "responseFormat"> => {
  if (format === undefined || format.type === "text") return {}
  if (format.type === "json_object") return { responseFormat: { type: "json" } }
  return { responseFormat: { type: "json", name: format.name, schema: format.schema } }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
