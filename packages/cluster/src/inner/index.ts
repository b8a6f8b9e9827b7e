/** The wire between nodes: signed requests, their deadlines, and the listener. */
export { InnerClient } from "./InnerClient.ts"
export type { InnerRequest, Tls } from "./InnerClient.ts"
export { listenInner } from "./InnerListener.ts"
export type { Accepted, InnerListening } from "./InnerListener.ts"
export { misdirected } from "./marks.ts"
export { SignatureCheck } from "./signature.ts"
