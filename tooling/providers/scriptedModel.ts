/**
 * A model of the AI SDK's specification whose replies are scripted, and the options of a request to its adapter.
 *
 * @module
 */
import { ReadableStream as Stream } from "node:stream/web"
import type { AiSdkModel } from "@troupe/providers/AiSdk"

type Model = Extract<AiSdkModel, { readonly specificationVersion: "v4" }>

/** A stream part of the specification. */
export type Part = Awaited<ReturnType<Model["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never

/** A model that replies to each request with the parts that the function returns. */
export const scriptedModel = (
  reply: (request: Parameters<Model["doStream"]>[0]) => Iterable<Part> | AsyncIterable<Part>
): Model => ({
  specificationVersion: "v4",
  provider: "scripted.chat",
  modelId: "one",
  supportedUrls: { "*/*": [/.*/u] },
  doGenerate: () => {
    throw new Error("only streaming is used")
  },
  doStream: async (request) => ({ stream: Stream.from(reply(request)) as ReadableStream<Part> })
})

/** The end of a reply. */
export const finishOf = (unified: "stop" | "tool-calls" | "length", raw: string, input = 1, output = 1) => {
  const [noCache, cacheRead, cacheWrite, text, reasoning] = [undefined, undefined, undefined, undefined, undefined]
  return {
    type: "finish" as const,
    finishReason: { unified, raw },
    usage: {
      inputTokens: { total: input, noCache, cacheRead, cacheWrite },
      outputTokens: { total: output, text, reasoning }
    }
  }
}

/** The options of a request. */
export const requestOptions = {
  signal: new AbortController().signal,
  requestId: "r",
  includeRawChunks: true,
  adapterOptions: {}
}
