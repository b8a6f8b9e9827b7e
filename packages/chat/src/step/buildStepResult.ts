/** Builds a step's result from the data of its phases. */
import type { Mode, PendingApproval, StepHalt, StepResult } from "../record/index.ts"
import {
  type AssistantMessage,
  type AssistantPart,
  goesOn,
  parts as partsOf,
  type Response,
  type ToolCall,
  type ToolMessage,
  type Usage
} from "../model/index.ts"
import type { ChatBlobs } from "../blob/index.ts"
import * as Thread from "../model/Thread.ts"
import type { Opened } from "./openCalls.ts"
import type { ToolOutcome } from "../call/index.ts"

/** The data at the beginning of a step's last phase. */
export interface StepParts {
  readonly thread: Thread.Thread
  readonly response: Response
  readonly mode: "auto" | "manual"
  readonly outcomes: ReadonlyArray<ToolOutcome>
  readonly manualToolCalls: ReadonlyArray<ToolCall>
  readonly halt: StepHalt | undefined
  readonly error: unknown
  /** The blobs of the chat, if its store keeps blobs. */
  readonly blobs?: ChatBlobs | undefined
  /** The permission mode, if the calls changed it. */
  readonly permissionMode?: Mode | undefined
  /** The usage of the sub-agents whose calls ended, if any. */
  readonly childUsage?: Usage | undefined
  /** The calls that wait for a decision, if any. */
  readonly pendingApprovals?: ReadonlyArray<PendingApproval> | undefined
  /** The open step that gets the results, if the step continues one. */
  readonly resumed?: Opened | undefined
  /** The metadata of the host for the thread, if any. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** One list for all steps without calls: a chat at rest holds the last step. */
const noResults: ReadonlyArray<ToolMessage> = Object.freeze([])

/**
 * The result of a step.
 *
 * Calls of a reply that ended otherwise than with `tool_calls` are not added to the thread, because they get no result.
 */
export const stepResult = (parts: StepParts): StepResult => {
  const { response, mode, outcomes, manualToolCalls, halt, error, pendingApprovals, permissionMode, childUsage } = parts
  const called = response.finishReason === "tool_calls"
  const toolResults: ReadonlyArray<ToolMessage> =
    outcomes.length === 0 ? noResults : outcomes.map(({ message }) => message)
  const thread = parts.resumed?.thread ?? threadOf(parts, toolResults)
  return {
    thread: parts.metadata === undefined ? thread : { ...thread, metadata: { ...thread.metadata, ...parts.metadata } },
    response,
    toolResults,
    done: halt !== undefined || error !== undefined || pendingApprovals !== undefined || !goesOn(response),
    mode: mode === "manual" && called ? "manual" : "auto",
    halt,
    manualToolCalls,
    truncatedToolCalls: called ? [] : response.toolCalls,
    ...(pendingApprovals !== undefined && { pendingApprovals }),
    ...(permissionMode !== undefined && { permissionMode }),
    ...(childUsage !== undefined && { childUsage }),
    ...(error !== undefined && { error })
  }
}

/** The thread with the reply and its results. */
const threadOf = (
  { thread, response, halt, blobs }: StepParts,
  toolResults: ReadonlyArray<ToolMessage>
): Thread.Thread => {
  const message = assistantMessage(response, halt?.type === "cancelled", blobs)
  return Thread.append(thread, ...(message === undefined ? [] : [message]), ...toolResults)
}

/** The messages of replies with calls: a step that is stored while its calls run has one message (GROW1). */
const messages = new WeakMap<Response, AssistantMessage>()

/**
 * The assistant's message, with the metadata that the provider needs again. A reply that was cancelled before its first
 * word and its first reasoning has no message. With `blobs` its images and files are references.
 */
export const assistantMessage = (
  response: Response,
  cancelled: boolean,
  blobs: ChatBlobs | undefined
): AssistantMessage | undefined => {
  const toolCalls = response.finishReason === "tool_calls" ? response.toolCalls : []
  const reasoning = response.metadata["reasoning"]
  const isEmpty = response.outputText === "" && toolCalls.length === 0 && reasoning === undefined
  if (cancelled && isEmpty) return undefined
  const parts = response.finishReason === "error" ? undefined : response.message?.parts
  const isOnce = toolCalls.length > 0 && !cancelled
  const known = isOnce ? messages.get(response) : undefined
  if (known !== undefined) return known
  const message = whole({
    role: "assistant",
    content: response.outputText,
    ...(toolCalls.length === 0 ? {} : { toolCalls: [...toolCalls] }),
    ...(parts !== undefined && { parts: blobs === undefined ? parts : blobs.kept(parts) }),
    metadata: {
      ...response.message?.metadata,
      finish_reason: response.finishReason,
      ...(cancelled && response.finishReason === null ? { cancelled: true } : {}),
      ...(reasoning !== undefined && { reasoning })
    }
  })
  if (isOnce) messages.set(response, message)
  return message
}

/** The message with parts that agree with its calls; without parts if its text and its calls are all of it. */
const whole = (message: AssistantMessage): AssistantMessage => {
  if (message.parts === undefined) return message
  const { parts: _, ...views } = message
  const parts = partsOf(message)
  const seen = partsOf(views)
  return parts.length === seen.length && parts.every((part, at) => isSame(part, seen[at])) ? views : { ...views, parts }
}

/** Whether a part is the one that the views have in its place. */
const isSame = (part: AssistantPart, seen: AssistantPart | undefined): boolean => {
  switch (part.type) {
    case "text":
      return seen?.type === "text" && part.metadata === undefined
    case "tool_call":
      return seen?.type === "tool_call" && seen.toolCallId === part.toolCallId
    default:
      return false
  }
}
