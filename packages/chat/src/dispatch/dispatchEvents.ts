/**
 * Notifies the listener of a dispatcher about its calls.
 *
 * EMIT1. The call and the batch go on after an exception or a rejection of a listener, which the log gets. A returned promise is not
 *        awaited.
 */
import type { ToolCall, ToolMessage } from "../model/index.ts"
import { callUnawaited } from "../async/index.ts"
import type { DispatchEvent, DispatchState, ToolResult, ToolResultsMessage } from "./dispatchState.ts"

/** Emits `tool_result` for the first result, and `tool_ui` for each result with `ui`. */
export const emitResults = (
  state: DispatchState,
  toolCall: ToolCall,
  message: ToolMessage | ToolResultsMessage
): void => {
  const results = resultsOf(message)
  const first = results[0]
  if (first === undefined) return
  const { toolCallId: id = toolCall.id, content, isError = false } = first
  emit(state, { type: "tool_result", toolCallId: id, content, isError })
  for (const { toolCallId = toolCall.id, ui } of results) {
    if (isShown(ui)) emit(state, { type: "tool_ui", toolCallId, kind: ui.kind, payload: ui.payload })
  }
}

/** Calls the listener with one event (EMIT1). */
export const emit = ({ onEvent }: DispatchState, event: DispatchEvent): void => {
  if (onEvent !== undefined) callUnawaited(undefined, "onEvent of a dispatcher failed", () => onEvent(event))
}

const isShown = (ui: unknown): ui is { readonly kind: string; readonly payload: unknown } =>
  typeof ui === "object" && ui !== null && "kind" in ui && "payload" in ui

const resultsOf = (message: ToolMessage | ToolResultsMessage): ReadonlyArray<ToolResult> => {
  if (!("toolCallId" in message)) return message.toolResults ?? []
  const { toolCallId, content, outcome } = message
  return [{ toolCallId, content, isError: outcome !== undefined && outcome !== "completed" }]
}
