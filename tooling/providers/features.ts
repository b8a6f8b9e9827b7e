/**
 * The features of a request, and which packages have them.
 *
 * @module
 */
import type { ContentPart, Message } from "@troupe/chat/messages"
import type { Request } from "@troupe/chat/models"
import { type Column, packages } from "./packages.ts"

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

/** A feature; the request without it is a question, unless `more` has another one. */
const feature = (
  title: string,
  mark: RegExp,
  request: Feature["request"],
  more: Pick<Feature, "base" | "always"> = {}
): Feature => ({ title, mark, request, ...more })

/** An option by its name, which may be an option of no provider. */
const option = (name: string, value: unknown): Partial<Request> => ({ options: { [name]: value } })

/** The options of one provider under its name. */
const under = (requests: Partial<Record<Column, Partial<Request>>>): typeof requests =>
  Object.fromEntries(
    Object.entries(requests).map(([column, { options }]) => {
      const names: Readonly<Record<string, string>> = { responses: "openai", chat: "openai", compatible: "local" }
      return [column, { options: { [names[column] ?? column]: options } }]
    })
  )

const question: Message.Message = { role: "user", content: "What is the weather in Oslo?" }
const city = { city: { type: "string" } }
const schema = { type: "object", properties: city, required: ["city"], additionalProperties: false }
const tool = { name: "weather", description: "The weather of a city", schema }
const tools = { tools: [tool] }
const json = { type: "json_schema", name: "city", schema } as const
const showing = (...parts: ReadonlyArray<ContentPart>): Partial<Request> => ({
  messages: [{ role: "user", content: [{ type: "text", text: "Look" }, ...parts] }]
})

const ofProvider = (id: string, name: string, args: Readonly<Record<string, unknown>> = {}): Partial<Request> => ({
  providerTools: [{ id, name, args }]
})

const cached = { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }

/** The request that has nothing but a question. */
export const plain: Request = { messages: [question], tools: [] }

const reply = (message: object = {}): Partial<Request> => ({
  messages: [question, { role: "assistant", content: "Rain", ...message }, question]
})
const toolWith = (metadata: object): Partial<Request> => ({ tools: [{ ...tool, metadata: { ...metadata } }] })
const png = { base64: "AA==", mediaType: "image/png" }
const url = "https://example.org/a.png"
const pdf = { type: "file", file: { base64: "JVBE" }, mediaType: "application/pdf", filename: "a.pdf" } as const
const chosen = /tool_?choice.{0,80}weather|allowedFunctionNames|tool_choice.{0,8}any/i
const ofTools = { base: tools }
const ofPlain = { base: showing() }
const ownOption = /u1|thinking|safe_prompt|own_option/i
const ownOptions = {
  responses: option("user", "u1"),
  chat: option("user", "u1"),
  anthropic: option("thinking", { type: "enabled", budgetTokens: 2_000 }),
  google: option("thinkingConfig", { thinkingBudget: 100 }),
  mistral: option("safePrompt", true),
  groq: option("user", "u1"),
  deepseek: option("thinking", { type: "disabled" }),
  compatible: option("own_option", 1)
}

