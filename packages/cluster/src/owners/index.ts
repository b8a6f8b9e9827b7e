/** The limits of owners, counted once in a cluster. */
export { OwnerCounts } from "./OwnerCounts.ts"
export type { OwnerAsk } from "./OwnerCounts.ts"
export { OwnerGrants } from "./OwnerGrants.ts"
export type { Seat } from "./OwnerGrants.ts"
