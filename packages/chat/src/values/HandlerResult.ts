/**
 * The four outcomes a tool handler can have.
 *
 * @module
 * @source ALLM.ToolExecutor, "Handler result shapes"
 */
import * as z from "zod"
import { anything, openRecord } from "./openSchema.ts"

/** Options of a question to the user, for the user interface (choices, defaults, hints). */
export const QuestionOptions = openRecord
export type QuestionOptions = z.infer<typeof QuestionOptions>

/** The tool succeeded with `value`. */
export const Ok = z.lazy(() => z.object({ type: z.literal("ok"), value: anything }).readonly())
export type Ok = z.infer<typeof Ok>

/** The tool reports a failure; `reason` may be any value, a string is shown to the model unchanged. */
export const Failed = z.lazy(() => z.object({ type: z.literal("error"), reason: anything }).readonly())
export type Failed = z.infer<typeof Failed>

/** The tool suspends the loop with a question to the user. */
export const AskUser = z.lazy(() =>
  z.object({ type: z.literal("ask_user"), question: z.string(), options: QuestionOptions }).readonly()
)
export type AskUser = z.infer<typeof AskUser>

/** The tool ends the loop; `reason` becomes the chat's `haltedReason`, `result` the tool's result. */
export const Halt = z.lazy(() => z.object({ type: z.literal("halt"), reason: z.string(), result: anything }).readonly())
export type Halt = z.infer<typeof Halt>

/** The return value of a handler. */
export const HandlerResult = z.discriminatedUnion("type", [Ok, Failed, AskUser, Halt])
export type HandlerResult = z.infer<typeof HandlerResult>

/** Handler results carry this brand, so that a tool's own value `{ type: "ok" }` is not mistaken for one. */
const made = new WeakSet<object>()

const brand = <R extends HandlerResult>(result: R): R => {
  made.add(result)
  return result
}

/** Success. */
export const ok = (value: unknown): Ok => brand({ type: "ok", value })

/** A reported failure, through the error policy; not a crash. */
export const error = (reason: unknown): Failed => brand({ type: "error", reason })

/** A question to the user: the loop suspends, the next user message answers it. */
export const askUser = (question: string, options: QuestionOptions = {}): AskUser =>
  brand({ type: "ask_user", question, options })

/**
 * Ends the loop after its running siblings are done.
 *
 * **Gotchas**: the loop's own reasons ({@link reservedHaltReasons}) are refused: such a return is an `invalid_return`
 * tool error.
 */
export const halt = (reason: string, result: unknown = null): Halt => brand({ type: "halt", reason, result })

/** Whether {@link ok}, {@link error}, {@link askUser} or {@link halt} made the value, with fields of the right type. */
export const isHandlerResult = (value: unknown): value is HandlerResult => {
  if (typeof value !== "object" || value === null || !made.has(value)) return false
  const result = value as HandlerResult
  if (result.type === "ask_user") return typeof result.question === "string" && isRecord(result.options)
  return result.type !== "halt" || typeof result.reason === "string"
}

/** Whether a value was made by one of the constructors, whatever its fields. */
export const isBranded = (value: unknown): boolean => typeof value === "object" && value !== null && made.has(value)

/** The halt reasons that belong to the loop; a handler must not use them. */
export const reservedHaltReasons: ReadonlySet<string> = new Set([
  "ask_user",
  "max_turns",
  "halt_when",
  "tool_error",
  "cancelled",
  "completed",
  "error",
  "manual_tool_calls",
  "awaiting_approval",
  "budget_tokens",
  "budget_cost",
  "budget_time",
  "max_chain_requests",
  "max_tree_requests",
  "consecutive_mistakes",
  "no_progress",
  "hook_crashed",
  "expired",
  ""
])

const isRecord = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value)
