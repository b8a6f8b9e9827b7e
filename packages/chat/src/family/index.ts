/** A chat and the chats below it, as one family: what they spend together, and their limits. */
export { memberId } from "./familyChat.ts"
export type { FamilyChat, WorkProcess } from "./familyChat.ts"
export { Spending } from "./spending.ts"
export type { Account } from "./spending.ts"
export { TreeLimits } from "./treeLimits.ts"
export type { TreeBounds } from "./treeLimits.ts"
export { cycleText, WaitGraph } from "./waitGraph.ts"
