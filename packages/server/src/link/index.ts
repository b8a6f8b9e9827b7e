/** The interface to a chat that user interfaces share, local or behind a server. */
export { checkedId, checkedOwner, ownedId } from "./chatId.ts"
export type { ChatId } from "./chatId.ts"
export type { ChatLink, LinkState, LinkStatus, NodeStatus, ObserverLink, TroupeLink, Watched } from "./ChatLink.ts"
export { pathPart } from "./pathPart.ts"
export { eventsOf, FollowedEvents, whenHeldUp } from "./heldUp.ts"
export { taken } from "./inputAccepted.ts"
export { Listeners } from "./listeners.ts"
export { WeakCache } from "./weakCache.ts"
