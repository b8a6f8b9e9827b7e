/** The request body of OpenAI's responses, and its options. */
import type { ChatOptions } from "@troupe/chat/chats"
import type { Tool } from "@troupe/chat/tools"
import * as z from "zod"
import { HttpError } from "../../errors/index.ts"
import { longestId } from "./responseIds.ts"
import { manualTool } from "../index.ts"
import {
  formatFields,
  functionFields,
  nothing,
  oneCallAtATime,
  runOptions,
  schemaFormat,
  unsupported
} from "./openAiRequest.ts"

const Part = z.looseObject({
  type: z.string(),
  text: z.string().nullish(),
  image_url: z.string().nullish(),
  detail: z.enum(["auto", "low", "high", "original"]).nullish(),
  file_data: z.string().nullish(),
  file_url: z.string().nullish(),
  filename: z.string().nullish()
})

/** A part of a message or of a call's output. */
export type ResponsesPart = z.infer<typeof Part>

const Content = z.union([z.string(), z.array(Part)])

const Item = z.looseObject({
  type: z.string().nullish(),
  id: z.string().max(longestId).nullish(),
  role: z.enum(["system", "developer", "user", "assistant"]).optional(),
  content: Content.nullish(),
  call_id: z.string().min(1).max(longestId).optional(),
  name: z.string().max(256).optional(),
  arguments: z.string().optional(),
  output: Content.nullish(),
  result: z.string().nullish(),
  output_format: z.string().max(32).nullish()
})

/** One item of the input. */
export type ResponsesItem = z.infer<typeof Item>

export const InputItems = z.array(Item)

const FunctionTool = z.looseObject({
  type: z.literal("function", "only function tools are served here"),
  name: z.string().min(1).max(256),
  ...functionFields
})

/** The body of `POST /v1/responses`. An unsupported option that would change the answer is refused by name. */
export const ResponsesRequest = z.looseObject({
  model: z.string().max(256),
  input: z.union([z.string(), InputItems]),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  store: z.boolean().nullish(),
  background: z.boolean().nullish(),
  previous_response_id: z.string().max(longestId).nullish(),
  conversation: z.union([z.string(), z.looseObject({ id: z.string() })]).nullish(),
  metadata: z.record(z.string().max(64), z.string().max(512)).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_output_tokens: z.int().positive().nullish(),
  reasoning: z.looseObject({ effort: z.string().max(16).nullish(), summary: z.string().max(16).nullish() }).nullish(),
  text: z
    .looseObject({
      format: formatFields({
        name: z.string(),
        schema: z.record(z.string(), z.unknown(), "must be a JSON schema, as an object"),
        strict: z.boolean().nullish()
      })
    })
    .nullish(),
  tools: z.array(FunctionTool).max(128).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  tool_choice: z
    .union([
      z.enum(["auto", "none", "required"]),
      z.looseObject({ type: z.literal("function"), name: z.string().max(256) })
    ])
    .nullish(),
  max_tool_calls: nothing,
  prompt: nothing,
  moderation: nothing,
  top_logprobs: z.literal(0, unsupported).nullish()
})
export type ResponsesRequest = z.infer<typeof ResponsesRequest>

/** The parameters of OpenAI's API that change no answer of this server. */
const withoutEffect = new Set([
  "context_management",
  "include",
  "prompt_cache_key",
  "prompt_cache_retention",
  "safety_identifier",
  "service_tier",
  "stream_options",
  "truncation",
  "user"
])

/** Throws an `HttpError` (400) for a parameter that OpenAI's API does not have. */
export const checkParameters = (body: object, { shape }: z.ZodObject): void => {
  const name = Object.keys(body).find((key) => !Object.hasOwn(shape, key) && !withoutEffect.has(key))
  if (name === undefined) return
  throw new HttpError("unknown_parameter", "The request has an unknown parameter", {
    issues: [{ field: [name.slice(0, 100)], reason: "is unknown; mend its name, or leave it out" }]
  })
}

/** The client's own tools. Throws an `HttpError` (422) for a name that a tool of the server has. */
export const responsesToolsOf = ({ tools }: ResponsesRequest, taken: ReadonlySet<string>): ReadonlyArray<Tool.Tool> =>
  (tools ?? []).map((tool) => manualTool(tool, taken))

/** The options of a turn, without its instructions. */
export const responsesOptionsOf = (request: ResponsesRequest, tools: ReadonlyArray<Tool.Tool>): ChatOptions => {
  const { temperature, tool_choice: choice, max_output_tokens: maxTokens, top_p: topP, reasoning } = request
  const more = { topP, ...oneCallAtATime(request), reasoning: reasoning?.effort }
  const format = request.text?.format
  return {
    includeRawChunks: true,
    ...runOptions(tools, more, {
      temperature,
      maxTokens,
      toolChoice: typeof choice === "object" && choice !== null ? { name: choice.name } : choice,
      responseFormat: format?.type === "json_schema" ? schemaFormat(format) : format && { type: format.type }
    })
  }
}
