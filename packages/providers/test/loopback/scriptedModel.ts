/** AI SDK models of each specification version that say the parts a test wrote down. */
import type {
  LanguageModelV2,
  LanguageModelV2CallOptions,
  LanguageModelV2StreamPart,
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3StreamPart,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage
} from "@ai-sdk/provider"

/** A stream of these parts. */
export const streamOf = <P>(parts: ReadonlyArray<P>): ReadableStream<P> =>
  new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    }
  })

const unused = (): never => {
  throw new Error("only streaming is used")
}

/** A V4 model; `asked` collects its call options. */
export const modelV4 = (
  doStream: (
    options: LanguageModelV4CallOptions
  ) => ReadableStream<LanguageModelV4StreamPart> | Promise<ReadableStream<LanguageModelV4StreamPart>>,
  asked: Array<LanguageModelV4CallOptions> = []
): LanguageModelV4 => ({
  specificationVersion: "v4",
  provider: "scripted.chat",
  modelId: "four",
  supportedUrls: {},
  doGenerate: unused,
  doStream: async (options) => {
    asked.push(options)
    return { stream: await doStream(options) }
  }
})

/** A V3 model. */
export const modelV3 = (
  parts: ReadonlyArray<LanguageModelV3StreamPart>,
  asked: Array<LanguageModelV3CallOptions> = []
): LanguageModelV3 => ({
  specificationVersion: "v3",
  provider: "scripted.chat",
  modelId: "three",
  supportedUrls: {},
  doGenerate: unused,
  doStream: async (options) => {
    asked.push(options)
    return { stream: streamOf(parts) }
  }
})

/** A V2 model. */
export const modelV2 = (
  parts: ReadonlyArray<LanguageModelV2StreamPart>,
  asked: Array<LanguageModelV2CallOptions> = []
): LanguageModelV2 => ({
  specificationVersion: "v2",
  provider: "scripted.chat",
  modelId: "two",
  supportedUrls: {},
  doGenerate: unused,
  doStream: async (options) => {
    asked.push(options)
    return { stream: streamOf(parts) }
  }
})

/** Some usage. */
export const someUsage: LanguageModelV4Usage = {
  inputTokens: { total: 20, noCache: 12, cacheRead: 5, cacheWrite: 3 },
  outputTokens: { total: 9, text: 7, reasoning: 2 }
}

/** The last part of a reply. */
export const finish = (
  unified: "stop" | "length" | "content-filter" | "tool-calls" | "error" | "interrupted" | "other" = "stop",
  raw: string | undefined = "end"
): Extract<LanguageModelV4StreamPart, { type: "finish" }> => ({
  type: "finish",
  usage: someUsage,
  finishReason: { unified, raw }
})
