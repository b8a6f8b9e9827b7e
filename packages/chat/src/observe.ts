/**
 * Processes, turns and zombies as plain data.
 *
 * @module
 */
export * as Zombies from "./call/Zombies.ts"
export * as Observation from "./observe/Observation.ts"
