/** One model request: how it is built, sent, retried, bounded and read as a stream of events. */
export { adapterStreamMachine } from "./AdapterStreamMachine.ts"
export { requestOf } from "./buildRequest.ts"
export { adapterIn, preflight, preflightRequest } from "./preflight.ts"
export type { AdapterStreamInput, AdapterStreamOutput } from "./streamContext.ts"
