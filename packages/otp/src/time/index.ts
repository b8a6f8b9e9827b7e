/** Clocks, timers, macrotasks and seeded random numbers. */
export { live } from "./Clock.ts"
export type { Clock } from "./Clock.ts"
export { afterTurn } from "./afterTurn.ts"
export { chancesOf, uuidBy } from "./seededRandom.ts"
export type { Chances } from "./seededRandom.ts"
export { macrotask } from "./timerQueue.ts"
