/** Rewrites V4 call options for models of the older specification versions. */
import type {
  LanguageModelV4CallOptions,
  LanguageModelV2Prompt,
  LanguageModelV3Prompt,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultOutput,
  SharedV4FileData
} from "@ai-sdk/provider"
import { unsupported } from "./providerOptions.ts"

/** The supported specification versions. */
export type Dialect = "v2" | "v3" | "v4"

/**
 * The call options in the form of that version. Throws an `AdapterError` (`unsupported_feature`) for a feature that the
 * version does not have, because its models ignore it.
 */
export const optionsInDialect = (options: LanguageModelV4CallOptions, dialect: Dialect): LanguageModelV4CallOptions => {
  if (dialect === "v4") return options
  if (options.reasoning !== undefined) {
    throw unsupported(
      "reasoning",
      `a model of specification ${dialect} has no such setting; write the provider's own option under its name, as \`openrouter: { reasoning: { effort: "high" } }\``
    )
  }
  const tools = dialect === "v2" ? options.tools?.map(secondVersion) : options.tools
  const prompt = inDialect(options.prompt, dialect) as LanguageModelV4Prompt
  return { ...options, prompt, ...(tools === undefined ? {} : { tools: tools as typeof options.tools & object }) }
}

const secondVersion = (tool: NonNullable<LanguageModelV4CallOptions["tools"]>[number]): unknown => {
  if (tool.type === "provider") return { ...tool, type: "provider-defined" }
  if (tool.strict === undefined) return tool
  throw unsupported(`strict of ${tool.name}`, "a model of specification v2 has no such setting; leave it out")
}

/** The prompt in the form of that version. */
const inDialect = (
  prompt: LanguageModelV4Prompt,
  dialect: Dialect
): LanguageModelV4Prompt | LanguageModelV3Prompt | LanguageModelV2Prompt =>
  dialect === "v4" ? prompt : (prompt.map((message) => older(message, dialect)) as LanguageModelV3Prompt)

const older = (message: LanguageModelV4Message, dialect: "v2" | "v3"): unknown => {
  switch (message.role) {
    case "system":
      return message
    case "user":
    case "assistant":
      return { ...message, content: message.content.flatMap((part) => olderPart(part, dialect)) }
    case "tool":
      return {
        ...message,
        content: message.content.map((part) =>
          part.type === "tool-result" ? { ...part, output: olderOutput(part.output, dialect) } : part
        )
      }
  }
}

/** Older versions have neither parts of a provider's own kind nor files of reasoning. */
const olderPart = (
  part: Extract<LanguageModelV4Message, { role: "user" | "assistant" }>["content"][number],
  dialect: "v2" | "v3"
): ReadonlyArray<unknown> => {
  switch (part.type) {
    case "file":
      return [{ ...part, data: bare(part.data) }]
    case "tool-result":
      return [{ ...part, output: olderOutput(part.output, dialect) }]
    case "custom":
    case "reasoning-file":
      return []
    default:
      return [part]
  }
}

/** V2 has no refusals: they become errors. */
const olderOutput = (output: LanguageModelV4ToolResultOutput, dialect: "v2" | "v3"): unknown => {
  switch (output.type) {
    case "content":
      return {
        ...output,
        value: output.value.map((item) => (item.type === "file" ? olderFile(item, dialect) : item))
      }
    case "execution-denied":
      return dialect === "v2" ? { type: "error-text", value: output.reason ?? "" } : output
    default:
      return output
  }
}

/** V2 supports media only as bytes, so a URL becomes text. V3 has one shape for each of image, file, data, URL. */
const olderFile = (
  { data, filename, mediaType, providerOptions }: LanguageModelV4FilePart,
  dialect: "v2" | "v3"
): unknown => {
  const content = bare(data)
  const kind = mediaType.startsWith("image/") ? "image" : "file"
  if (dialect === "v2") {
    return content instanceof URL ? { type: "text", text: content.href } : { type: "media", data: content, mediaType }
  }
  const options = providerOptions === undefined ? {} : { providerOptions }
  if (content instanceof URL) return { type: `${kind}-url`, url: content.href, ...options }
  const named = filename === undefined || kind === "image" ? {} : { filename }
  return { type: `${kind}-data`, data: content, mediaType, ...named, ...options }
}

const bare = (data: SharedV4FileData): URL | string | Uint8Array => {
  switch (data.type) {
    case "url":
      return data.url
    case "data":
      return data.data
    case "text":
      return data.text
    case "reference":
      return JSON.stringify(data.reference)
  }
}
