/** One model request: builds it, sends it, retries it, bounds it and reads it as a stream of events. */
export { adapterStreamMachine, streamActors, streamEffects } from "./AdapterStreamMachine.ts"
export { adapterIn, preflight, preflightRequest, requestOf } from "./buildRequest.ts"
export type { RequestEnv, RunnableRequest } from "./requestEnv.ts"
export type { AdapterStreamOutput, ReadReply } from "./streamContext.ts"
