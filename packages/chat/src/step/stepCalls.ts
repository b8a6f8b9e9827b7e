/**
 * The calls of a step: how they are answered, the input of the batch, and the result of the step.
 *
 * SCALL1. A call of the step either has an outcome, waits for a decision, or is the caller's.
 * STEP5. A step whose request could not be opened has no event and no result.
 * STEP6. A step that continues with open calls begins with phase B: it sends no request, and its results are added to the
 *        step before.
 * STEP7. Calls that wait for a decision have no result; the step lists them, unless it was cancelled. A halt beside them
 *        takes effect when they are decided.
 */
import { shortened } from "../errors/index.ts"
import {
  type Response,
  text,
  type ToolCall,
  type AssistantMessage,
  type AssistantPart,
  goesOn,
  parts as partsOf,
  type ToolMessage,
  type ChatBlobs
} from "../model/index.ts"
import type { OpenCall, OpenStep, StepHalt, StepResult, Mode, PendingApproval } from "../record/index.ts"
import * as Usage from "../model/Usage.ts"
import type { Journalled } from "./journal.ts"
import { keptHalt, type Opened, pendingApprovalsOf, withResults } from "./openCalls.ts"
import { waitingForChild } from "./childAsks.ts"
import { type BatchCalls, type CallStart, startsOf, type ToolBatchInput, type ToolBatchResult } from "../batch/index.ts"
import { type EndedStep, replyOf, type RunningStep } from "./stepState.ts"
import * as Thread from "../model/Thread.ts"
import type { ToolOutcome } from "../call/index.ts"

/** The calls of the step's message, as its batch begins. Calls of a truncated reply are not answered. */
export const callsOf = (context: RunningStep): ReadonlyArray<CallStart> => {
  if (context.going !== undefined) return context.going
  const { finishReason, toolCalls } = replyOf(context)
  const { mode, toolsByName } = context.options
  if (finishReason !== "tool_calls" || mode === "manual") return none
  return startsOf(toolCalls, context.options, ({ name }) => toolsByName.get(name)?.manual === true)
}

const none: ReadonlyArray<CallStart> = []

/** The calls that a batch runs. */
export const automatic = (calls: ReadonlyArray<CallStart>): ReadonlyArray<ToolCall> =>
  calls.flatMap(({ toolCall, open: { state } }) => (state === "new" || state === "decided" ? [toolCall] : []))

/** The input of the step's batch. */
export const batchInput = (context: RunningStep, calls: BatchCalls): ToolBatchInput => {
  const { id, options, outlet, watcher, journal, open, thread } = context
  const { toolsByName, haltOrder } = options
  const writes =
    journal !== undefined && calls.own.some(({ toolCall: { name } }) => toolsByName.get(name)?.effect === "write")
  if (writes) journal.begin({ calls, haltOrder, make: () => journalledBy(context) })
  return {
    calls,
    stepId: id,
    messageIndex: open?.at ?? thread.messages.length,
    messages: thread.messages,
    toolsByName,
    options: gated(context),
    outlet,
    watcher,
    journal: writes ? journal : undefined
  }
}

/** The options of the batch, in the present mode. Calls that a person decided about skip the permission check. */
const gated = ({ options, open, permissionMode }: RunningStep): ToolBatchInput["options"] => {
  const permissions = permissionMode.begin(options.permissions)
  if (open === undefined) return permissions === options.permissions ? options : { ...options, permissions }
  return { ...options, permissions, permitted: true }
}

/** The step as a record has it while its tools run. */
const journalledBy = (context: RunningStep): Journalled => {
  const opened = openedBy(context)
  const own = context.open === undefined ? replyOf(context).usage : Usage.empty
  return { ...opened, usage: own }
}

/** The thread with the step's message, and the step with no call answered yet. */
const openedBy = (context: RunningStep): Opened => {
  const { id, thread, open, options } = context
  if (open !== undefined) return { thread, open }
  const { agent } = options
  const response = replyOf(context)
  const message = assistantMessage(response, false, options.blobs)
  const calls = callsOf(context).map((call) => call.open)
  return {
    thread: message === undefined ? thread : Thread.append(thread, message),
    open: { id, ...(agent !== undefined && { agent }), at: thread.messages.length, calls }
  }
}

/** What the phases of a step came to. */
export type EndedParts = Pick<EndedStep, "outcomes" | "left" | "halt" | "error">

