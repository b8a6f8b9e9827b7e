/**
 * Tool calls without a chat: one batch over plain state.
 *
 * @module
 */
export * as Dispatch from "./batch/Dispatch.ts"
