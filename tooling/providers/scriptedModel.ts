/**
 * A model of the AI SDK's specification whose replies are scripted, and the options of a request to its adapter.
 *
 * @module
 */
import { ReadableStream as Stream } from "node:stream/web"
import type { AiSdkModel } from "@troupe/providers/AiSdk"
import { MockLanguageModelV4 } from "ai/test"

type Model = Extract<AiSdkModel, { readonly specificationVersion: "v4" }>

/** A stream part of the specification. */
export type Part = Awaited<ReturnType<Model["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never

/** A model that replies to each request with the parts that the function returns. */
export const scriptedModel = (
  reply: (request: Parameters<Model["doStream"]>[0]) => Iterable<Part> | AsyncIterable<Part>
) =>
  new MockLanguageModelV4({
    supportedUrls: { "*/*": [/.*/u] },
    doStream: async (request) => ({ stream: Stream.from(reply(request)) as ReadableStream<Part> })
  })

/** The end of a reply. */
export const finishOf = (unified: "stop" | "tool-calls" | "length", raw: string, input = 1, output = 1) => ({
  type: "finish" as const,
  finishReason: { unified, raw },
  usage: {
    inputTokens: { total: input, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: undefined, reasoning: undefined }
  }
})

/** The options of a request. */
export const requestOptions = {
  signal: new AbortController().signal,
  requestId: "r",
  includeRawChunks: true,
  adapterOptions: {}
}
