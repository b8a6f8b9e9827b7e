/** The options of chats and engines, their defaults and the spans of a run. */
export type { CallTimeout, OnLateResult, OnToolError } from "./callPolicy.ts"
export type { Budget, ChatOptions, GenerateOptions, HaltOrder, Schedule, StepOptions } from "./ChatOptions.ts"
export { EngineOptions, resolveModel } from "./Engine.ts"
export { chatOptionNames, providerAdvice, toolsFindings } from "./optionChecks.ts"
export { resolveOptions } from "./resolveOptions.ts"
export type { RunOptions } from "./resolveOptions.ts"
export type { TracedRequest } from "./spans.ts"
export type { Tracing } from "./Tracing.ts"
