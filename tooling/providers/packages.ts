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

/** A package, or one API of it. */
export interface ProviderPackage {
  readonly title: string
  readonly module: string
  readonly modelId: string
  readonly dialect: Dialect
  readonly model: (fetch: typeof globalThis.fetch) => AiSdkModel
}

const apiKey = "none"

/** The column of a package. */
export type Column = ("responses" | "chat" | "anthropic" | "google") | ("mistral" | "groq" | "deepseek" | "compatible")

/** The packages of the page, by column. */
export const packages: Readonly<Record<Column, ProviderPackage>> = {
  responses: {
    title: "OpenAI responses",
    module: "@ai-sdk/openai",
    modelId: "gpt-5.5",
    dialect: "responses",
    model: (fetch) => createOpenAI({ apiKey, fetch }).responses("gpt-5.5")
  },
  chat: {
    title: "OpenAI chat",
    module: "@ai-sdk/openai",
    modelId: "gpt-4.1",
    dialect: "chat",
    model: (fetch) => createOpenAI({ apiKey, fetch }).chat("gpt-4.1")
  },
  anthropic: {
    title: "Anthropic",
    module: "@ai-sdk/anthropic",
    modelId: "claude-sonnet-4-5",
    dialect: "messages",
    model: (fetch) => createAnthropic({ apiKey, fetch })("claude-sonnet-4-5")
  },
  google: {
    title: "Google",
    module: "@ai-sdk/google",
    modelId: "gemini-2.5-flash",
    dialect: "gemini",
    model: (fetch) => createGoogle({ apiKey, fetch })("gemini-2.5-flash")
  },
  mistral: {
    title: "Mistral",
    module: "@ai-sdk/mistral",
    modelId: "mistral-large-latest",
    dialect: "chat",
    model: (fetch) => createMistral({ apiKey, fetch })("mistral-large-latest")
  },
  groq: {
    title: "Groq",
    module: "@ai-sdk/groq",
    modelId: "openai/gpt-oss-120b",
    dialect: "chat",
    model: (fetch) => createGroq({ apiKey, fetch })("openai/gpt-oss-120b")
  },
  deepseek: {
    title: "DeepSeek",
    module: "@ai-sdk/deepseek",
    modelId: "deepseek-chat",
    dialect: "chat",
    model: (fetch) => createDeepSeek({ apiKey, fetch })("deepseek-chat")
  },
  compatible: {
    title: "OpenAI-compatible",
    module: "@ai-sdk/openai-compatible",
    modelId: "any",
    dialect: "chat",
    model: (fetch) =>
      createOpenAICompatible({ name: "local", baseURL: "http://local/v1", fetch, supportsStructuredOutputs: true })(
        "any"
      )
  }
}

/** The columns, in the order of the page. */
export const columns = Object.keys(packages) as ReadonlyArray<Column>
