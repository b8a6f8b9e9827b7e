/**
 * The statechart of one step: a model request (phase A), the tools it asked for (phase B), one `step_completed` (phase C).
 *
 * Owns: which phase comes next. Does not own the events, which the outlet emits, nor the loop around steps.
 *
 * STEP1. All adapter events come before all tool events, and those before the one `step_completed`, which is the last.
 * STEP2. Phase B begins when the reader has read past the adapter's last event, never because of an event's content, and
 *        only if the finish reason is `tool_calls`.
 * STEP3. Leaving a phase releases its resources, once: the adapter's stream in A, the tool processes in B.
 * STEP4. A cancelled step still ends with its `step_completed`: in A at once, in B when the running calls have ended or
 *        their drain deadline passed.
 * STEP5. A request that could not be opened ends the step in `refused`, without any event.
 * STEP6. A step that continues with open calls begins with phase B: it sends no request, and its results are added to the
 *        step before.
 * STEP7. Calls that wait for a decision have no result; the step lists them, unless it was cancelled. A halt beside them
 *        takes effect when they are decided.
 *
 * @module
 * @source ALLM.Chat, "Stream composition"
 */
import { StateMachine } from "@troupe/otp"
import { assign, type DoneActorEvent, type ErrorActorEvent, sendTo, setup } from "xstate"
import {
  adapterIn,
  adapterStreamMachine,
  type AdapterStreamOutput,
  type RequestEnv,
  requestOf,
  type RunnableRequest
} from "../request/index.ts"
import { AdapterError, EngineError, quoted } from "../errors/index.ts"
import { emit, type Event, type EventsTaken, StreamCollector } from "../events/index.ts"
import { type HandlerResult, type Held, original } from "../values/index.ts"
import { describe } from "../toolResult/index.ts"
import { chart } from "../chart/index.ts"
import { goingOnWith } from "./decisions.ts"
import { batchEnv, batchMachine, notFound, type ToolBatchInput, type ToolBatchResult } from "../batch/index.ts"
import { Fifo } from "../async/index.ts"
import { newStepId } from "../tool/index.ts"
import { PermissionMode } from "../gate/index.ts"
import { batchCrashed, batchEnded, batchInput, callsOf, stepEnd } from "./stepCalls.ts"
import { endedEarly, type ToolOutcome, toolOutcome, viewOfEnded } from "../call/index.ts"
import type { ToolCall } from "../model/index.ts"
import type { OpenCall } from "../record/index.ts"
import type { StepInput, StepOutput, StepContext } from "./stepContext.ts"

export type { StepOutput } from "./stepContext.ts"

/**
 * The events of a step.
 *
 * - `step.cancel`: end early; the result is `cancelled`
 * - `events.taken`, from its own phase C: the reader has read past `step_completed`
 */
type StepEvent = { readonly type: "step.cancel" } | EventsTaken

/** The model request, as a process of its own. */
const adapterStream = StateMachine.fromProcess<AdapterStreamOutput, RunnableRequest>(({ input, parent }) => {
  const env: RequestEnv = { request: () => input }
  return StateMachine.startLink(parent, adapterStreamMachine, { env, label: `AdapterStream ${input.adapter.name}` })
})

/** The tool calls, as a process that supervises one process for each. */
const batch = StateMachine.fromProcess<Held<ToolBatchResult>, ToolBatchInput>(({ input, parent }) =>
  StateMachine.startLink(parent, batchMachine, {
    input: { count: input.toolCalls.length },
    env: batchEnv(() => input),
    label: "ToolBatch"
  })
)

