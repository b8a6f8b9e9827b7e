/**
 * The same Troupe on many machines.
 *
 * @module
 */
export type { Lease, Placement, PlacementListener } from "./placement/index.ts"
