/**
 * The live side of one step: its request, its batch, and how they become its result.
 *
 * Owns: the collector of the reply, and the calls of the batch. Does not own the phases, which are the chart's.
 *
 * STEP1. All adapter events come before all tool events, and those before the one `step_completed`, which is the last.
 * STEP2. Phase B begins when the reader has read past the adapter's last event, never because of an event's content, and
 *        only if the finish reason is `tool_calls`.
 * STEP3. Leaving a phase releases its resources, once: the adapter's stream in A, the tool processes in B.
 * STEP4. A cancelled step still ends with its `step_completed`: in A at once, in B when the running calls have ended or
 *        their drain deadline passed.
 * HOSTDATA1. The metadata that the host has at the end of a reply, of a call and of a step is in the entry of that step, and no entry is
 *            written for it.
 */
import { automatic, batchEnded, batchInput, callsOf, stepEnd, type EndedParts } from "./stepCalls.ts"
import { BatchCalls, notFound, type ToolBatchInput } from "../batch/index.ts"
import { endedEarly, toolOutcome, viewOfEnded } from "../call/index.ts"
import { AdapterError, EngineError, type PreflightError, quoted } from "../errors/index.ts"
import { type Event, type Outlet, StreamCollector } from "../events/index.ts"
import { PermissionMode } from "../gate/index.ts"
import type { ToolCall } from "../model/index.ts"
import type { OpenCall, OpenStep, StepResult } from "../record/index.ts"
import { adapterIn, type ReadReply, requestOf, type RunnableRequest } from "../request/index.ts"
import { newStepId, toolFor } from "../tool/index.ts"
import { describe, held, original } from "../values/index.ts"
import { goingOnWith } from "./openCalls.ts"
import type { Journal } from "./journal.ts"
import {
  type EndedStep,
  replyOf,
  type RunningStep,
  type StepData,
  type StepEnding,
  type StepLive
} from "./stepState.ts"

export class StepRun {
  #step: RunningStep

