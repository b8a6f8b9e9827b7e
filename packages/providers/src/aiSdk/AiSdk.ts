/**
 * One adapter for every model of the AI SDK's provider packages.
 *
 * MODEL1. A value that is not a model is refused when it is passed, with an error that names valid values.
 *
 * @module
 * @source The AI SDK's language model specification, versions 2, 3 and 4
 */
import type { LanguageModelV2, LanguageModelV3, LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider"
import { optionFindings, ValidationError } from "@troupe/chat/errors"
import type { AdapterEvent } from "@troupe/chat/events"
import type { Adapter, Request } from "@troupe/chat/models"
import * as z from "zod"
import { callOptionsOf, refuseForeignTools } from "./callOptions.ts"
import { optionsInDialect } from "./dialect.ts"
import { type OptionNames, optionNames, unreadOptions, withBreakpoints } from "./providerOptions.ts"
import type { StreamPart } from "./replyParts.ts"
import { PartSequence } from "./partSequence.ts"
import { adapterError } from "./providerError.ts"
import { type ToolFiles, toolFilesOf } from "./toolFiles.ts"

/** A model value of any AI SDK provider package. */
export type AiSdkModel = LanguageModelV4 | LanguageModelV3 | LanguageModelV2

/**
 * Options of {@link aiSdk}.
 *
 * - `name`: the adapter's name in errors and reports; default is the model's provider
 * - `providerName`: the name the provider reads its own options under; by default the name that its package reads
 *   (`"openai"` of `"openai.responses"`)
 * - `providerNames`: further names of providers, whose options are passed on under their names
 * - `cacheBreakpoints`: the provider options that mark where the prompt is cached
 * - `toolFiles`: the media types of the images and files in tool results that are sent as content, such as `["image/*"]`;
 *   the model reads a short text instead of any other. Default: what the provider's package is known to send
 */
export interface AiSdkOptions {
  /** The adapter's name in errors and reports. Default: the model's provider. */
  readonly name?: string | undefined
  /**
   * The name that the provider reads its own options under. Default: the name that its package reads, `"openai"` of
   * `"openai.responses"`.
   */
  readonly providerName?: string | undefined
  /**
   * The media types of the images and files in tool results that are sent as content, such as `["image/*"]`; the model reads a
   * short text instead of any other. Default: what the provider's package is known to send.
   */
  readonly toolFiles?: ReadonlyArray<string> | undefined
  /**
   * The provider options of a message up to which the provider caches the prompt: `{ anthropic: { cacheControl: { type: "ephemeral" } } }`, or
   * `{ bedrock: { cachePoint: { type: "default" } } }`. The last system message and the last two messages of each request get them. Default:
   * none; OpenAI and Google cache without.
   */
  readonly cacheBreakpoints?: Readonly<Record<string, object>> | undefined
  /** Further names of providers, whose options are passed on under their names. Default: none. */
  readonly providerNames?: ReadonlyArray<string> | undefined
}

/**
 * Makes an adapter of an AI SDK model.
 *
 * **Details**: `topP`, `topK`, `seed`, `stopSequences`, `presencePenalty`, `frequencyPenalty`, `reasoning` and `headers` of
 * a request's `options` are the AI SDK's own settings. An object under the name of a provider has that provider's options;
 * every other option is for the model's own provider. Warnings of the provider's package, such as unsupported settings, are
 * `metadata.warnings` of the response; so are options under the name of a provider that the package does not read. Provider metadata comes as `metadata.providerMetadata` of calls and parts, and is sent
 * back with them. Reasoning streams as `reasoning_delta` events. The message of a reply has all parts of the reply, in its
 * order: text, reasoning, calls, files, sources, calls that the provider ran. To pass provider options for one message, part
 * or tool, put them under
 * `metadata.providerOptions`, by provider name.
 *
 * A reply with a complete tool call and the reason `stop`, `other` or none has the finish reason `tool_calls`, since some servers
 * (LiteLLM, Ollama, compatible ones) send calls with these; `rawFinishReason` is the provider's word.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) for a value that is not a model, such as a model's name, and for
 * unknown options.
 * `stream` rejects with an `AdapterError` when the request is refused. A later failure is an `error` event and the finish
 * reason `error`. A stream that ends without a reason and without a complete call is a `malformed_response`.
 *
 * **Concurrency**: one adapter serves any number of requests at once.
 *
 * **Gotchas**: retries are the engine's; provider packages do not retry, and this adapter does not either.
 *
 * @example
 * ```ts import.meta.vitest
 * import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
 * import { Chat, Engine } from "@troupe/chat"
 * import { Message } from "@troupe/chat/messages"
 * import { aiSdk } from "@troupe/providers"
 *
 * const reply = { choices: [{ index: 0, delta: { content: "Hello!" }, finish_reason: "stop" }] }
 * const headers = { "content-type": "text/event-stream" }
 * const local = createOpenAICompatible({
 *   name: "local",
 *   baseURL: "http://localhost:8080/v1",
 *   fetch: async () => new Response(`data: ${JSON.stringify(reply)}\n\n`, { headers })
 * })
 * const engine = Engine.make({ adapter: aiSdk(local("small")) })
 * const result = await Chat.run(engine, [Message.user("Hi")])
 * result.finalResponse?.outputText // => "Hello!"
 * ```
 */
export const aiSdk = (model: AiSdkModel, options: AiSdkOptions = {}): Adapter.Adapter => {
  if (!isModel(model)) {
    const reason = 'must_be_a_model_object of an AI SDK provider, as openai("gpt-5.5"); a name is none'
    throw new ValidationError("invalid_options", [{ field: ["model"], reason }])
  }
  checkOptions(options)
  const name = options.name ?? model.provider
  const own = options.providerName === undefined ? optionNames(model.provider) : [options.providerName]
  const names: OptionNames = { own, others: options.providerNames }
  const files = toolFilesOf(model, options.toolFiles)
  const { cacheBreakpoints } = options
  return {
    name,
    provider: model.provider,
    model: model.modelId,
    stream: async (request, adapterOptions) => {
      const { signal } = adapterOptions
      if (signal.aborted) return nothing
      const controller = new AbortController()
      const abort = (): void => controller.abort(signal.reason)
      const opening = open(model, request, { names, files, adapterOptions, cacheBreakpoints }, controller.signal)
      try {
        const stream = await unlessAborted(opening, signal, abort)
        if (stream === undefined) return nothing
        const about = {
          provider: name,
          providerName: own[0] ?? "",
          rawChunks: adapterOptions.includeRawChunks,
          warnings: unreadOptions(request.options ?? {}, names, model.provider),
          ownTools: request.providerTools === undefined ? undefined : new Set(request.tools.map((tool) => tool.name)),
          mayAsk: request.providerTools?.some(({ id }) => id.endsWith(".mcp")),
          maxToolArgumentCharacters: adapterOptions.maxToolArgumentCharacters
        }
        return new PartSequence(stream, about, signal, abort)
      } catch (error) {
        throw adapterError(error, name)
      }
    }
  }
}

const word = z.string("must_be_a_text").optional()
const words = z.lazy(() => z.array(z.string("must_be_a_text"), "must_be_a_list of texts").optional())

const marks = z
  .record(z.string(), z.looseObject({}, "must_be_provider_options"), "must_be_an_object of provider options")
  .optional()

const optionTypes = z.strictObject(
  { name: word, providerName: word, providerNames: words, toolFiles: words, cacheBreakpoints: marks } satisfies {
    readonly [Name in keyof Required<AiSdkOptions>]: z.ZodType
  },
  "must_be_an_object of options"
)

/** Throws a `ValidationError` that names each option that is unknown or of the wrong type. */
const checkOptions = (options: AiSdkOptions): void => {
  const names = Object.keys(optionTypes.shape).join(", ")
  const ofModel = "use providerOptions of a call for the settings of the model"
  const found = optionFindings(optionTypes, options, () => `unknown_option; the options are ${names}; ${ofModel}`)
  if (found.length > 0) throw new ValidationError("invalid_options", found)
}

const isModel = (model: unknown): boolean =>
  ((typeof model === "object" && model !== null) || typeof model === "function") &&
  typeof Reflect.get(model, "doStream") === "function"

const nothing: AsyncIterable<AdapterEvent> = {
  [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) })
}

