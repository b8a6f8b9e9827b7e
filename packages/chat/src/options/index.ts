/** The options of chats and engines, their defaults and the spans of a run. */
export type {
  Asking,
  Budget,
  ChatOptions,
  GenerateOptions,
  HaltOrder,
  Schedule,
  StepOptions,
  TurnOptions
} from "./ChatOptions.ts"
export { askedFormat, asking, continuing, formatOf, inForm, isJson } from "./answerFormat.ts"
export type { CallTimeout, LateResult, OnToolError } from "./callPolicy.ts"
export { resolveModel, declaredTools } from "./deferredTools.ts"
export { EngineOptions } from "./engineOptions.ts"
export type { Attributes, Metric } from "./genAi.ts"
export { chatOptionNames, chatOptionTypes, providerAdvice, toolsFindings, withTurnOptions } from "./optionChecks.ts"
export { presentTools, withCurrentTools, fixedOptions, optionsOfRun, resolveOptions } from "./resolveOptions.ts"
export type { FamilySpending, FixedOptions, RunOptions } from "./resolveOptions.ts"
export type { TracedRequest } from "./spans.ts"
export type { SamplingTracer, Tracing } from "./traceOptions.ts"
