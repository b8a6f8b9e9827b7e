/** Injected faults: which call, save or stream fails, and when. */
export type { Fault, FaultOptions, FaultPlan, FaultRates, FaultTarget, PlannedFault } from "./faultPlan.ts"
export { InjectedError, Injector } from "./faults.ts"
export type { Faults, InjectedFault } from "./faults.ts"