  /** A new step, or one that goes on from its data. */
  constructor(live: StepLive, { thread, aside, tasks, children, open, step: { id, reply } = {} }: StepData) {
    const { options, watcher } = live
    const collector = new StreamCollector(undefined, options.maxToolArgumentCharacters)
    watcher?.stepStarted(collector)
    options.trace?.stepBegan()
    this.#step = {
      ...live,
      thread,
      aside,
      tasks,
      children,
      open,
      id: id ?? (open === undefined ? newStepId(options.system) : open.id),
      permissionMode: live.permissionMode ?? new PermissionMode(),
      collector,
      reply: reply === undefined ? undefined : original(reply),
      calls: undefined,
      going: open === undefined ? undefined : goingOnWith({ thread, open }, options)
    }
  }

  get outlet(): Outlet {
    return this.#step.outlet
  }

  /** Traces a request that could not be opened. */
  refused(error: PreflightError): void {
    this.#step.options.trace?.stepRefused(error)
  }

  /** The model request of phase A. */
  get request(): RunnableRequest {
    const { engine, options, collector, outlet } = this.#step
    return {
      adapter: adapterIn(engine),
      request: requestOf(this.#step),
      options,
      collector,
      outlet,
      read: () => this.#read()
    }
  }

  #read(): ReadReply {
    this.#describe()
    const reply = replyOf(this.#step)
    this.#step = { ...this.#step, reply }
    const { id } = this.#step
    const calls = callsOf(this.#step)
    return {
      id,
      reply: held(reply),
      count: automatic(calls).length === 0 ? 0 : calls.length,
      hasUnknownTool: unknownTool(this.#step) !== undefined
    }
  }

  /** Adds the metadata of the host to the reply. */
  #describe(): void {
    const { options, open } = this.#step
    const metadataOf = options.storedMetadata?.ofMessage
    if (metadataOf === undefined || open !== undefined) return
    const reply = replyOf(this.#step)
    const metadata = metadataOf(reply)
    if (metadata === undefined) return
    const message = reply.message ?? { role: "assistant", content: reply.outputText }
    const described = { ...message, metadata: { ...message.metadata, ...metadata } }
    this.#step = { ...this.#step, reply: { ...reply, message: described } }
  }

  /** The tool calls of phase B, whose intents and outcomes the journal notes. */
  batch(journal: Journal | undefined): ToolBatchInput {
    this.#step = { ...this.#step, journal }
    const calls = new BatchCalls(callsOf(this.#step))
    this.#step = { ...this.#step, calls }
    return batchInput(this.#step, calls)
  }

  /** Computes the result, and the events of phase C. */
  finish(ending: StepEnding): {
    readonly result: StepResult
    readonly open: OpenStep | undefined
    readonly events: ReadonlyArray<Event>
  } {
    const ended = this.#ended(ending)
    if (ending.type === "request_died" || ending.type === "cancelled") this.#describe()
    const step: EndedStep = { ...this.#step, ...ended }
    const { result, open } = stepEnd(step)
    const { inputTokens } = result.response.usage
    if (inputTokens !== undefined) step.options.compaction?.counted(step.thread, inputTokens)
    step.options.trace?.stepEnded(result)
    step.watcher?.stepEnded?.(result, open)
    showUnrun(step, result)
    return { result, open, events: closingEvents(step, result) }
  }

  #ended(ending: StepEnding): EndedParts {
    const step = this.#step
    switch (ending.type) {
      case "answered":
        return nothing
      case "called":
        return batchEnded(step, original(ending.result))
      case "unknown_tool":
        return { ...nothing, ...refuseUnknownTool(step) }
      case "cancelled":
        return { ...nothing, ...cancelledRequest(step) }
      case "request_died":
        return { ...nothing, error: crashed(step.collector, original(ending.cause)) }
    }
  }
}

const noCalls: ReadonlyMap<number, OpenCall> = new Map()

const nothing: EndedParts = { outcomes: [], left: noCalls, halt: undefined, error: undefined }

const unknownTool = (step: RunningStep): ToolCall | undefined => {
  const { onUnknownTool, toolsByName } = step.options
  return onUnknownTool === "error"
    ? automatic(callsOf(step)).find((call) => toolFor(toolsByName, call) === undefined)
    : undefined
}

/** Answers every call of the batch, and runs none. */
const refuseUnknownTool = (step: RunningStep): Pick<EndedParts, "outcomes" | "error"> => {
  const { toolsByName, toolResultEncoder } = step.options
  const unknown = unknownTool(step)
  const name = unknown?.name ?? ""
  return {
    error: new EngineError("unknown_tool", {
      message: `The model called the tool ${quoted(name)}, which is not registered; add it to the engine's tools`,
      metadata: { toolName: name, toolCallId: unknown?.id }
    }),
    // The error policy does not apply to an unknown tool, because no tool failed.
    outcomes: automatic(callsOf(step)).map((call) =>
      toolFor(toolsByName, call) !== undefined
        ? endedEarly(call, "not_started", step.options, `not started, because ${quoted(name)} is not a tool`)
        : toolOutcome(call, notFound(call, toolsByName), { toolResultEncoder })
    )
  }
}

/** The error of a request whose process died. */
const crashed = (collector: StreamCollector, cause: unknown): AdapterError => {
  const error = new AdapterError("unknown", { cause, message: `The model request's process died: ${describe(cause)}` })
  collector.fail(error)
  return error
}

/** Answers the calls that the model had made before a cancel in phase A, because no batch will. */
const cancelledRequest = (step: RunningStep): Pick<EndedParts, "outcomes" | "halt"> => {
  const { finishReason, toolCalls } = replyOf(step)
  const called = finishReason === "tool_calls" ? toolCalls : []
  return {
    halt: { type: "cancelled" },
    outcomes: called.map((call) => endedEarly(call, "cancelled", step.options))
  }
}

/**
 * Adds to the snapshot the outcomes that no batch reported: of calls in a truncated reply, and of calls answered without a
 * batch.
 */
const showUnrun = ({ watcher, outcomes, options, calls }: EndedStep, { truncatedToolCalls }: StepResult): void => {
  if (watcher === undefined) return
  const truncated = truncatedToolCalls.map((toolCall) => ({ toolCall, outcome: "not_started" as const }))
  const finished = outcomes.length === 0 ? undefined : new Set(calls?.own.map(({ outcome }) => outcome))
  const ended = outcomes.some((outcome) => finished?.has(outcome) === false) ? outcomes : truncated
  if (ended.length > 0) watcher.toolCallsChanged(viewOfEnded(ended, options.system.clock.now()), undefined)
}

const closingEvents = (
  { error, options }: EndedStep,
  { response, thread, manualToolCalls, pendingApprovals, halt }: StepResult
): ReadonlyArray<Event> => {
  const completed: Event = {
    type: "step_completed",
    response,
    thread,
    mode: options.mode,
    manualToolCalls,
    ...(pendingApprovals !== undefined && { pendingApprovals }),
    ...(halt !== undefined && { halt })
  }
  return error === undefined
    ? [completed]
    : [
        { type: "error", error },
        { ...completed, error }
      ]
}
