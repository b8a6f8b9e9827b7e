/** The errors of refused posts. */
import { HttpError } from "../errors/index.ts"
import type { Protocol } from "./Protocol.ts"
import type { Refusal } from "./reconcile.ts"

/** The error of a refusal, in the words of the protocol if it has its own. */
export const errorOf = <Body, Item>(refusal: Refusal, { refusal: own }: Protocol<Body, Item>): HttpError =>
  own?.(refusal) ?? commonError(refusal)

const commonError = ({ why }: Refusal): HttpError => {
  switch (why) {
    case "unknown_chat":
      return new HttpError("unknown_chat", "There is no such conversation; send a message to begin one")
    case "awaiting_approval":
      return new HttpError(
        "awaiting_approval",
        "Tool calls wait for a decision; send it before, or together with, the next message"
      )
    case "awaiting_tool_results":
      return new HttpError("awaiting_tool_results", "Give the results of the tool calls first")
    case "delivered":
      return new HttpError(
        "already_delivered",
        "This message was said, and stays as it was; say another thing in its place with its id as messageId, or regenerate its answer"
      )
    case "not_last":
      return new HttpError(
        "invalid_status_for_operation",
        "This is not the last question of the conversation; load it anew, or name the message whose answer is to be another"
      )
    case "inbox":
      return new HttpError("busy", "Messages wait for their answer; wait for it first")
    case "busy":
      return new HttpError("busy", "A turn runs in this conversation; wait for it")
    case "no_wait":
    case "not_waiting":
      return new HttpError(
        "invalid_status_for_operation",
        "The conversation waits for none of these answers, or no longer; load it anew"
      )
  }
}
