/**
 * The features of a request, and which packages have them.
 *
 * @module
 */
import type { ContentPart, Message } from "@troupe/chat/messages"
import type { Request } from "@troupe/chat/models"
import type { Column } from "./packages.ts"

/**
 * One feature.
 *
 * - `request`: the request with the feature; absent for a column whose provider has no such feature
 * - `base`: the request without it; default is a question
 * - `mark`: the text that arrives when the feature is sent
 * - `always`: the packages that send it with every request, so that asking for it changes nothing
 */
export interface Feature {
  readonly title: string
  readonly request: Partial<Request> | Partial<Record<Column, Partial<Request>>>
  readonly base?: Partial<Request>
  readonly mark: RegExp
  readonly always?: ReadonlyArray<Column>
}

const question: Message.Message = { role: "user", content: "What is the weather in Oslo?" }
const schema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false
}
const tool = { name: "weather", description: "The weather of a city", schema }
const tools = { tools: [tool] }
const json = { type: "json_schema", name: "city", schema } as const
const showing = (part: ContentPart): Partial<Request> => ({
  messages: [{ role: "user", content: [{ type: "text", text: "Look" }, part] }]
})
const look: Partial<Request> = { messages: [{ role: "user", content: [{ type: "text", text: "Look" }] }] }

const ofProvider = (id: string, name: string, args: Readonly<Record<string, unknown>> = {}): Partial<Request> => ({
  providerTools: [{ id, name, args }]
})

const cached = { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }

/** The request that has nothing but a question. */
export const plain: Request = { messages: [question], tools: [] }

