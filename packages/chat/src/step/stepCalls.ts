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
import { type Response, text, type ToolCall } from "../model/index.ts"
import { continuesChild, type OpenCall, type OpenStep, type StepHalt, type StepResult } from "../record/index.ts"
import * as Thread from "../model/Thread.ts"
import * as Usage from "../model/Usage.ts"
import type { Journalled } from "./journal.ts"
import { keptHalt, type Opened, openToolCalls, pendingApprovalsOf, withResults } from "./openCalls.ts"
import { unknownCall } from "./recovery.ts"
import { waitingForChild } from "./childAsks.ts"
import { assistantMessage, stepResult } from "./buildStepResult.ts"
import { stillUnknown, type ToolBatchInput, type ToolBatchResult, unknownOutcome } from "../batch/index.ts"
import { endedEarly, toolFailure, type ToolOutcome, toolOutcome } from "../call/index.ts"
import { describe } from "../values/index.ts"
import { type EndedStep, replyOf, type RunningStep } from "./stepState.ts"

/** Who answers the calls of a step; `positions` are the indexes in the reply of the batch's calls. */
interface StepCalls {
  readonly automatic: ReadonlyArray<ToolCall>
  readonly manual: ReadonlyArray<ToolCall>
  readonly positions?: ReadonlyArray<number> | undefined
}

const none: StepCalls = { automatic: [], manual: [] }

/** The calls of the reply: those of the batch, and those of the caller. Calls of a truncated reply are not answered. */
export const callsOf = (context: RunningStep): StepCalls => {
  const { options, going, open, thread } = context
  if (going !== undefined && open !== undefined) {
    const manual = openToolCalls({ thread, open }).filter((_, position) => open.calls[position]?.state === "manual")
    return { automatic: going.toolCalls, manual, positions: going.positions }
  }
  const { finishReason, toolCalls } = replyOf(context)
  if (finishReason !== "tool_calls" || options.mode === "manual") return none
  const isManual = ({ name }: ToolCall): boolean => options.toolsByName.get(name)?.manual === true
  if (!toolCalls.some(isManual)) return { automatic: toolCalls, manual: [] }
  const positions = toolCalls.flatMap((call, position) => (isManual(call) ? [] : [position]))
  return {
    automatic: toolCalls.filter((call) => !isManual(call)),
    manual: toolCalls.filter(isManual),
    positions
  }
}

