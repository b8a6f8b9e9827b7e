/** The request body of OpenAI's chat completions. */
import type { ChatOptions } from "@troupe/chat/chats"
import { type ContentPart, Message, ToolCall } from "@troupe/chat/messages"
import type { Tool } from "@troupe/chat/tools"
import * as z from "zod"
import { HttpError, quoted } from "../../errors/index.ts"
import { checkedAnswer, checkedContent, checkedLength, filePart, manualTool } from "../index.ts"
import { answerOf } from "./replyParts.ts"

const Part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  image_url: z.looseObject({ url: z.string(), detail: z.enum(["auto", "low", "high"]).optional() }).optional(),
  file: z.looseObject({ file_data: z.string().optional(), filename: z.string().optional() }).optional()
})
type Part = z.infer<typeof Part>

const Content = z.union([z.string(), z.array(Part)])
type Content = z.infer<typeof Content>

const Said = z.discriminatedUnion("role", [
  z.looseObject({ role: z.literal("system"), content: Content }),
  z.looseObject({ role: z.literal("developer"), content: Content }),
  z.looseObject({ role: z.literal("user"), content: Content }),
  z.looseObject({
    role: z.literal("assistant"),
    content: Content.nullish(),
    tool_calls: z
      .array(
        z.looseObject({
          id: z.string().min(1),
          type: z.literal("function"),
          function: z.looseObject({ name: z.string(), arguments: z.string() })
        })
      )
      .nullish(),
    reasoning_content: z.string().nullish(),
    images: z.array(Part).max(128).nullish()
  }),
  z.looseObject({ role: z.literal("tool"), tool_call_id: z.string(), content: Content })
])
type Said = z.infer<typeof Said>

/** The fields of a function in both APIs, beside its name. */
export const functionFields = {
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish()
}

/** Why a parameter is refused that would change the answer. */
export const unsupported = "is not supported here; leave it out"

/** A parameter that may be given as `null` only. */
export const nothing = z.null(unsupported).optional()

const JsonSchema = z.looseObject({
  name: z.string(),
  schema: z.record(z.string(), z.unknown()).optional(),
  strict: z.boolean().nullish()
})
type JsonSchema = z.infer<typeof JsonSchema>

/** The format of an answer, where that of a JSON schema has these fields. */
export const formatFields = <Fields extends z.ZodRawShape>(fields: Fields) =>
  z
    .discriminatedUnion("type", [
      z.looseObject({ type: z.literal("text") }),
      z.looseObject({ type: z.literal("json_object") }),
      z.looseObject({ type: z.literal("json_schema"), ...fields })
    ])
    .nullish()

const FunctionTool = z.looseObject({
  type: z.literal("function"),
  function: z.looseObject({
    name: z.string(),
    ...functionFields
  })
})

const no = z.literal(false, unsupported).nullish()

/** The body of `POST /v1/chat/completions`. An unsupported option that would change the answer is refused by name. */
export const OpenAiRequest = z.looseObject({
  model: z.string(),
  messages: z.array(Said).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_tokens: z.int().positive().nullish(),
  max_completion_tokens: z.int().positive().nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  seed: z.int().nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  reasoning_effort: z.string().max(16).nullish(),
  tools: z.array(FunctionTool).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  tool_choice: z
    .union([
      z.enum(["auto", "none", "required"]),
      z.looseObject({ type: z.literal("function"), function: z.looseObject({ name: z.string() }) })
    ])
    .nullish(),
  response_format: formatFields({ json_schema: JsonSchema }),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  n: z.literal(1, "must be 1").nullish(),
  logprobs: no,
  top_logprobs: nothing,
  logit_bias: nothing,
  functions: nothing,
  function_call: nothing,
  audio: nothing,
  modalities: z.tuple([z.literal("text", 'must be ["text"]')]).nullish(),
  prediction: nothing,
  web_search_options: nothing
})
export type OpenAiRequest = z.infer<typeof OpenAiRequest>

const textOf = (content: Content): string =>
  typeof content === "string" ? content : content.map(({ text = "" }) => text).join("")

const partOf = ({ type, text, image_url, file }: Part): ContentPart => {
  if (type === "text" && text !== undefined) return { type: "text", text }
  if (type === "image_url" && image_url !== undefined) {
    const part = filePart(image_url.url, "image/*")
    return part.type === "image" && image_url.detail !== undefined ? { ...part, detail: image_url.detail } : part
  }
  if (type === "file" && file?.file_data !== undefined)
    return filePart(file.file_data, "application/octet-stream", file.filename)
  throw new HttpError("invalid_input", "A part of a message is text, an image_url, or a file with its file_data", {
    issues: [{ field: ["messages", "content"], reason: `no parts of the type ${quoted(type)}` }]
  })
}