/** Every feature of a request, in the order of the page. */
export const features: ReadonlyArray<Feature> = [
  feature("`temperature`", /temperature.{0,4}0\.5/, { temperature: 0.5 }),
  feature("`maxTokens`", /500/, { maxTokens: 500 }),
  feature("`topP`", /top_?p.{0,4}0\.5/i, option("topP", 0.5)),
  feature("`topK`", /top_?k.{0,4}5/i, option("topK", 5)),
  feature("`seed`", /seed.{0,4}7/i, option("seed", 7)),
  feature("`stopSequences`", /END/, option("stopSequences", ["END"])),
  feature("`presencePenalty`", /presence_?penalty.{0,4}0\.5/i, option("presencePenalty", 0.5)),
  feature("`frequencyPenalty`", /frequency_?penalty.{0,4}0\.5/i, option("frequencyPenalty", 0.5)),
  feature("`reasoning` (effort)", /effort|thinking/i, option("reasoning", "high")),
  feature("`headers`", /^\["1"/, option("headers", { "x-own": "1" })),
  feature("instructions", /Be brief/, { messages: [{ role: "system", content: "Be brief" }, question] }),
  feature("an image", /AA==/, showing({ type: "image", image: png }), ofPlain),
  feature("an image by URL", /example\.org/, showing({ type: "image", image: { url } }), ofPlain),
  feature("a PDF file", /JVBE/, showing(pdf), ofPlain),
  feature("tools", /The weather of a city/, tools),
  feature("`strict` of a tool", /strict.{0,4}true|VALIDATED/, toolWith({ strict: true }), ofTools),
  feature('`toolChoice: "none"`', /none/i, { ...tools, toolChoice: "none" }, ofTools),
  feature('`toolChoice: "required"`', /required|any/i, { ...tools, toolChoice: "required" }, ofTools),
  feature("`toolChoice: { name }`", chosen, { ...tools, toolChoice: { name: "weather" } }, ofTools),
  feature("`parallelToolCalls: false`", /parallel/i, { ...tools, ...option("parallelToolCalls", false) }, ofTools),
  feature("JSON", /json/i, { responseFormat: { type: "json_object" } }),
  feature("JSON of a schema", /city/, { responseFormat: json }),
  feature(
    "`strict` of a schema",
    /strict.{0,4}true/,
    { responseFormat: { ...json, strict: true } },
    { base: { responseFormat: { ...json, strict: false } }, always: ["anthropic", "google"] }
  ),
  feature("cache control of a message", /ephemeral/, { anthropic: { messages: [{ ...question, metadata: cached }] } }),
  feature("cache control of a reply", /ephemeral/, { anthropic: reply({ metadata: cached }) }, { base: reply() }),
  feature("cache control of a tool", /ephemeral/, { anthropic: toolWith(cached) }, ofTools),
  feature("an option of the provider", ownOption, ownOptions),
  feature("an option under its name", ownOption, under(ownOptions)),
  feature("web search", /web_search|google_?search|browser_search/i, {
    responses: ofProvider("openai.web_search", "web_search"),
    anthropic: ofProvider("anthropic.web_search_20250305", "web_search", { maxUses: 2 }),
    google: ofProvider("google.google_search", "google_search"),
    mistral: ofProvider("mistral.web_search", "web_search"),
    groq: ofProvider("groq.browser_search", "browser_search")
  }),
  feature("code execution", /code_interpreter|code_?execution/i, {
    responses: ofProvider("openai.code_interpreter", "code_interpreter"),
    anthropic: ofProvider("anthropic.code_execution_20250825", "code_execution"),
    google: ofProvider("google.code_execution", "code_execution")
  }),
  feature("file search", /file_?search/i, {
    responses: ofProvider("openai.file_search", "file_search", { vectorStoreIds: ["vs_1"] }),
    google: ofProvider("google.file_search", "file_search", { fileSearchStoreNames: ["fileSearchStores/s1"] })
  }),
  feature("computer use", /computer/, {
    responses: ofProvider("openai.computer", "computer"),
    anthropic: ofProvider("anthropic.computer_20250124", "computer", { displayWidthPx: 800, displayHeightPx: 600 })
  }),
  feature("a tool of another provider", /web_search/, ofProvider("elsewhere.web_search", "web_search"))
]

/** The request of a feature for a column; `undefined` where the provider has no such feature. */
export const requestFor = ({ request }: Feature, column: Column): Request | undefined => {
  const own = isByColumn(request) ? request[column] : request
  return own === undefined ? undefined : { ...plain, ...own }
}

const isByColumn = (request: Feature["request"]): request is Partial<Record<Column, Partial<Request>>> =>
  Object.keys(request).some((key) => key in packages)
