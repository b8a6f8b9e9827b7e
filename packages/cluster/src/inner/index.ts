/** The wire between nodes: signed requests, their deadlines, and the listener. */
export { InnerClient } from "./InnerClient.ts"
export type { Tls } from "./InnerClient.ts"
export { listenInner } from "./InnerListener.ts"
export type { Accepted } from "./InnerListener.ts"
export { machineTime } from "./machineTime.ts"
export { misdirected } from "./marks.ts"
export { SignatureCheck } from "./signature.ts"
