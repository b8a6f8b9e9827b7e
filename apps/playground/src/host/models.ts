/**
 * The models that can answer: those of each provider with a key, and the scripted one.
 *
 * @module
 */
import { createAnthropic } from "@ai-sdk/anthropic"
import { createGoogle } from "@ai-sdk/google"
import { createOpenAI } from "@ai-sdk/openai"
import type { Adapter } from "@troupe/chat/models"
import { aiSdk } from "@troupe/providers"
import { scriptedModel } from "@troupe/scripted"

/** A model with the name that a message chooses it by, and its name for people. */
export interface OfferedModel {
  readonly name: string
  readonly label: string
  readonly adapter: Adapter.Adapter
}

/** The models for this environment; the first one answers when none is chosen. */
export const modelsFor = (env: Readonly<Record<string, string | undefined>>): ReadonlyArray<OfferedModel> => {
  const keys = {
    openai: env["OPENAI_API_KEY"],
    anthropic: env["ANTHROPIC_API_KEY"],
    google: env["GOOGLE_GENERATIVE_AI_API_KEY"]
  }
  const one = (name: string, adapter: Adapter.Adapter): OfferedModel => ({ name, label: name, adapter })
  return [
    ...(keys.openai ? [one("gpt-5.5", aiSdk(createOpenAI({ apiKey: keys.openai })("gpt-5.5")))] : []),
    ...(keys.anthropic
      ? [one("claude-sonnet-5", aiSdk(createAnthropic({ apiKey: keys.anthropic })("claude-sonnet-5")))]
      : []),
    ...(keys.google ? [one("gemini-3.5-flash", aiSdk(createGoogle({ apiKey: keys.google })("gemini-3.5-flash")))] : []),
    ...scriptedModels(45)
  ]
}

/** The scripted model at two speeds. */
export const scriptedModels = (wordDelayMs: number): ReadonlyArray<OfferedModel> => [
  { name: "scripted", label: "Scripted model", adapter: scriptedModel({ wordDelayMs }) },
  {
    name: "scripted-fast",
    label: "Scripted, fast",
    adapter: scriptedModel({ wordDelayMs: Math.ceil(wordDelayMs / 10) })
  }
]

/** One adapter for all of them: the model of a request chooses. */
export const adapterOf = (models: ReadonlyArray<OfferedModel>): Adapter.Adapter => {
  const byName = new Map(models.map(({ name, adapter }) => [name, adapter]))
  const [first] = models
  if (first === undefined) throw new TypeError("There is no model")
  return {
    name: first.name,
    stream: (request, options) => (byName.get(request.model ?? "") ?? first.adapter).stream(request, options)
  }
}
