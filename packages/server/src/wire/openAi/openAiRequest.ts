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

const FunctionTool = z.looseObject({
  type: z.literal("function"),
  function: z.looseObject({
    name: z.string(),
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.unknown()).nullish(),
    strict: z.boolean().nullish()
  })
})

const unsupported = "is not supported here; leave it out"
const nothing = z.null(unsupported).optional()
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
  response_format: z
    .discriminatedUnion("type", [
      z.looseObject({ type: z.literal("text") }),
      z.looseObject({ type: z.literal("json_object") }),
      z.looseObject({
        type: z.literal("json_schema"),
        json_schema: z.looseObject({
          name: z.string(),
          schema: z.record(z.string(), z.unknown()).optional(),
          strict: z.boolean().nullish()
        })
      })
    ])
    .nullish(),
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

/** The options of a run. */
export const optionsOf = (request: OpenAiRequest, tools: ReadonlyArray<Tool.Tool>): ChatOptions => {
  const { temperature, tool_choice: choice, response_format: format, stop } = request
  const maxTokens = request.max_completion_tokens ?? request.max_tokens
  const more = {
    topP: request.top_p,
    seed: request.seed,
    presencePenalty: request.presence_penalty,
    frequencyPenalty: request.frequency_penalty,
    reasoning: request.reasoning_effort,
    stopSequences: typeof stop === "string" ? [stop] : stop,
    ...oneCallAtATime(request)
  }
  const providerOptions = Object.fromEntries(
    Object.entries(more).filter(([, value]) => value !== undefined && value !== null)
  )
  return {
    ...(tools.length === 0 ? {} : { tools }),
    ...(typeof temperature === "number" ? { temperature } : {}),
    ...(typeof maxTokens === "number" ? { maxTokens } : {}),
    ...(Object.keys(providerOptions).length === 0 ? {} : { providerOptions }),
    ...(choice === null || choice === undefined
      ? {}
      : { toolChoice: typeof choice === "string" ? choice : { name: choice.function.name } }),
    ...(format === null || format === undefined ? {} : { responseFormat: formatOf(format) })
  }
}

const formatOf = (
  format: NonNullable<OpenAiRequest["response_format"]>
): NonNullable<ChatOptions["responseFormat"]> => {
  if (format.type !== "json_schema") return { type: format.type }
  const { name, schema = {}, strict } = format.json_schema
  return { type: "json_schema", name, schema, ...(typeof strict === "boolean" ? { strict } : {}) }
}
