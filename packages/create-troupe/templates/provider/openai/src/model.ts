/** The model of every chat. Without a key in `.env`, the scripted model answers. */
import { openai } from "@ai-sdk/openai"
import { aiSdk } from "@troupe/providers"
import { scripted } from "./scripted.ts"

export const adapter = process.env.OPENAI_API_KEY ? aiSdk(openai("gpt-5.5")) : scripted()
