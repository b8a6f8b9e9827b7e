/**
 * The Fake adapter, the laws of ports, faults and replay.
 *
 * @module
 */
export * as Fake from "./testing/Fake.ts"
export * as Testing from "./testing/Testing.ts"
