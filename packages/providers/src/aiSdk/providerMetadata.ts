/** Carries provider metadata through our `metadata` fields, to send it back to the provider. */
import type { JSONObject } from "@ai-sdk/provider"

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
