/**
 * The Fake adapter, the laws of ports, faults and replay.
 *
 * @module
 */
export * as Testing from "./testing/Testing.ts"
