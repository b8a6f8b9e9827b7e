/** The model of every chat. Without a key in `.env`, the scripted model answers. */
import { google } from "@ai-sdk/google"
import { aiSdk } from "@troupe/providers"
import { scripted } from "./scripted.ts"

export const adapter = process.env.GOOGLE_GENERATIVE_AI_API_KEY ? aiSdk(google("gemini-3.5-flash")) : scripted()
