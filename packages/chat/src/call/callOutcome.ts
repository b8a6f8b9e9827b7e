/** The outcome of a call whose chart has ended. */
import { ToolError } from "../errors/index.ts"
import type { Returned } from "../tool/index.ts"
import { original } from "../values/index.ts"
import type { RunnableCall } from "./callEnv.ts"
import { deniedOutcome } from "./gateOutcome.ts"
import type { CallEnd } from "./callEvents.ts"
import { endedEarly, toolFailure, type ToolOutcome, toolOutcome } from "./toolOutcome.ts"

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