const stepSetup = setup({
  types: {
    context: {} as StepContext,
    input: {} as StepInput,
    events: {} as StepEvent,
    output: {} as StepOutput
  },
  actors: { adapterStream, toolBatch: batch },
  guards: {
    wasRefused: (_, output: AdapterStreamOutput) => output.type === "refused",
    requestsTools: ({ context }) => callsOf(context).automatic.length > 0,
    requestsUnknownTool: ({ context }) => unknownTool(context) !== undefined
  },
  actions: {
    cancelBatch: sendTo("toolBatch", { type: "batch.cancel" }),
    recordRefusal: assign((_, output: AdapterStreamOutput) => ({
      refusal: output.type === "refused" ? original(output.error) : undefined
    })),
    recordCrash: assign(({ context }, cause: unknown) => crashed(context.collector, cause)),
    recordOutcomes: assign(({ context }, result: Held<ToolBatchResult>) => batchEnded(context, original(result))),
    recordBatchCrash: assign(({ context }, cause: unknown) => batchCrashed(context, cause)),
    cancelRequest: assign(({ context }) => cancelledRequest(context)),
    refuseUnknownTool: assign(({ context }) => refuseUnknownTool(context)),
    recordResult: assign(({ context }) => {
      const { result, open } = stepEnd(context)
      context.options.trace?.stepEnded(result)
      return { result, stillOpen: open }
    }),
    showUnrun: ({ context }) => showUnrun(context),
    traceRefusal: ({ context }) => context.options.trace?.stepRefused(context.refusal),
    emitResult: ({ context, self }) => emit(context.outlet, closingEvents(context), self)
  }
})

const begin = ({ input }: { readonly input: StepInput }): StepContext => {
  const collector = new StreamCollector(undefined, input.options.maxToolArgumentCharacters)
  input.watcher?.stepStarted(collector)
  input.options.trace?.stepBegan()
  return {
    ...input,
    id: input.open === undefined ? newStepId(input.options.system) : input.open.id,
    permissionMode: input.permissionMode ?? new PermissionMode(),
    collector,
    outcomes: [],
    ledger: { finished: [], following: [], halts: [], unread: new Fifo() },
    going: input.open === undefined ? undefined : goingOnWith({ ...input, open: input.open }, input.options),
    left: nothing,
    halt: undefined,
    error: undefined,
    refusal: undefined,
    result: undefined,
    stillOpen: undefined
  }
}

const nothing: ReadonlyMap<number, OpenCall> = new Map()

/** The phases of both kinds of step: the tools, and the end. */
const toolPhases = {
  phaseB: {
    invoke: {
      id: "toolBatch",
      src: "toolBatch",
      input: ({ context }: { readonly context: StepContext }) => batchInput(context),
      onDone: {
        target: "phaseC",
        actions: {
          type: "recordOutcomes",
          params: ({ event }: { readonly event: DoneActorEvent<Held<ToolBatchResult>> }) => event.output
        }
      },
      onError: {
        target: "phaseC",
        actions: { type: "recordBatchCrash", params: ({ event }: { readonly event: ErrorActorEvent }) => event.error }
      }
    },
    on: { "step.cancel": { actions: "cancelBatch" } }
  },
  phaseC: {
    entry: ["recordResult", "showUnrun", "emitResult"],
    on: { "events.taken": "done" }
  },
  done: { type: "final" }
} as const

const step = stepSetup.createMachine({
  id: "step",
  context: begin,
  initial: "phaseA",
  states: {
    phaseA: {
      invoke: {
        id: "adapterStream",
        src: "adapterStream",
        input: ({ context }) => ({ ...context, request: requestOf(context), adapter: adapterIn(context.engine) }),
        onDone: [
          {
            guard: { type: "wasRefused", params: ({ event }) => event.output },
            target: "refused",
            actions: { type: "recordRefusal", params: ({ event }) => event.output }
          },
          { guard: "requestsUnknownTool", target: "phaseC", actions: "refuseUnknownTool" },
          { guard: "requestsTools", target: "phaseB" },
          { target: "phaseC" }
        ],
        onError: {
          target: "phaseC",
          actions: { type: "recordCrash", params: ({ event }: { readonly event: ErrorActorEvent }) => event.error }
        }
      },
      on: { "step.cancel": { target: "phaseC", actions: "cancelRequest" } }
    },
    ...toolPhases,
    refused: { type: "final", entry: "traceRefusal" }
  },
  output: ({ context }) => outputOf(context)
})

