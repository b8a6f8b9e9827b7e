/** The part of a node that forwards requests to their home. */
export { Forwarder } from "./Forwarder.ts"
export { begunHeader, movedHeader } from "./forwardedRequest.ts"
export type { ForwardedBy, ForwardedRequest, Splice } from "./forwardedRequest.ts"
export { MountedServers } from "./mountedServers.ts"
export { NodeList } from "./NodeList.ts"
export { noteOf, noteText } from "./note.ts"
export { httpErrorOf } from "./refusal.ts"
