/**
 * The real provider packages, pointed at a loopback server.
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
import type { Recording } from "./recording.ts"

const modelId = "recorded"
const apiKey = "none"

/**
 * The model whose package reads this recording: the provider's own package if there is one, else the package for the API
 * that the reply was recorded from.
 */
export const modelFor = (
  { provider, dialect }: Pick<Recording, "provider" | "dialect">,
  baseURL: string
): AiSdkModel => {
  switch (dialect) {
    case "messages":
      return createAnthropic({ baseURL, apiKey })(modelId)
    case "gemini":
      return createGoogle({ baseURL, apiKey })(modelId)
    case "responses":
      return createOpenAI({ baseURL, apiKey }).responses(modelId)
    case "chat":
      return chatModel(provider, baseURL)
  }
}

const chatModel = (provider: string, baseURL: string): AiSdkModel => {
  switch (provider) {
    case "openai":
    case "azure":
      return createOpenAI({ baseURL, apiKey }).chat(modelId)
    case "mistral":
      return createMistral({ baseURL, apiKey })(modelId)
    case "groq":
      return createGroq({ baseURL, apiKey })(modelId)
    case "deepseek":
      return createDeepSeek({ baseURL, apiKey })(modelId)
    default:
      return createOpenAICompatible({ name: provider, baseURL, apiKey, includeUsage: true })(modelId)
  }
}