/** The versions differ in types only: the request is written in the model's own version. */
type Open = (options: LanguageModelV4CallOptions) => PromiseLike<{ readonly stream: ReadableStream<StreamPart> }>

interface Asking {
  readonly names: OptionNames
  readonly files: ToolFiles
  readonly adapterOptions: Adapter.AdapterOptions
  readonly cacheBreakpoints: AiSdkOptions["cacheBreakpoints"]
}

const open = async (
  model: AiSdkModel,
  request: Request,
  { names, files, adapterOptions, cacheBreakpoints }: Asking,
  abortSignal: AbortSignal
): Promise<ReadableStream<StreamPart>> => {
  refuseForeignTools(request, model.provider, names)
  const asked = callOptionsOf(request, names, adapterOptions, files)
  const marked = { ...asked, prompt: withBreakpoints(asked.prompt, cacheBreakpoints) }
  const options = optionsInDialect(marked, model.specificationVersion)
  const doStream: Open = (callOptions) => (model.doStream as Open).call(model, callOptions)
  const { stream } = await doStream({ ...options, abortSignal })
  return stream
}

/**
 * The opened stream, or `undefined` when the signal was aborted first. Then the request is aborted without waiting for it,
 * and a stream that still opens is cancelled.
 */
const unlessAborted = (
  opening: Promise<ReadableStream<StreamPart>>,
  signal: AbortSignal,
  abort: () => void
): Promise<ReadableStream<StreamPart> | undefined> =>
  new Promise((resolve, reject) => {
    const onAbort = (): void => {
      resolve(undefined)
      abort()
      opening.then((stream) => stream.cancel()).catch(() => {})
    }
    const settle = (): void => signal.removeEventListener("abort", onAbort)
    signal.addEventListener("abort", onAbort, { once: true })
    opening.then(resolve, reject).finally(settle)
  })
