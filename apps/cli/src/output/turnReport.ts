/**
 * Shows one turn as it runs.
 *
 * @module
 */
import type { ChatResult } from "@troupe/chat/chats"
import { describe, SessionError } from "@troupe/chat/errors"
import type { Event } from "@troupe/chat/events"
import { Usage } from "@troupe/chat/messages"
import { ChildReport } from "./childReport.ts"
import type { Display } from "./display.ts"
import type { Paint } from "./paint.ts"
import { duration, finishedLine, visible } from "./toolLines.ts"

/** The environment of a turn's report. */
export interface TurnSurroundings {
  readonly display: Display
  readonly paint: Paint
  /** How long a call has been running, in milliseconds, if known. */
  readonly elapsedMs: (toolCallId: string) => number | undefined
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
}

/** How a turn ended: complete, with a question to the user, cancelled, or failed; or refused, because there is nothing to retry. */
export type TurnEnd = "completed" | "question" | "cancelled" | "failed" | "refused"

/** Shows a turn to its end, also one that fails: this never rejects. */
export const reportTurn = async (
  turn: AsyncIterable<Event>,
  { display, paint, elapsedMs, now }: TurnSurroundings
): Promise<TurnEnd> => {
  const startedAt = now()
  let result: ChatResult | undefined
  let called: Extract<Event, { type: "tool_execution_started" }> | undefined
  let streamed = false
  const shown = new Set<unknown>()
  const children = new ChildReport(display, paint)
  const fail = (error: unknown): void => {
    if (!shown.has(error)) display.line(`${paint.bad("✖")} ${visible(explain(error))}`)
    shown.add(error)
  }
  const finished = (id: string, content: string): void => {
    const call = { name: called?.name ?? id, arguments: called?.arguments ?? {}, content, elapsedMs: elapsedMs(id) }
    display.line(finishedLine(call, paint))
  }
  try {
    for await (const event of turn) {
      switch (event.type) {
        case "text_delta":
          streamed = true
          display.text(visible(event.delta))
          break
        case "request_delayed":
          display.line(paint.warn(`… waits ${duration(event.waitMs)} and asks again: ${event.reason}`))
          break
        case "message_completed":
          if (streamed) display.text("\n")
          streamed = false
          break
        case "tool_execution_started":
          called = event
          break
        case "tool_result_encoded":
          finished(event.id, event.content)
          break
        case "tool_halt":
          finished(event.toolCallId, event.content)
          break
        case "ask_user_requested":
          display.line(`${paint.accent("?")} ${paint.strong(visible(event.question))}`)
          break
        case "child_event":
          children.show(event)
          break
        case "error":
          fail(event.error)
          break
        case "chat_completed":
          result = event.result
          break
        default:
      }
    }
  } catch (error) {
    fail(error)
    return error instanceof SessionError && error.reason === "nothing_to_retry" ? "refused" : "failed"
  }
  if (result === undefined) return "failed"
  const end = endOf(result)
  if (end === "failed") fail(failureOf(result))
  if (end === "cancelled") display.line(paint.warn("■ cancelled; the chat goes on"))
  display.line(paint.quiet(footer(result, now() - startedAt)))
  return end
}

const explain = (error: unknown): string => {
  if (!(error instanceof SessionError)) return describe(error)
  return error.reason === "chat_died"
    ? "the chat died in the middle of a turn; /retry goes on from its last step"
    : error.message
}

const endOf = (result: ChatResult): TurnEnd => {
  switch (result.haltedReason) {
    case "ask_user":
    case "awaiting_approval":
      return "question"
    case "cancelled":
      return "cancelled"
    case "error":
    case "tool_error":
    case "max_turns":
    case "max_chain_requests":
    case "max_tree_requests":
    case "consecutive_mistakes":
    case "no_progress":
      return "failed"
    default:
      return "completed"
  }
}

const failureOf = ({ haltedReason, metadata }: ChatResult): unknown => {
  switch (haltedReason) {
    case "max_turns":
      return `The model was asked ${String(metadata["maxTurns"])} times and still wanted more; /retry lets it go on`
    case "max_tree_requests":
      return `The chat and its sub-agents sent ${String(metadata["maxTreeRequests"])} requests; say something to go on`
    case "max_chain_requests":
      return "The ends of background tasks began too many turns; say something to go on"
    case "consecutive_mistakes":
      return `All tool calls of ${String(metadata["mistakes"])} replies in a row failed; say what to do instead`
    case "no_progress":
      return `${String(metadata["unproductive"])} replies in a row changed nothing; say what to do instead`
    default:
      return metadata["error"]
  }
}

/** The usage of a turn: requests, reported tokens, time. */
const footer = (result: ChatResult, elapsedMs: number): string => {
  const usage = result.steps.reduce((sum, step) => Usage.add(sum, step.response.usage), Usage.empty)
  const tokens =
    usage.inputTokens === undefined && usage.outputTokens === undefined
      ? []
      : [`${usage.inputTokens ?? "?"} tokens in, ${usage.outputTokens ?? "?"} out`]
  // The step of a turn that goes on after a decision repeats the reply with the calls, and no request.
  const count = result.steps.filter(({ response }) => response.metadata["resumed"] !== true).length
  const requests = `${count} model request${count === 1 ? "" : "s"}`
  return `  ${[requests, ...tokens, duration(elapsedMs)].join(" · ")}`
}
