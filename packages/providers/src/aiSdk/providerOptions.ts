/**
 * The data of providers, by provider name: the options of a request, and the metadata of parts, which is sent back in our
 * `metadata` fields.
 *
 * **Details**: an option is a provider's when its name is that of a provider and its value is an object. Every other option
 * is for the model's own provider. Objects under the names of other providers are passed on as they are: gateways and
 * clouds read several.
 *
 * CACHE1. With `cacheBreakpoints`, the last system message and the last two messages have these options: they mark the instructions with the
 *         tools, and the prompt up to where the next request goes on. Options that the program gave a message stay.
 * UNREAD1. Options under the name of a provider that the package of the model does not read are a warning of the response.
 */
import type { JSONObject, LanguageModelV4Prompt, SharedV4Warning } from "@ai-sdk/provider"
import { AdapterError } from "@troupe/chat/errors"

/** The names that the AI SDK's packages, and the best-known others, read their options under. */
const providerNames: ReadonlySet<string> = new Set(
  `alibaba amazonBedrock anthropic azure baseten bedrock cerebras cohere deepinfra deepseek fireworks gateway gmicloud google
   googleVertex groq huggingface minimax mistral moonshotai ollama openai openaiCompatible openrouter perplexity togetherai
   vercel vertex xai`.split(/\s+/)
)

/** Providers whose package reads its options under names other than the first word of the model's provider. */
const otherNames: ReadonlyArray<readonly [RegExp, ReadonlyArray<string>]> = [
  [/^azure/, ["azure", "openai"]],
  [/^amazon-bedrock/, ["bedrock", "amazonBedrock"]],
  [/^(?:google\.)?vertex\.anthropic\b|^googleVertex\.anthropic\b|^bedrock\.anthropic\b/, ["anthropic"]],
  [/^google\.vertex\b/, ["vertex", "googleVertex"]]
]

