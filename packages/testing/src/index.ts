/**
 * Test suites for adapters, encoders, executors and stores; injected faults; traces and replays.
 *
 * @module
 */
export * as Testing from "./Testing.ts"