/** Runs one step: phaseA, phaseB, phaseC, then done; or refused. */
export const stepMachine = chart(step)

const resumedStep = stepSetup.createMachine({
  id: "resumedStep",
  context: begin,
  initial: "phaseB",
  states: toolPhases,
  output: ({ context }) => outputOf(context)
})

/** Continues with the open calls of a thread: phaseB, phaseC, then done (STEP6). */
export const resumedStepMachine = chart(resumedStep)

const unknownTool = (context: StepContext): ToolCall | undefined => {
  const { onUnknownTool, toolsByName } = context.options
  return onUnknownTool === "error" ? callsOf(context).automatic.find((call) => !toolsByName.has(call.name)) : undefined
}

/** Answers every call of the batch, and runs none. */
const refuseUnknownTool = (context: StepContext) => {
  const { toolsByName } = context.options
  const unknown = unknownTool(context)
  const name = unknown?.name ?? ""
  return {
    error: new EngineError("unknown_tool", {
      message: `The model called the tool ${quoted(name)}, which is not registered; add it to the engine's tools`,
      metadata: { toolName: name, toolCallId: unknown?.id }
    }),
    outcomes: callsOf(context).automatic.map((call) =>
      toolsByName.has(call.name)
        ? endedEarly(call, "not_started", context.options, `not started, because ${quoted(name)} is not a tool`)
        : answered(context, call, notFound(call, toolsByName))
    )
  }
}

/** Answers a call without running it. The error policy does not apply, because no tool failed. */
const answered = (context: StepContext, call: ToolCall, result: HandlerResult): ToolOutcome =>
  toolOutcome(call, result, { toolResultEncoder: context.options.toolResultEncoder })

/** Fails the request because the adapter's process died. */
const crashed = (collector: StreamCollector, cause: unknown) => {
  const error = new AdapterError("unknown", { cause, message: `The model request's process died: ${describe(cause)}` })
  collector.fail(error)
  return { error }
}

/** Answers the calls that the model had made before a cancel in phase A, because no batch will. */
const cancelledRequest = (context: StepContext) => {
  const { finishReason, toolCalls } = context.collector.toResponse()
  const called = finishReason === "tool_calls" ? toolCalls : []
  return {
    halt: { type: "cancelled" } as const,
    outcomes: called.map((call) => endedEarly(call, "cancelled", context.options))
  }
}

/**
 * Adds to the snapshot the outcomes that no batch reported: of calls in a truncated reply, and of calls answered without a
 * batch.
 */
const showUnrun = ({ watcher, result, outcomes, options, ledger }: StepContext) => {
  if (watcher === undefined || result === undefined) return
  const truncated = result.truncatedToolCalls.map((toolCall) => ({ toolCall, outcome: "not_started" as const }))
  const finished = outcomes.length === 0 ? undefined : new Set(ledger.finished)
  const ended = outcomes.some((outcome) => finished?.has(outcome) === false) ? outcomes : truncated
  if (ended.length > 0) watcher.toolCallsChanged(viewOfEnded(ended, options.system.clock.now()), undefined)
}

const closingEvents = ({ error, options, result, ledger: { unread } }: StepContext): ReadonlyArray<Event> => {
  if (result === undefined) return []
  const events: Array<Event> = []
  for (let event = unread.shift(); event !== undefined; event = unread.shift()) events.push(event)
  const { response, thread, manualToolCalls, pendingApprovals, halt } = result
  const completed: Event = {
    type: "step_completed",
    response,
    thread,
    mode: options.mode,
    manualToolCalls,
    ...(pendingApprovals === undefined ? {} : { pendingApprovals }),
    ...(halt === undefined ? {} : { halt })
  }
  if (error === undefined) events.push(completed)
  else events.push({ type: "error", error }, { ...completed, error })
  return events
}

const outputOf = ({ refusal, result, stillOpen }: StepContext): StepOutput => {
  if (refusal !== undefined) return { type: "refused", error: refusal }
  if (result === undefined) throw new Error("a step ended without a result")
  return { type: "completed", result, open: stillOpen }
}
