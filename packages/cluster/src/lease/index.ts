export { leasedPlacement } from "./leasedPlacement.ts"
export type { Leases } from "./leases.ts"
export type { Acquired, LeaseTable, Member } from "./leaseTable.ts"
