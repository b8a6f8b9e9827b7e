/** Converts a request to the call options of an AI SDK model. */
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ProviderTool
} from "@ai-sdk/provider"
import type { Adapter, Request } from "@troupe/chat/models"
import { promptOf } from "./prompt.ts"
import { handedBack, type OptionNames, providerOptionsOf, unsupported } from "./providerOptions.ts"
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
  names: OptionNames,
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
  const body = providerOptionsOf(given, names, strict === undefined ? {} : { strictJsonSchema: strict })
  const tools = [...request.tools.map(functionTool), ...(request.providerTools ?? []).map(providerTool)]
  return {
    ...own,
    prompt: promptOf(request, names.own[0] ?? "", files),
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(request.maxTokens === undefined ? {} : { maxOutputTokens: request.maxTokens }),
    ...(tools.length === 0 ? {} : { tools, ...toolChoice(request) }),
    ...responseFormat(request),
    ...(options.includeRawChunks ? { includeRawChunks: true } : {}),
    ...(body === undefined ? {} : { providerOptions: body })
  }
}

const functionTool = (tool: Request["tools"][number]): LanguageModelV4FunctionTool => ({
  type: "function",
  name: tool.name,
  description: tool.description,
  inputSchema: tool.schema,
  ...(typeof tool.metadata?.["strict"] === "boolean" ? { strict: tool.metadata["strict"] } : {}),
  ...handedBack(tool.metadata)
})

/** A provider's tool. It has no provider options of its own: its `args` are all it has. */
const providerTool = ({
  id,
  name,
  args,
  metadata
}: NonNullable<Request["providerTools"]>[number]): LanguageModelV4ProviderTool => {
  if (handedBack(metadata).providerOptions !== undefined) {
    throw unsupported(`metadata.providerOptions of ${name}`, "a provider's tool has only its `args`; write them there")
  }
  return { type: "provider", id: id as LanguageModelV4ProviderTool["id"], name, args: { ...args } }
}

/**
 * Throws an `AdapterError` (`unsupported_feature`) for a tool of another provider: the package of OpenAI's Responses API
 * leaves out unknown tools without an error.
 */
export const refuseForeignTools = (request: Request, provider: string, { own }: OptionNames): void => {
  if (!provider.endsWith(".responses")) return
  const foreign = request.providerTools?.find(({ id }) => ![...own, "openai"].includes(id.split(".")[0] ?? ""))
  if (foreign !== undefined) throw unsupported(`the tool ${foreign.id}`, `${provider} has no tools of that provider`)
  const patch = request.providerTools?.find(({ id, name }) => id === "openai.apply_patch" && name !== "apply_patch")
  if (patch !== undefined)
    throw unsupported(`the tool ${patch.name}`, 'its package reads results of "apply_patch"; name it so')
}

const toolChoice = ({ toolChoice: choice }: Request): Pick<LanguageModelV4CallOptions, "toolChoice"> => {
  if (choice === undefined) return {}
  return { toolChoice: typeof choice === "string" ? { type: choice } : { type: "tool", toolName: choice.name } }
}

const responseFormat = ({ responseFormat: format }: Request): Pick<LanguageModelV4CallOptions, "responseFormat"> => {
  if (format === undefined || format.type === "text") return {}
  if (format.type === "json_object") return { responseFormat: { type: "json" } }
  return { responseFormat: { type: "json", name: format.name, schema: format.schema } }
}
