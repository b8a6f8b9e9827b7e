/** How many chats are in memory, and how long: the unloading of idle chats, and the bounds of loaded ones. */
export { Passivation, RestWatch } from "./passivation.ts"
export { StartSlots } from "./startSlots.ts"
