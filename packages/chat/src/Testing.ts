/**
 * What tests of chats need: suites that look whether an adapter, an executor or an encoder keeps the laws of its port.
 *
 * A suite is a list of laws, each a title and a check; any test runner can run them. Whole chats are tested with the
 * scripted adapter (`Fake`) on a clock that stands still (`Clock.test` of `@troupe/otp`): tools, timeouts and cancels
 * then take no time, and come in the same order each time.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Testing, ToolExecutor } from "@troupe/chat"
 *
 * const broken: Array<string> = []
 * for (const { title, check } of Testing.executorLaws(() => ToolExecutor.inProcess)) {
 *   await check().catch(() => broken.push(title))
 * }
 * broken // => []
 * ```
 *
 * @module
 * @source ALLM, the conformance suites of its adapters
 */
export { adapterLaws } from "./internal/adapterSuite.ts"
export type { AdapterSituation, AdapterSituations } from "./internal/adapterSuite.ts"
export { encoderLaws } from "./internal/encoderSuite.ts"
export { executorLaws } from "./internal/executorSuite.ts"
export type { Law } from "./internal/law.ts"
