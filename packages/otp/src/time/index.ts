/** Clocks, timers, macrotasks and seeded random numbers. */
export { afterTurn } from "./afterTurn.ts"
export { live } from "./Clock.ts"
export type { Clock } from "./Clock.ts"
export { macrotask } from "./macrotask.ts"
export { chancesOf, uuidBy } from "./seededRandom.ts"
export type { Chances } from "./seededRandom.ts"