/** The input of the step's batch. */
export const batchInput = (context: RunningStep): ToolBatchInput => {
  const { id, options, outlet, watcher, ledger, journal, open, going, thread } = context
  const { automatic, positions } = callsOf(context)
  const writes =
    journal !== undefined && automatic.some(({ name }) => options.toolsByName.get(name)?.effect === "write")
  if (writes) journal.begin(() => journalledBy(context), options.haltOrder)
  return {
    toolCalls: automatic,
    stepId: id,
    messageIndex: open?.at ?? thread.messages.length,
    positions,
    settled: going?.settled,
    edited: going?.edited,
    again: going?.again,
    toolsByName: options.toolsByName,
    options: gated(context),
    outlet,
    watcher,
    ledger,
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
  const { positions } = callsOf(context)
  const automatic = positions === undefined ? undefined : new Set(positions)
  const calls = response.toolCalls.map((_, position): OpenCall => ({
    state: automatic === undefined || automatic.has(position) ? "new" : "manual"
  }))
  return {
    thread: message === undefined ? thread : Thread.append(thread, message),
    open: { id, ...(agent !== undefined && { agent }), at: thread.messages.length, calls }
  }
}

/** What the phases of a step came to. */
export type StepParts = Pick<EndedStep, "outcomes" | "left" | "halt" | "error">

/** The step after the batch. */
export const batchEnded = (context: RunningStep, result: ToolBatchResult): StepParts => {
  const { outcomes, halt, error, suspended } = result
  const ended = { outcomes, halt: haltOf(context, halt), error, left: nothing }
  if (suspended.length === 0) return ended
  const now = Math.floor(context.options.system.clock.now())
  const left = new Map(
    suspended.map(({ index, expiresMs, child, given }): [number, OpenCall] => [
      index,
      child === undefined
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

/**
 * The batch's process died: unfinished calls have failed, or have an unknown outcome. Their missing events are part of the
 * closing events.
 */
export const batchCrashed = (context: RunningStep, cause: unknown): StepParts => {
  const { journal, ledger, options } = context
  const { finished, following, halts, unread } = ledger
  const { automatic, positions } = callsOf(context)
  const left = new Map<number, OpenCall>()
  const diedWith = (call: ToolCall, index: number): ToolOutcome | undefined => {
    const tool = options.toolsByName.get(call.name)
    const before = context.open?.calls[positions?.[index] ?? index]
    if (before !== undefined && continuesChild(before)) {
      left.set(index, before)
      return undefined
    }
    if (journal !== undefined && tool?.effect !== "read") {
      const noted = journal.callAt(positions?.[index] ?? index)
      if (noted?.state !== "intended") {
        const ended = endedEarly(call, "not_started", options, `not started: the tool batch died: ${describe(cause)}`)
        return context.going?.again.has(index) === true ? stillUnknown(ended, options) : ended
      }
      const unknown = unknownCall(tool, Math.floor(options.system.clock.now()), noted.arguments)
      if (unknown === "fail") return unknownOutcome(call, options)
      left.set(index, unknown)
      return undefined
    }
    const { toolResultEncoder } = options
    const failure = toolFailure(call, "handler_exit", `the tool batch died: ${describe(cause)}`, cause)
    return toolOutcome(call, failure, { toolResultEncoder })
  }
  const outcomes = automatic.flatMap((call, index): ReadonlyArray<ToolOutcome> => {
    const known = finished[index]
    if (known !== undefined) return [known]
    const ended = following[index] ?? diedWith(call, index)
    for (const event of ended?.events ?? []) unread.push(event)
    return ended === undefined ? [] : [ended]
  })
  const inTime = options.haltOrder === "observed" ? halts.map((index) => finished[index]) : []
  const halting = [...inTime, ...outcomes].find((outcome) => outcome?.halt !== undefined)
  return { outcomes, left, halt: haltOf(context, halting?.halt), error: undefined }
}

/** The output of a step. */
export const stepEnd = (context: EndedStep): { readonly result: StepResult; readonly open?: OpenStep | undefined } => {
  const { options, halt, left, open, outcomes, permissionMode } = context
  const { manual } = callsOf(context)
  const parts = {
    thread: context.thread,
    response: open === undefined ? replyOf(context) : resumedResponse(context, open),
    mode: options.mode,
    outcomes,
    manualToolCalls: manual.length === 0 ? manual : unanswered(manual, outcomes),
    halt,
    error: context.error,
    blobs: options.blobs,
    permissionMode: permissionMode.fold(outcomes, options.permissions),
    childUsage: options.family?.take(),
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

const unanswered = (
  toolCalls: ReadonlyArray<ToolCall>,
  outcomes: ReadonlyArray<ToolOutcome>
): ReadonlyArray<ToolCall> => {
  const answered = new Set(outcomes.map(({ toolCall }) => toolCall.id))
  return toolCalls.filter(({ id }) => !answered.has(id))
}

const withHalt = (step: OpenStep, halt: StepHalt | undefined): OpenStep => {
  const { halt: _, ...open } = step
  return halt === undefined ? open : { ...open, halt: keptHalt(halt) }
}

/** The thread with the results, and the open calls as they wait. */
const afterBatch = (context: EndedStep): Opened => {
  const { left, outcomes } = context
  const { automatic, positions } = callsOf(context)
  const { thread, open } = openedBy(context)
  const calls = [...open.calls]
  const results = new Map<number, ToolOutcome["message"]>()
  let next = 0
  automatic.forEach((_, index) => {
    const position = positions?.[index] ?? index
    const waiting = left.get(index)
    if (waiting !== undefined) calls[position] = waiting
    else {
      const outcome = outcomes[next++]
      if (outcome !== undefined) results.set(position, outcome.message)
    }
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