/** The step after the batch. */
export const batchEnded = (context: RunningStep, result: ToolBatchResult): EndedParts => {
  const { outcomes, halt, error, suspended } = result
  const ended = { outcomes, halt: haltOf(context, halt), error, left: nothing }
  if (suspended.length === 0) return ended
  const now = Math.floor(context.options.system.clock.now())
  const left = new Map(
    suspended.map(({ index, expiresMs, child, unknown, given }): [number, OpenCall] => [
      index,
      unknown !== undefined
        ? {
            state: "waiting",
            kind: "unknown_outcome",
            reason: shortened(unknown),
            askedAt: now,
            ...(given !== undefined && { arguments: given })
          }
        : child === undefined
          ? {
              state: "waiting",
              kind: "permission",
              reason: "permission to run was suspended",
              askedAt: now,
              ...(expiresMs === undefined || expiresMs === Infinity ? {} : { expiresAt: now + Math.floor(expiresMs) })
            }
          : waitingForChild(child, now, given)
    ])
  )
  return { ...ended, left }
}

const nothing: ReadonlyMap<number, OpenCall> = new Map()

/** A halt of an earlier call takes precedence; a cancel keeps its question. */
const haltOf = ({ open }: RunningStep, halt: StepHalt | undefined): StepHalt | undefined => {
  if (open?.halt === undefined) return halt
  if (halt?.type !== "cancelled") return open.halt
  if (halt.question !== undefined || open.halt.type !== "question") return halt
  const { type: _, ...question } = open.halt
  return { ...halt, question }
}

/** The output of a step. */
export const stepEnd = (context: EndedStep): { readonly result: StepResult; readonly open?: OpenStep | undefined } => {
  const { options, halt, left, open, outcomes, permissionMode, calls } = context
  const manual = callsOf(context).filter((call) => call.open.state === "manual")
  const ofChildren = options.family?.take()
  const parts = {
    thread: context.thread,
    response: open === undefined ? replyOf(context) : resumedResponse(context, open),
    mode: options.mode,
    outcomes,
    manualToolCalls: manual.length === 0 ? noCalls : unanswered(manual, outcomes),
    halt,
    error: context.error,
    blobs: options.blobs,
    permissionMode: permissionMode.fold(outcomes, options.permissions),
    childUsage: calls?.spent === undefined ? ofChildren : Usage.add(calls.spent, ofChildren ?? Usage.empty),
    metadata: options.storedMetadata?.ofThread?.()
  }
  if (open === undefined && left.size === 0) return { result: stepResult(parts) }
  const opened = afterBatch(context)
  const still = left.size === 0 ? undefined : withHalt(opened.open, halt)
  const pending = pendingApprovalsOf(opened.thread, still)
  const pendingApprovals = pending.length === 0 ? undefined : pending
  // A halt beside open calls takes effect with them (STEP7).
  const result = stepResult({
    ...parts,
    halt: still === undefined ? halt : undefined,
    resumed: opened,
    pendingApprovals
  })
  return { result, open: still }
}

const noCalls: ReadonlyArray<ToolCall> = []

const unanswered = (calls: ReadonlyArray<CallStart>, outcomes: ReadonlyArray<ToolOutcome>): ReadonlyArray<ToolCall> => {
  const answered = new Set(outcomes.map(({ toolCall }) => toolCall.id))
  return calls.flatMap(({ toolCall }) => (answered.has(toolCall.id) ? [] : [toolCall]))
}

const withHalt = (step: OpenStep, halt: StepHalt | undefined): OpenStep => {
  const { halt: _, ...open } = step
  return halt === undefined ? open : { ...open, halt: keptHalt(halt) }
}

/** The thread with the results, and the open calls as they wait. */
const afterBatch = (context: EndedStep): Opened => {
  const { left, outcomes } = context
  const { thread, open } = openedBy(context)
  const results = new Map<number, ToolOutcome["message"]>()
  let next = 0
  const calls = open.calls.map((call, position) => {
    const waiting = left.get(position)
    if (waiting !== undefined) return waiting
    const outcome = call.state === "new" || call.state === "decided" ? outcomes[next++] : undefined
    if (outcome !== undefined) results.set(position, outcome.message)
    return call
  })
  return withResults({ thread, open: { ...open, calls } }, results)
}

/** There was no request; the response is that of the calls' reply. */
const resumedResponse = ({ thread, options }: RunningStep, open: OpenStep): Response => {
  const message = thread.messages[open.at]
  const said = message?.role === "assistant" ? message : undefined
  return {
    requestId: options.requestId,
    ...(said !== undefined && { message: said }),
    outputText: said === undefined ? "" : text(said),
    toolCalls: said?.toolCalls ?? [],
    finishReason: "tool_calls",
    usage: Usage.empty,
    metadata: { resumed: true }
  }
}

/** The data at the beginning of a step's last phase. */
interface StepParts {
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
  readonly childUsage?: Usage.Usage | undefined
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
const stepResult = (parts: StepParts): StepResult => {
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
const assistantMessage = (
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
