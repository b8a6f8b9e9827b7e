/**
 * The real provider packages, pointed at a loopback server.
 *
 * @module
 */
import type { AiSdkModel } from "@troupe/providers/AiSdk"
import { type Column, packages, type Target } from "../providers/packages.ts"
import type { Recording } from "./recording.ts"

const columns = { responses: "responses", messages: "anthropic", gemini: "google" } as const

/** The providers of chat completions that have a package of their own. */
const ofChat: Readonly<Record<string, Column>> = {
  openai: "chat",
  azure: "chat",
  mistral: "mistral",
  groq: "groq",
  deepseek: "deepseek"
}

/**
 * The model whose package reads this recording: the provider's own package if there is one, else the package for the API
 * that the reply was recorded from.
 */
export const modelFor = (
  { provider, dialect }: Pick<Recording, "provider" | "dialect">,
  target: Target
): AiSdkModel => {
  const column = dialect === "chat" ? (ofChat[provider] ?? "compatible") : columns[dialect]
  return packages[column].model(target, "recorded", provider)
}
