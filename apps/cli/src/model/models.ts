/**
 * Chooses the model.
 *
 * @module
 */
import { createAnthropic } from "@ai-sdk/anthropic"
import { createGoogle } from "@ai-sdk/google"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import type { Adapter } from "@troupe/chat/models"
import { aiSdk } from "@troupe/providers"
import { CliError, type CliOptions } from "../options/index.ts"
import { scriptedModel } from "@troupe/scripted"

/** A chosen model. */
export interface ChosenModel {
  /** The display name: provider and id. */
  readonly label: string
  readonly adapter: Adapter.Adapter
}

/** The environment of the choice. */
export interface ModelSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The folder with the files. */
  readonly folder: string
  /** Milliseconds between two words of the scripted model. */
  readonly wordDelayMs: number
}

interface Provider {
  readonly name: string
  readonly key: string
  readonly defaultId: string
  readonly adapter: (apiKey: string, id: string, baseURL: string | undefined) => Adapter.Adapter
}

const at = (baseURL: string | undefined) => (baseURL === undefined ? {} : { baseURL })

const providers: ReadonlyArray<Provider> = [
  {
    name: "openai",
    key: "OPENAI_API_KEY",
    defaultId: "gpt-5.5",
    adapter: (apiKey, id, baseURL) => {
      const provider = createOpenAI({ apiKey, ...at(baseURL) })
      return aiSdk(baseURL === undefined ? provider(id) : provider.chat(id))
    }
  },
  {
    name: "anthropic",
    key: "ANTHROPIC_API_KEY",
    defaultId: "claude-sonnet-5",
    adapter: (apiKey, id, baseURL) => aiSdk(createAnthropic({ apiKey, ...at(baseURL) })(id))
  },
  {
    name: "google",
    key: "GOOGLE_GENERATIVE_AI_API_KEY",
    defaultId: "gemini-3.5-flash",
    adapter: (apiKey, id, baseURL) => aiSdk(createGoogle({ apiKey, ...at(baseURL) })(id))
  }
]

/**
 * Chooses the model that the flags name, else the first provider with a key, else the scripted model.
 *
 * **Errors**: throws a `CliError` when a key or a model's name is missing.
 */
export const chooseModel = (options: CliOptions, surroundings: ModelSurroundings): ChosenModel => {
  const { model, baseUrl } = options
  const { env } = surroundings
  if (model?.provider === "scripted") return scripted(surroundings)
  if (baseUrl !== undefined && model?.provider === "compatible") return compatible(baseUrl, model.id ?? "", env)
  const provider = providers.find((found) =>
    model === undefined ? isSet(env[found.key]) : found.name === model.provider
  )
  if (provider === undefined) {
    if (baseUrl === undefined) return scripted(surroundings)
    throw new CliError("--base-url needs --model with the name of a model of that server")
  }
  const apiKey = env[provider.key]
  if (!isSet(apiKey) && baseUrl === undefined) {
    throw new CliError(
      `${provider.key} is not set; ${provider.name} needs it (without --model, a scripted model answers)`
    )
  }
  const id = model?.id ?? provider.defaultId
  return { label: `${provider.name}:${id}`, adapter: provider.adapter(apiKey ?? "none", id, baseUrl) }
}

const scripted = ({ folder, wordDelayMs }: ModelSurroundings): ChosenModel => ({
  label: "the embedded scripted model",
  adapter: scriptedModel({ folder, wordDelayMs })
})

const compatible = (baseURL: string, id: string, env: ModelSurroundings["env"]): ChosenModel => {
  const apiKey = env["OPENAI_API_KEY"]
  const key = isSet(apiKey) ? { apiKey } : {}
  const provider = createOpenAICompatible({ name: "compatible", baseURL, ...key, includeUsage: true })
  return { label: `${id} at ${baseURL}`, adapter: aiSdk(provider(id)) }
}

const isSet = (value: string | undefined): value is string => value !== undefined && value !== ""
