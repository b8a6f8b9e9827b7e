/**
 * Tools: definitions, results, executors, permissions and hooks.
 *
 * @module
 */
export { runToolCalls, streamToolCalls } from "./session/ToolRunner.ts"
export type { HookAnswer, Hooks } from "./gate/Hooks.ts"
export * as Permissions from "./gate/Permissions.ts"
export { Decision, PendingApproval } from "./record/Approval.ts"
export { toolOptions as checkToolOptions } from "./model/Validate.ts"
export { jsonSchema } from "./tool/jsonSchema.ts"
export * as Tool from "./tool/Tool.ts"
export * as ToolExecutor from "./tool/ToolExecutor.ts"
export * as ToolResultEncoder from "./values/ToolResultEncoder.ts"
