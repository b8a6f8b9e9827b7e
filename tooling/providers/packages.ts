/**
 * The provider packages of the page, each with a model that sends its requests to a function.
 *
 * @module
 */
import { createAnthropic } from "@ai-sdk/anthropic"
import { createDeepSeek } from "@ai-sdk/deepseek"
import { createGoogle } from "@ai-sdk/google"
import { createGroq } from "@ai-sdk/groq"
import { createMistral } from "@ai-sdk/mistral"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import type { AiSdkModel } from "@troupe/providers/AiSdk"
import type { Dialect } from "../wire/recording.ts"

/** Where a package sends its requests: by default to its provider. */
export interface Target {
  readonly fetch?: typeof globalThis.fetch
  readonly baseURL?: string
}

/** A package, or one API of it. Another provider than its own may have a name. */
export interface ProviderPackage {
  readonly title: string
  readonly module: string
  readonly modelId: string
  readonly dialect: Dialect
  readonly model: (target: Target, modelId?: string, provider?: string) => AiSdkModel
}

/** The column of a package. */
export type Column = ("responses" | "chat" | "anthropic" | "google") | ("mistral" | "groq" | "deepseek" | "compatible")

type Make = (settings: Target & { readonly apiKey: string }, modelId: string, provider: string) => AiSdkModel

const packageOf = (title: string, name: string, modelId: string, dialect: Dialect, make: Make): ProviderPackage => ({
  title,
  module: `@ai-sdk/${name}`,
  modelId,
  dialect,
  model: (target, id = modelId, provider = "local") => make({ apiKey: "none", ...target }, id, provider)
})

const compatible: Make = (settings, id, name) => {
  const options = { supportsStructuredOutputs: true, includeUsage: true }
  return createOpenAICompatible({ name, baseURL: "http://local/v1", ...options, ...settings })(id)
}

/** The packages of the page, by column. */
export const packages: Readonly<Record<Column, ProviderPackage>> = {
  responses: packageOf("OpenAI responses", "openai", "gpt-5.5", "responses", (to, id) =>
    createOpenAI(to).responses(id)
  ),
  chat: packageOf("OpenAI chat", "openai", "gpt-4.1", "chat", (to, id) => createOpenAI(to).chat(id)),
  anthropic: packageOf("Anthropic", "anthropic", "claude-sonnet-4-5", "messages", (to, id) => createAnthropic(to)(id)),
  google: packageOf("Google", "google", "gemini-2.5-flash", "gemini", (to, id) => createGoogle(to)(id)),
  mistral: packageOf("Mistral", "mistral", "mistral-large-latest", "chat", (to, id) => createMistral(to)(id)),
  groq: packageOf("Groq", "groq", "openai/gpt-oss-120b", "chat", (to, id) => createGroq(to)(id)),
  deepseek: packageOf("DeepSeek", "deepseek", "deepseek-chat", "chat", (to, id) => createDeepSeek(to)(id)),
  compatible: packageOf("OpenAI-compatible", "openai-compatible", "any", "chat", compatible)
}

/** The columns, in the order of the page. */
export const columns = Object.keys(packages) as ReadonlyArray<Column>
