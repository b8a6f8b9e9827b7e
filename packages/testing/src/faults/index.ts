/** Injected faults: which call, save or stream fails, and when. */
export type { FaultOptions } from "./faultPlan.ts"
export { Injector } from "./faults.ts"
export type { Faults } from "./faults.ts"
