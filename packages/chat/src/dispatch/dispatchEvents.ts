/**
 * Tells the listener of a dispatcher what its calls come to.
 *
 * EMIT1. A listener's fault is its own: it neither fails the call nor ends the batch, and nobody waits for what it returns.
 */
import type { ToolCall, ToolMessage } from "../model/index.ts"
import { isPromiseLike } from "../async/index.ts"
import type { DispatchEvent, DispatchState, ToolResult, ToolResultsMessage } from "./dispatchState.ts"

/** Tells of the first result, and of what there is to show. */
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

/** Tells of one event (EMIT1). */
export const emit = ({ onEvent }: DispatchState, event: DispatchEvent): void => {
  try {
    const answer = onEvent?.(event)
    if (isPromiseLike(answer)) Promise.resolve(answer).catch(() => undefined)
  } catch {
    // EMIT1.
  }
}

const isShown = (ui: unknown): ui is { readonly kind: string; readonly payload: unknown } =>
  typeof ui === "object" && ui !== null && "kind" in ui && "payload" in ui

const resultsOf = (message: ToolMessage | ToolResultsMessage): ReadonlyArray<ToolResult> => {
  if (!("toolCallId" in message)) return message.toolResults ?? []
  const { toolCallId, content, outcome } = message
  return [{ toolCallId, content, isError: outcome !== undefined && outcome !== "completed" }]
}
