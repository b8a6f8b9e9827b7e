/**
 * The chart of one tool call.
 *
 * Owns: the phases of a call and its deadline. The handler itself is the invoked actor `execution`.
 *
 * CALL1. A call ends in exactly one of its final states, once; its output is the call's one outcome.
 * CALL2. The deadline counts from the start of the handler, not from the queue, and holds whatever the handler does.
 * CALL3. A cancelled call is told to end and then waited for, until the drain deadline. A result in time counts, a failure
 *        is the cancel's: the error policy is not asked about it.
 *
 * @module
 */
import { Clock, Process, StateMachine } from "@troupe/otp"
import { type ActorRefFrom, assign, fromCallback, sendTo, setup, spawnChild } from "xstate"
import type { HandlerResult } from "./HandlerResult.ts"
import type { CallPlace } from "./internal/idempotency.ts"
import { ToolExecution } from "./internal/toolExecution.ts"
import { endedEarly, type ToolOutcome, toolFailure, toolOutcome } from "./internal/toolOutcome.ts"
import type { RunOptions } from "./internal/resolveOptions.ts"
import type { Tool } from "./Tool.ts"
import type { ToolCall } from "./ToolCall.ts"

/** What a tool call's chart is started with. */
export interface ToolCallInput extends CallPlace {
  readonly tool: Tool
  readonly toolCall: ToolCall
  /** The call has its slot already and does not wait for `call.start`. Default `false`. */
  readonly startAtOnce?: boolean | undefined
  readonly options: Pick<
    RunOptions,
    | "toolExecutor"
    | "toolResultEncoder"
    | "onToolError"
    | "toolTimeoutMs"
    | "drainMs"
    | "context"
    | "sessionId"
    | "engine"
    | "requestId"
    | "trace"
  >
}

/**
 * What a tool call can be told.
 *
 * - `call.start`: its turn in the queue has come
 * - `call.cancel`: end, and be waited for no longer than the drain deadline
 * - `execution.settled`, from its own handler: the result
 * - `deadline.passed`, from its own clock
 */
export type ToolCallEvent =
  | { readonly type: "call.start" }
  | { readonly type: "call.cancel" }
  | { readonly type: "execution.settled"; readonly result: HandlerResult }
  | { readonly type: "deadline.passed" }

/** What a tool call's snapshot holds. */
export interface ToolCallContext extends ToolCallInput {
  readonly outcome: ToolOutcome | undefined
}

/**
 * Runs the handler and says `execution.settled`, or `deadline.passed`; `abort` tells the handler to end, being stopped
 * stops waiting. The deadline is a timer of the system's clock: as a delayed transition it would cost as much as the chart.
 */
const execution = fromCallback<{ readonly type: "abort" }, ToolCallInput>(({ input, system, sendBack, receive }) => {
  const host = StateMachine.hostOf(system)
  const hosting = host === undefined ? undefined : Process.systemOf(host)
  const settled = (result: HandlerResult) => sendBack({ type: "execution.settled", result })
  const running = new ToolExecution(input, settled, hosting)
  const clock = hosting?.clock ?? Clock.live
  const timer = clock.setTimeout(() => sendBack({ type: "deadline.passed" }), deadline(input))
  receive(() => running.abort())
  running.start()
  return () => {
    clock.clearTimeout(timer)
    running.stop()
  }
})

/** The longest a host timer can wait. */
const longestMs = 2 ** 31 - 1

const deadline = ({ tool, options }: ToolCallInput): number =>
  Math.min(tool.timeoutMs ?? options.toolTimeoutMs, longestMs)

const isFailure = ({ event }: { readonly event: { readonly result: HandlerResult } }): boolean =>
  event.result.type === "error"

/** Runs one tool call: queued, running, cancelling, then one final state. */
export const toolCallMachine = setup({
  types: {
    context: {} as ToolCallContext,
    input: {} as ToolCallInput,
    events: {} as ToolCallEvent,
    output: {} as ToolOutcome
  },
  actors: { execution },
  guards: { hasSlot: ({ context }) => context.startAtOnce === true },
  delays: {
    drain: ({ context }) => context.options.drainMs
  },
  actions: {
    /** The handler outlives the state it was started in: cancelling still waits for it. */
    execute: spawnChild("execution", { id: "execution", input: ({ context }) => context }),
    abort: sendTo("execution", { type: "abort" }),
    timeOut: assign(({ context }) =>
      settle(
        context,
        toolFailure(context.toolCall, "timeout", `no result within ${deadline(context)} ms; the call was stopped`)
      )
    ),
    giveUp: assign(({ context: { toolCall, options } }) => ({ outcome: endedEarly(toolCall, "cancelled", options) })),
    abandon: assign(({ context: { toolCall, options } }) => ({ outcome: endedEarly(toolCall, "abandoned", options) })),
    record: assign(({ context, event }) => (event.type === "execution.settled" ? settle(context, event.result) : {}))
  }
}).createMachine({
  id: "toolCall",
  context: ({ input }) => ({ ...input, outcome: undefined }),
  initial: "queued",
  states: {
    queued: {
      always: { guard: "hasSlot", target: "running" },
      on: {
        "call.start": "running",
        "call.cancel": { target: "cancelled", actions: "giveUp" }
      }
    },
    running: {
      entry: "execute",
      on: {
        "execution.settled": [
          { guard: isFailure, target: "failed", actions: "record" },
          { target: "completed", actions: "record" }
        ],
        "deadline.passed": { target: "timed_out", actions: "timeOut" },
        "call.cancel": { target: "cancelling", actions: "abort" }
      }
    },
    cancelling: {
      after: { drain: { target: "abandoned", actions: "abandon" } },
      on: {
        "execution.settled": [
          { guard: isFailure, target: "cancelled", actions: "giveUp" },
          { target: "completed", actions: "record" }
        ]
      }
    },
    completed: { type: "final" },
    failed: { type: "final" },
    timed_out: { type: "final" },
    cancelled: { type: "final" },
    abandoned: { type: "final" }
  },
  output: ({ context }) => context.outcome as ToolOutcome
})

/** A running tool call. */
export type ToolCallActor = ActorRefFrom<typeof toolCallMachine>

const settle = (context: ToolCallContext, result: HandlerResult) => ({
  outcome: toolOutcome(context.toolCall, result, context.options)
})
