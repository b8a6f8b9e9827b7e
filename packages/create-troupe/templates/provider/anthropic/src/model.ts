/** The model of every chat. Without a key in `.env`, the scripted model answers. */
import { anthropic } from "@ai-sdk/anthropic"
import { aiSdk } from "@troupe/providers"
import { scripted } from "./scripted.ts"

export const adapter = process.env.ANTHROPIC_API_KEY ? aiSdk(anthropic("claude-sonnet-5")) : scripted()
