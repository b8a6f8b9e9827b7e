/** Access control: owners, their limits, permissions, origins and ids of chats. */
export { check, checkDecision, checkName, permittedOf, withAgent } from "./authorization.ts"
export type { May, Permitted } from "./authorization.ts"
export { checkOrigin, open, preflight } from "./origins.ts"
export { Owners } from "./ownerLimits.ts"
export { allShown, withoutToolErrors } from "./toolErrors.ts"
export type { Shown } from "./toolErrors.ts"
export { usageElsewhere, usageHere } from "./usage.ts"
export type { Usage } from "./usage.ts"
