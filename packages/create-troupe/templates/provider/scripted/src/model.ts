/**
 * The model of every chat: a scripted one, which needs no key.
 *
 * For a real one, install `@troupe/providers` and a provider of the AI SDK, such as `@ai-sdk/openai`. Then replace the line:
 * `export const adapter = aiSdk(openai("gpt-5.5"))`
 */
import { scripted } from "./scripted.ts"

export const adapter = scripted()