/** A result: its text, or its parts if it has an image or a file. */
const resultOf = (content: Content): string | ReadonlyArray<ContentPart> =>
  typeof content === "string" || content.every(({ type }) => type === "text") ? textOf(content) : content.map(partOf)

/** Converts a message. Throws an `HttpError` (413, 422) for one that is too long or empty. */
export const messageOf = (said: Said, mostCharacters: number): Message.Message => {
  switch (said.role) {
    case "system":
    case "developer":
      return Message.system(checkedLength(textOf(said.content), mostCharacters))
    case "user": {
      const parts =
        typeof said.content === "string" ? [{ type: "text" as const, text: said.content }] : said.content.map(partOf)
      return Message.user(checkedContent(parts, mostCharacters))
    }
    case "assistant": {
      const text = checkedLength(textOf(said.content ?? ""), mostCharacters)
      const calls = checkedAnswer(said.tool_calls ?? [], mostCharacters).map(callOf)
      const reasoning = checkedLength(said.reasoning_content ?? "", mostCharacters)
      return answerOf(text, calls, checkedLength((said.images ?? []).map(partOf), mostCharacters), reasoning)
    }
    case "tool":
      return Message.toolResult(said.tool_call_id, checkedLength(resultOf(said.content), mostCharacters))
  }
}

const callOf = ({
  id,
  function: { name, arguments: rawArguments }
}: {
  readonly id: string
  readonly function: { readonly name: string; readonly arguments: string }
}): ToolCall.ToolCall => ({ id, name, arguments: ToolCall.parseArguments(rawArguments), rawArguments })

/**
 * The client's own tools: the client answers their calls. Throws an `HttpError` (422) for a name that a tool of the server
 * has.
 */
export const toolsOf = ({ tools }: OpenAiRequest, taken: ReadonlySet<string>): ReadonlyArray<Tool.Tool> =>
  (tools ?? []).map(({ function: tool }) => manualTool(tool, taken))

/** The option for one call in a message. Several are every provider's default, which some have no option for. */
export const oneCallAtATime = (request: {
  readonly parallel_tool_calls?: boolean | null | undefined
}): { readonly parallelToolCalls?: false } =>
  request.parallel_tool_calls === false ? { parallelToolCalls: false } : {}

type Shared = "temperature" | "maxTokens" | "toolChoice" | "responseFormat"

/** The options of a run, of the values that a request of either API has. What is `null` or `undefined` is left out. */
export const runOptions = (
  tools: ReadonlyArray<Tool.Tool>,
  providerOptions: object,
  options: { readonly [Option in Shared]: ChatOptions[Option] | null }
): ChatOptions => {
  const provided = present(providerOptions)
  return {
    ...(tools.length > 0 && { tools }),
    ...present(options),
    ...(Object.keys(provided).length > 0 && { providerOptions: provided })
  }
}

const present = (values: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== null))

/** The options of a run of chat completions. */
export const optionsOf = (request: OpenAiRequest, tools: ReadonlyArray<Tool.Tool>): ChatOptions => {
  const { temperature, tool_choice: choice, response_format: format, stop } = request
  const more = {
    topP: request.top_p,
    seed: request.seed,
    presencePenalty: request.presence_penalty,
    frequencyPenalty: request.frequency_penalty,
    reasoning: request.reasoning_effort,
    stopSequences: typeof stop === "string" ? [stop] : stop,
    ...oneCallAtATime(request)
  }
  return runOptions(tools, more, {
    temperature,
    maxTokens: request.max_completion_tokens ?? request.max_tokens,
    toolChoice: typeof choice === "object" && choice !== null ? { name: choice.function.name } : choice,
    responseFormat: format?.type === "json_schema" ? schemaFormat(format.json_schema) : format && { type: format.type }
  })
}

/** The format of an answer by a JSON schema. */
export const schemaFormat = ({
  name,
  schema = {},
  strict
}: JsonSchema): NonNullable<ChatOptions["responseFormat"]> => ({
  type: "json_schema",
  name,
  schema,
  ...(typeof strict === "boolean" && { strict })
})
