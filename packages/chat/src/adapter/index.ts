/** The port to a model: adapters, retries and fallbacks. */
export type { Adapter, AdapterOptions } from "./Adapter.ts"
export type { Answerer, Fallback } from "./Fallback.ts"
export { isSeveral } from "./adapterStream.ts"
export type { AdapterStream, Yielded } from "./adapterStream.ts"
export { prices } from "./prices.ts"
export type { Cost, PricedBy, Prices } from "./prices.ts"
export { RetryOptions } from "./retryPolicy.ts"
export type { RetryNotice } from "./retryPolicy.ts"