/** The names under which the package of a model's provider reads its options. */
export const optionNames = (provider: string): ReadonlyArray<string> => {
  const others = otherNames.find(([pattern]) => pattern.test(provider))?.[1]
  if (others !== undefined) return others
  const first = provider.split(".")[0] ?? provider
  const camelCase = first.replaceAll(/[-_]([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return first === camelCase ? [first] : [first, camelCase]
}

/** The names of the model's provider, and further names of providers. */
export interface OptionNames {
  readonly own: ReadonlyArray<string>
  readonly others?: ReadonlyArray<string> | undefined
}

/** The options by provider. The model's own provider gets its own and the flat ones, under each of its names. */
export const providerOptionsOf = (
  options: Readonly<Record<string, unknown>>,
  names: OptionNames,
  implied: JSONObject
): ProviderData | undefined => {
  const own: Record<string, unknown> = {}
  const flat: Record<string, unknown> = {}
  const others: Record<string, JSONObject> = {}
  for (const [name, value] of Object.entries(options)) {
    if (names.own.includes(name) && isObject(value)) Object.assign(own, value)
    else if (isProvider(name, names) && isObject(value)) others[name] = value
    else if (value !== undefined) flat[name] = value
  }
  const mine = { ...implied, ...parallel(flat, names.own[0] ?? ""), ...own } as JSONObject
  const all: ProviderData = { ...others }
  if (Object.keys(mine).length > 0) for (const name of names.own) all[name] = mine
  return Object.keys(all).length === 0 ? undefined : all
}

/** The providers whose packages pass on, or read, options under names of other providers. */
const readsSeveral = /^(?:amazon-bedrock|azure|bedrock|gateway|google(?:\.v|V)ertex|openrouter|vercel|vertex)\b/

/** Warnings about options under names of providers that the package of the model does not read (UNREAD1). */
export const unreadOptions = (
  given: Readonly<Record<string, unknown>>,
  { own, others = [] }: OptionNames,
  provider: string
): ReadonlyArray<SharedV4Warning> => {
  if (readsSeveral.test(provider)) return []
  const read = new Set([...own, ...others, "openaiCompatible"])
  return Object.entries(given).flatMap(([name, value]) =>
    providerNames.has(name) && !read.has(name) && isObject(value)
      ? [
          {
            type: "other" as const,
            message: `The options under \`${name}\` are not sent: the package of ${provider} reads those under ${own.map((one) => `\`${one}\``).join(" and ")}`
          }
        ]
      : []
  )
}

const isProvider = (name: string, { others = [] }: OptionNames): boolean =>
  providerNames.has(name) || others.includes(name)

/** Packages that have the option `parallelToolCalls`. */
const camel: ReadonlySet<string> = new Set(["azure", "openai", "mistral", "groq"])

/** Packages that have no option for it. */
const without: ReadonlySet<string> = new Set(
  "alibaba bedrock cohere deepseek gateway google huggingface moonshotai perplexity vertex".split(" ")
)

/** Writes `parallelToolCalls` as the provider's package has it. */
const parallel = (flat: Readonly<Record<string, unknown>>, provider: string): Readonly<Record<string, unknown>> => {
  const { parallelToolCalls: value, ...rest } = flat
  if (typeof value !== "boolean" || camel.has(provider)) return flat
  if (provider === "anthropic") return { ...rest, disableParallelToolUse: !value }
  if (provider === "xai") return { ...rest, parallel_function_calling: value }
  if (without.has(provider)) {
    throw unsupported("parallelToolCalls", `the package of ${provider} has no option for it; leave it out`)
  }
  return { ...rest, parallel_tool_calls: value }
}

/** The error for a feature that a model's package cannot send. */
export const unsupported = (feature: string, why: string): AdapterError =>
  new AdapterError("unsupported_feature", { message: `${feature} cannot be sent: ${why}`, metadata: { feature } })

const isObject = (value: unknown): value is JSONObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Provider data by provider name, as the AI SDK shapes it on both ways. */
export type ProviderData = Record<string, JSONObject>

/** Our metadata for the provider's metadata of a part; empty when there is none. */
export const carried = (data: ProviderData | undefined): { readonly metadata?: { providerMetadata: ProviderData } } =>
  data === undefined || Object.keys(data).length === 0 ? {} : { metadata: { providerMetadata: data } }

/**
 * The provider options of a part: the provider's own metadata of the part, overridden by the user's
 * `metadata.providerOptions`.
 */
export const handedBack = (
  metadata: Readonly<Record<string, unknown>> | undefined
): { providerOptions?: ProviderData } => {
  if (metadata === undefined) return {}
  const data = merged(providerData(metadata["providerMetadata"]), providerData(metadata["providerOptions"]))
  return data === undefined ? {} : { providerOptions: data }
}

/** The user's own `metadata.providerOptions`. */
export const givenOptions = (
  metadata: Readonly<Record<string, unknown>> | undefined
): { providerOptions?: ProviderData } => {
  const data = providerData(metadata?.["providerOptions"])
  return data === undefined ? {} : { providerOptions: data }
}

/** Merges both by provider; the second wins. */
const merged = (first: ProviderData | undefined, second: ProviderData | undefined): ProviderData | undefined => {
  if (first === undefined || second === undefined) return second ?? first
  const both: ProviderData = { ...first }
  for (const [provider, data] of Object.entries(second)) both[provider] = { ...both[provider], ...data }
  return both
}

const providerData = (value: unknown): ProviderData | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  const objects = Object.entries(value).filter(([, data]) => typeof data === "object" && data !== null)
  return objects.length === 0 ? undefined : Object.fromEntries<JSONObject>(objects)
}

/** The prompt with these provider options at its marks (CACHE1). */
export const withBreakpoints = (
  prompt: LanguageModelV4Prompt,
  mark: Readonly<Record<string, object>> | undefined
): LanguageModelV4Prompt => {
  if (mark === undefined) return prompt
  const system = prompt.findLastIndex(({ role }) => role === "system")
  return prompt.map((message, at) => {
    if (at !== system && at < prompt.length - 2) return message
    const own = message.providerOptions ?? {}
    const names = Object.keys({ ...mark, ...own })
    const providerOptions = Object.fromEntries(names.map((name) => [name, { ...mark[name], ...own[name] }]))
    return { ...message, providerOptions }
  })
}
