/**
 * Processes, turns and zombies as plain data, and traces.
 *
 * @module
 */
export * as Zombies from "./call/Zombies.ts"
export * as Observation from "./observe/Observation.ts"
export { Tracing } from "./observe/Tracing.ts"
