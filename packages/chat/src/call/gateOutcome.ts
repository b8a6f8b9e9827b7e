/** The outcomes of calls as a batch has them, those of calls that the gate stopped, and the changes that hooks make to an outcome. */
import { shortened, ToolError } from "../errors/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"
import type { ToolCall } from "../model/index.ts"
import { type Halted, type HookHalt, isDenial, type Refused } from "../gate/index.ts"
import { inEvent, withText } from "./resultContent.ts"
import { outcome, type ToolOutcome, endedEarly, toolFailure, toolOutcome } from "./toolOutcome.ts"
import { describe, original } from "../values/index.ts"
import type { Returned } from "../tool/index.ts"
import type { RunnableCall } from "./callEnv.ts"
import type { CallEnd } from "./callEvents.ts"

/** The outcome of a refused call. The model reads the reason of a `Denial` as it is; a plain reason gets a prefix. */
export const refusedOutcome = ({ toolCall, reason, denial }: Refused): ToolOutcome => {
  const content = shortened(denial === undefined ? `permission denied: ${reason}` : reason).toWellFormed()
  const metadata = denial === undefined ? {} : { code: denial.code, ...denial.metadata }
  const error = HandlerResult.error(
    new ToolError("denied", { message: reason, toolName: toolCall.name, toolCallId: toolCall.id, metadata })
  )
  const encoded = { type: "tool_result_encoded", id: toolCall.id, content } as const
  return outcome(toolCall, error, encoded, content, undefined, "denied")
}

/** The outcome of a call whose handler ended with the refusal of its own `setPermissionMode`. */
const deniedOutcome = (toolCall: ToolCall, refusal: unknown): ToolOutcome =>
  refusedOutcome({ type: "deny", toolCall, ...refusalIn(refusal) })

/** The refusal in an error: its reason for the model, and its `Denial` for programs, if any. */
export const refusalIn = (error: unknown): Pick<Refused, "reason" | "denial"> => {
  if (!(error instanceof ToolError)) return { reason: describe(error), denial: undefined }
  const { message: reason, metadata: said } = error
  const { code, ...metadata } = said
  const denial = { reason, code, metadata }
  return { reason, denial: isDenial(denial) ? denial : undefined }
}

/** What the model reads of a call at which a person or a hook ended the turn. */
export const haltedText = (reason: string): string =>
  shortened(`not run, because the turn was ended: ${reason}`).toWellFormed()

/**
 * The outcome of a call at which the gate ended the turn. The exception of a hook is in the halt and the cause; the model
 * reads only the reason.
 */
export const haltedOutcome = ({ toolCall, reason, message, cause }: Halted): ToolOutcome => {
  const content = haltedText(reason)
  const error = HandlerResult.error(
    new ToolError("denied", { message: content, toolName: toolCall.name, toolCallId: toolCall.id, cause })
  )
  const result = message ?? null
  return outcome(
    toolCall,
    error,
    { type: "tool_halt", toolCallId: toolCall.id, reason, result, content },
    content,
    { type: "halt", toolCallId: toolCall.id, reason, result },
    "denied"
  )
}

/** The result of a handler. */
export const resultOf = ({ events: [, completed] }: ToolOutcome): HandlerResult.HandlerResult | undefined =>
  completed.type === "tool_execution_completed" ? completed.result : undefined

/** The outcome with this text appended for the model. */
export const augmented = (ended: ToolOutcome, text: string): ToolOutcome => {
  const [started, completed, last] = ended.events
  const content = withText(ended.message.content, text)
  const said =
    last.type === "tool_result_encoded" || last.type === "tool_halt" ? { ...last, ...inEvent(content) } : last
  return { ...ended, events: [started, completed, said], message: { ...ended.message, content } }
}

/** The outcome with a halt of a hook, unless the call has a halt of its own. */
export const haltedAfter = (ended: ToolOutcome, { reason, message }: HookHalt): ToolOutcome => {
  if (ended.halt !== undefined) return ended
  const [started, completed] = ended.events
  const { toolCall } = ended
  const result = message ?? valueOf(resultOf(ended))
  const halt = { toolCallId: toolCall.id, reason, result }
  return {
    ...ended,
    events: [started, completed, { type: "tool_halt", ...halt, ...inEvent(ended.message.content) }],
    halt: { type: "halt", ...halt }
  }
}

/** The outcome with the arguments of the call in its message's metadata: the thread has the arguments of the model. */
export const withArguments = (ended: ToolOutcome): ToolOutcome => ({
  ...ended,
  message: { ...ended.message, metadata: { ...ended.message.metadata, arguments: ended.toolCall.arguments } }
})

/** The outcome with metadata of the host for the stored result. */
export const withMetadata = (
  ended: ToolOutcome,
  metadata: Readonly<Record<string, unknown>> | undefined
): ToolOutcome => {
  if (metadata === undefined) return ended
  const { message } = ended
  return { ...ended, message: { ...message, metadata: { ...message.metadata, ...metadata } } }
}

/** The value that a handler returned, or the reason of its failure. */
const valueOf = (result: HandlerResult.HandlerResult | undefined): unknown => {
  switch (result?.type) {
    case "ok":
      return result.value
    case "error":
      return result.reason
    default:
      return null
  }
}

/** The texts for the model when a call missed a deadline. */
const mayTakeEffect = "it was told to stop, and may still take effect"
const neverBegan = "its arguments were still being checked, and it never started"
const tookTooLong = "it ended after that, and its result was discarded; it may have taken effect"

/** The text for the model when a call that writes was cancelled while its handler ran. */
const mayHaveTakenEffect = "the call was cancelled while it ran; it may have taken effect"

/** Why a handler cannot say whether its call took effect; `undefined` if it can. */
export const unknownIn = (result: Returned): string | undefined => {
  const reason = result.type === "error" ? result.reason : undefined
  return reason instanceof ToolError && reason.reason === "outcome_unknown" ? reason.message : undefined
}

/** The outcome of a call. A failure that the handler itself reports has the outcome `failed`, whatever the error (CALL5). */
export const outcomeOf = (
  { tool, toolCall, options }: Pick<RunnableCall, "tool" | "toolCall" | "options">,
  end: CallEnd
): ToolOutcome => {
  switch (end.type) {
    case "returned": {
      const result = original(end.result)
      if (end.refused === true && result.type === "error") return deniedOutcome(toolCall, result.reason)
      const isFailed = end.byHandler && result.type === "error" && unknownIn(result) === undefined
      return toolOutcome(toolCall, result, options, isFailed ? "failed" : undefined)
    }
    case "timed_out": {
      const effect = end.began ? (end.late ? tookTooLong : mayTakeEffect) : neverBegan
      return toolOutcome(toolCall, toolFailure(toolCall, "timeout", `${end.missed}; ${effect}`), options)
    }
    case "cancelled": {
      const wrote = tool.effect === "write" && end.began
      return endedEarly(toolCall, "cancelled", options, wrote ? mayHaveTakenEffect : undefined)
    }
    case "abandoned":
      return endedEarly(toolCall, "abandoned", options)
  }
}
