/** What a provider wants to see again, carried through our `metadata` fields. */
import type { JSONObject } from "@ai-sdk/provider"

/** Provider data by provider name, as the AI SDK shapes it on both ways. */
export type ProviderData = Record<string, JSONObject>

/** Our metadata for what a provider said about a part; nothing when it said nothing. */
export const carried = (data: ProviderData | undefined): { readonly metadata?: { providerMetadata: ProviderData } } =>
  data === undefined || Object.keys(data).length === 0 ? {} : { metadata: { providerMetadata: data } }

/**
 * What to hand to the provider with a part: what it said about the part itself, overlaid by what the user wrote as
 * `metadata.providerOptions`.
 */
export const handedBack = (
  metadata: Readonly<Record<string, unknown>> | undefined
): { providerOptions?: ProviderData } => {
  if (metadata === undefined) return {}
  const data = merged(providerData(metadata["providerMetadata"]), providerData(metadata["providerOptions"]))
  return data === undefined ? {} : { providerOptions: data }
}

/** Both, provider by provider; the second wins. */
export const merged = (first: ProviderData | undefined, second: ProviderData | undefined): ProviderData | undefined => {
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
