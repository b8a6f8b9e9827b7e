export type { Lease, Placement, PlacementListener } from "./Placement.ts"