/** Every feature of a request, in the order of the page. */
export const features: ReadonlyArray<Feature> = [
  { title: "`temperature`", mark: /temperature.{0,4}0\.5/, request: { temperature: 0.5 } },
  { title: "`maxTokens`", mark: /500/, request: { maxTokens: 500 } },
  { title: "`topP`", mark: /top_?p.{0,4}0\.5/i, request: { options: { topP: 0.5 } } },
  { title: "`topK`", mark: /top_?k.{0,4}5/i, request: { options: { topK: 5 } } },
  { title: "`seed`", mark: /seed.{0,4}7/i, request: { options: { seed: 7 } } },
  { title: "`stopSequences`", mark: /END/, request: { options: { stopSequences: ["END"] } } },
  { title: "`presencePenalty`", mark: /presence_?penalty.{0,4}0\.5/i, request: { options: { presencePenalty: 0.5 } } },
  {
    title: "`frequencyPenalty`",
    mark: /frequency_?penalty.{0,4}0\.5/i,
    request: { options: { frequencyPenalty: 0.5 } }
  },
  { title: "`reasoning` (effort)", mark: /effort|thinking/i, request: { options: { reasoning: "high" } } },
  { title: "`headers`", mark: /^\["1"/, request: { options: { headers: { "x-own": "1" } } } },
  {
    title: "instructions",
    mark: /Be brief/,
    request: { messages: [{ role: "system", content: "Be brief" }, question] }
  },
  {
    title: "an image",
    mark: /AA==/,
    base: look,
    request: showing({ type: "image", image: { base64: "AA==", mediaType: "image/png" } })
  },
  {
    title: "an image by URL",
    mark: /example\.org/,
    base: look,
    request: showing({ type: "image", image: { url: "https://example.org/a.png" } })
  },
  {
    title: "a PDF file",
    mark: /JVBE/,
    base: look,
    request: showing({ type: "file", file: { base64: "JVBE" }, mediaType: "application/pdf", filename: "a.pdf" })
  },
  { title: "tools", mark: /The weather of a city/, request: tools },
  {
    title: "`strict` of a tool",
    mark: /strict.{0,4}true|VALIDATED/,
    base: tools,
    request: { tools: [{ ...tool, metadata: { strict: true } }] }
  },
  { title: '`toolChoice: "none"`', mark: /none/i, base: tools, request: { ...tools, toolChoice: "none" } },
  {
    title: '`toolChoice: "required"`',
    mark: /required|any/i,
    base: tools,
    request: { ...tools, toolChoice: "required" }
  },
  {
    title: "`toolChoice: { name }`",
    mark: /tool_?choice.{0,80}weather|allowedFunctionNames|tool_choice.{0,8}any/i,
    base: tools,
    request: { ...tools, toolChoice: { name: "weather" } }
  },
  {
    title: "`parallelToolCalls: false`",
    mark: /parallel/i,
    base: tools,
    request: { ...tools, options: { parallelToolCalls: false } }
  },
  { title: "JSON", mark: /json/i, request: { responseFormat: { type: "json_object" } } },
  { title: "JSON of a schema", mark: /city/, request: { responseFormat: json } },
  {
    title: "`strict` of a schema",
    mark: /strict.{0,4}true/,
    base: { responseFormat: { ...json, strict: false } },
    request: { responseFormat: { ...json, strict: true } },
    always: ["anthropic", "google"]
  },
  {
    title: "cache control of a message",
    mark: /ephemeral/,
    request: { anthropic: { messages: [{ ...question, metadata: cached }] } }
  },
  {
    title: "cache control of a reply",
    mark: /ephemeral/,
    base: { messages: [question, { role: "assistant", content: "Rain" }, question] },
    request: {
      anthropic: { messages: [question, { role: "assistant", content: "Rain", metadata: cached }, question] }
    }
  },
  {
    title: "cache control of a tool",
    mark: /ephemeral/,
    base: tools,
    request: { anthropic: { tools: [{ ...tool, metadata: cached }] } }
  },
  {
    title: "an option of the provider",
    mark: /u1|thinking|safe_prompt|own_option/i,
    request: {
      responses: { options: { user: "u1" } },
      chat: { options: { user: "u1" } },
      anthropic: { options: { thinking: { type: "enabled", budgetTokens: 2_000 } } },
      google: { options: { thinkingConfig: { thinkingBudget: 100 } } },
      mistral: { options: { safePrompt: true } },
      groq: { options: { user: "u1" } },
      deepseek: { options: { thinking: { type: "disabled" } } },
      compatible: { options: { own_option: 1 } }
    }
  },
  {
    title: "an option under its name",
    mark: /u1|thinking|safe_prompt|own_option/i,
    request: {
      responses: { options: { openai: { user: "u1" } } },
      chat: { options: { openai: { user: "u1" } } },
      anthropic: { options: { anthropic: { thinking: { type: "enabled", budgetTokens: 2_000 } } } },
      google: { options: { google: { thinkingConfig: { thinkingBudget: 100 } } } },
      mistral: { options: { mistral: { safePrompt: true } } },
      groq: { options: { groq: { user: "u1" } } },
      deepseek: { options: { deepseek: { thinking: { type: "disabled" } } } },
      compatible: { options: { local: { own_option: 1 } } }
    }
  },
  {
    title: "web search",
    mark: /web_search|google_?search|browser_search/i,
    request: {
      responses: ofProvider("openai.web_search", "web_search"),
      anthropic: ofProvider("anthropic.web_search_20250305", "web_search", { maxUses: 2 }),
      google: ofProvider("google.google_search", "google_search"),
      mistral: ofProvider("mistral.web_search", "web_search"),
      groq: ofProvider("groq.browser_search", "browser_search")
    }
  },
  {
    title: "code execution",
    mark: /code_interpreter|code_?execution/i,
    request: {
      responses: ofProvider("openai.code_interpreter", "code_interpreter"),
      anthropic: ofProvider("anthropic.code_execution_20250825", "code_execution"),
      google: ofProvider("google.code_execution", "code_execution")
    }
  },
  {
    title: "file search",
    mark: /file_?search/i,
    request: {
      responses: ofProvider("openai.file_search", "file_search", { vectorStoreIds: ["vs_1"] }),
      google: ofProvider("google.file_search", "file_search", { fileSearchStoreNames: ["fileSearchStores/s1"] })
    }
  },
  {
    title: "computer use",
    mark: /computer/,
    request: {
      responses: ofProvider("openai.computer", "computer"),
      anthropic: ofProvider("anthropic.computer_20250124", "computer", { displayWidthPx: 800, displayHeightPx: 600 })
    }
  },
  {
    title: "a tool of another provider",
    mark: /web_search/,
    request: ofProvider("elsewhere.web_search", "web_search")
  }
]

/** The request of a feature for a column; `undefined` where the provider has no such feature. */
export const requestFor = ({ request }: Feature, column: Column): Request | undefined => {
  const own = isByColumn(request) ? request[column] : request
  return own === undefined ? undefined : { ...plain, ...own }
}

const isByColumn = (request: Feature["request"]): request is Partial<Record<Column, Partial<Request>>> =>
  !Object.keys(request).some((key) => key in plain || requestFields.has(key))

const requestFields: ReadonlySet<string> = new Set([
  "temperature",
  "maxTokens",
  "options",
  "responseFormat",
  "providerTools",
  "toolChoice"
])
