/**
 * Chooses the model: the first provider with a key, else the scripted one.
 *
 * @module
 */
import { createAnthropic } from "@ai-sdk/anthropic"
import { createGoogle } from "@ai-sdk/google"
import { createOpenAI } from "@ai-sdk/openai"
import type { Adapter } from "@troupe/chat/models"
import { aiSdk } from "@troupe/providers"
import { scriptedModel } from "./scriptedModel.ts"

/** A model, and its display name. */
export interface ChosenModel {
  readonly label: string
  readonly adapter: Adapter.Adapter
}

/** The model for this environment. */
export const chooseModel = (env: Readonly<Record<string, string | undefined>>): ChosenModel => {
  const keys = {
    openai: env["OPENAI_API_KEY"],
    anthropic: env["ANTHROPIC_API_KEY"],
    google: env["GOOGLE_GENERATIVE_AI_API_KEY"]
  }
  if (keys.openai) return { label: "gpt-5.5", adapter: aiSdk(createOpenAI({ apiKey: keys.openai })("gpt-5.5")) }
  if (keys.anthropic) {
    return { label: "claude-sonnet-5", adapter: aiSdk(createAnthropic({ apiKey: keys.anthropic })("claude-sonnet-5")) }
  }
  if (keys.google) {
    const google = createGoogle({ apiKey: keys.google })
    return { label: "gemini-3.5-flash", adapter: aiSdk(google("gemini-3.5-flash")) }
  }
  return { label: "the scripted model", adapter: scriptedModel({ wordDelayMs: 45 }) }
}
