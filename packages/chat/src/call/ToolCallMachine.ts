/**
 * The chart of one tool call.
 *
 * Owns: the phases of a call and its deadlines. The handler itself is the invoked actor `execution`.
 *
 * CALL1. A call ends in exactly one of its final states, once; its output is the call's one outcome.
 * CALL2. The deadlines count from the start of the handler, not from the queue, and hold whatever the handler does; progress
 *        defers the idle one alone.
 * CALL3. A cancelled call is told to end and then waited for, until the drain deadline. A result in time counts, a failure
 *        is the cancel's: the error policy is not asked about it. While its arguments are still being checked it has not
 *        begun, and is not waited for.
 * CALL4. A restarted call has its former run told to end, and waits for it until the drain deadline; then the handler runs
 *        again, under the same idempotency key and with deadlines of its own. What the former run says no longer counts.
 * CALL5. What only a check says (`invalid`, `not_found`, `denied`) is said of no call whose handler ran, but for the handler
 *        that ends with the refusal of its own `setPermissionMode`: that call is `denied` (PMODE5).
 * CALL6. A result that comes after a deadline of its call is discarded, and the call is `timed_out`: also when the handler
 *        blocked the thread, so that the deadline's timer could not run.
 *
 * @module
 */
import { Clock, ExitReason, type Pid, Process, StateMachine } from "@troupe/otp"
import { assign, fromCallback, sendTo, setup, spawnChild, stopChild } from "xstate"
import * as HandlerResults from "../values/HandlerResult.ts"
import { chart } from "../chart/index.ts"
import { isPromiseLike } from "../async/index.ts"
import { Deadlines, type Limits, limitsOf } from "./deadlines.ts"
import type { CallPlace, Tool } from "../tool/index.ts"
import type { ModeWish } from "../gate/index.ts"
import { type ExecutionListener, ToolExecution } from "./handlerRun.ts"
import { endedEarly, type ToolOutcome, toolFailure, toolOutcome } from "./toolOutcome.ts"
import { deniedOutcome } from "./gateOutcome.ts"
import type { RunOptions } from "../options/index.ts"
import type { ToolCall } from "../model/index.ts"
import type { Zombie } from "./zombieTable.ts"

type HandlerResult = HandlerResults.HandlerResult

/** Sees what a call says of itself while it runs, without an event for each. */
export interface CallWatcher {
  readonly progressed: (value: unknown) => void
  /** It is in this state now, otherwise than by `call.start` and its end. */
  readonly changed: (status: "running" | "cancelling" | "restarting") => void
  /** It wants to set the permission mode; and does. */
  readonly wants?: ExecutionListener["wants"]
  readonly wished?: ExecutionListener["wished"]
}

/** What a tool call's chart is started with. */
export interface ToolCallInput extends CallPlace {
  readonly tool: Tool
  readonly toolCall: ToolCall
  /** The call has its slot already and does not wait for `call.start`. Default `false`. */
  readonly startAtOnce?: boolean | undefined
  readonly watcher?: CallWatcher | undefined
  readonly options: Pick<
    RunOptions,
    | "toolExecutor"
    | "toolResultEncoder"
    | "maxToolResultCharacters"
    | "onToolError"
    | "onToolTimeout"
    | "onLateResult"
    | "toolTimeoutMs"
    | "toolIdleTimeoutMs"
    | "drainMs"
    | "context"
    | "sessionId"
    | "engine"
    | "requestId"
    | "trace"
    | "chat"
  >
}

/**
 * What a tool call can be told.
 *
 * - `call.start`: its turn in the queue has come
 * - `call.cancel`: end, and be waited for no longer than the drain deadline
 * - `call.restart`: end the handler, and run it again; nothing for a call that does not run, or is to end
 * - `execution.settled`, from its own handler: the result, whether the handler said it, whether it was called at all,
 *   the deadline that had passed by then, in words; and whether it ended with the refusal of its own `setPermissionMode`
 * - `deadline.passed`, from its own clock: what did not come in time, in words, and whether the handler was called by then
 */
export type ToolCallEvent =
  | { readonly type: "call.start" }
  | { readonly type: "call.cancel" }
  | { readonly type: "call.restart" }
  | {
      readonly type: "execution.settled"
      readonly result: HandlerResult
      readonly byHandler: boolean
      readonly began?: boolean
      readonly missed?: string | undefined
      readonly refused?: boolean
    }
  | { readonly type: "deadline.passed"; readonly missed: string; readonly began: boolean }

/** What a tool call's snapshot holds. */
export interface ToolCallContext extends ToolCallInput {
  readonly outcome: ToolOutcome | undefined
  /** Whether what the present run comes to does not count any more. */
  readonly disowned: boolean
}

type ExecutionCommand =
  | { readonly type: "abort" }
  | { readonly type: "disown" }
  | { readonly type: "give.up"; readonly outcome: Zombie["outcome"] }

/**
 * Runs the handler and says `execution.settled`, or `deadline.passed`. It is told to `abort` or `disown` the handler, which it
 * goes on waiting for, or to `give.up`; being stopped gives up too. The deadlines are timers of the system's clock: as
 * delayed transitions they would cost as much as the chart.
 */
const execution = fromCallback<ExecutionCommand, ToolCallInput>(({ input, system, sendBack, receive }) => {
  const host = StateMachine.hostOf(system)
  const hosting = host === undefined ? undefined : Process.systemOf(host)
  const settled: ExecutionListener["settled"] = (result, byHandler, refused) =>
    sendBack({
      type: "execution.settled",
      result,
      byHandler,
      began: running.began,
      missed: deadlines.missed,
      refused
    })
  let limits: Limits
  try {
    limits = limitsOf(input)
  } catch (fault) {
    return sendBack({ type: "execution.settled", result: HandlerResults.error(fault), byHandler: false })
  }
  const deadlines = new Deadlines(hosting?.clock ?? Clock.live, limits, (missed) =>
    sendBack({ type: "deadline.passed", missed, began: running.began })
  )
  const progressed = (value: unknown) => {
    deadlines.touch()
    input.watcher?.progressed(value)
  }
  const { wants, wished } = input.watcher ?? {}
  const asking: ExecutionListener["wants"] = (mode, signal) => {
    const wish = wants?.(mode, signal) ?? { mode, agreed: false }
    return isPromiseLike<ModeWish>(wish) ? deadlines.holding(wish) : wish
  }
  const running = new ToolExecution(input, { settled, progressed, wants: asking, wished }, hosting)
  receive((command) => {
    if (command.type === "abort") return running.abort()
    deadlines.clear()
    if (command.type === "disown") running.disown()
    else running.stop(command.outcome)
  })
  running.start()
  return () => {
    deadlines.clear()
    running.stop(endedBy(host))
  }
})

/** What a call came to whose process ends before it: whoever looks at that says that it failed, if it did not end in order. */
const endedBy = (host: Pid | undefined): "failed" | "cancelled" => {
  const reason: unknown = host === undefined ? undefined : Process.exitReason(host)
  return reason === undefined || ExitReason.isAbnormal(reason) ? "failed" : "cancelled"
}

const fails = ({
  context,
  event
}: {
  readonly context: ToolCallContext
  readonly event: { readonly result: HandlerResult }
}): boolean => context.disowned || event.result.type === "error"

const machine = setup({
  types: {
    context: {} as ToolCallContext,
    input: {} as ToolCallInput,
    events: {} as ToolCallEvent,
    output: {} as ToolOutcome
  },
  actors: { execution },
  guards: {
    hasSlot: ({ context }) => context.startAtOnce === true,
    isLate: ({ event }) => event.type === "execution.settled" && event.missed !== undefined
  },
  delays: {
    drain: ({ context }) => context.options.drainMs
  },
  actions: {
    /** The handler outlives the state it was started in: cancelling still waits for it. */
    execute: spawnChild("execution", { id: "execution", input: ({ context }) => context }),
    endRun: stopChild("execution"),
    abort: sendTo("execution", { type: "abort" }),
    disown: sendTo("execution", { type: "disown" }),
    markDisowned: assign({ disowned: true }),
    markOwned: assign({ disowned: false }),
    giveUpRun: sendTo("execution", (_, outcome: Zombie["outcome"]) => ({ type: "give.up", outcome })),
    notify: ({ context }, status: "running" | "cancelling" | "restarting") => context.watcher?.changed(status),
    timeOut: assign(({ context }, { missed, began }: { readonly missed: string; readonly began: boolean }) =>
      settle(context, toolFailure(context.toolCall, "timeout", `${missed}; ${began ? mayTakeEffect : neverBegan}`))
    ),
    discardLate: assign(({ context, event }) =>
      event.type === "execution.settled"
        ? settle(context, toolFailure(context.toolCall, "timeout", `${event.missed}; ${lateMessage(event)}`))
        : {}
    ),
    recordCancel: assign(({ context: { tool, toolCall, options }, event }) => {
      const wrote = tool.effect === "write" && event.type === "execution.settled" && event.began === true
      return { outcome: endedEarly(toolCall, "cancelled", options, wrote ? mayHaveTakenEffect : undefined) }
    }),
    recordAbandon: assign(({ context: { toolCall, options } }) => ({
      outcome: endedEarly(toolCall, "abandoned", options)
    })),
    record: assign(({ context, event }) =>
      event.type === "execution.settled" ? settle(context, event.result, event.byHandler, event.refused) : {}
    )
  }
}).createMachine({
  id: "toolCall",
  context: ({ input }) => ({ ...input, outcome: undefined, disowned: false }),
  initial: "queued",
  states: {
    queued: {
      always: { guard: "hasSlot", target: "running" },
      on: {
        "call.start": "running",
        "call.cancel": { target: "cancelled", actions: "recordCancel" }
      }
    },
    running: {
      entry: "execute",
      on: {
        "execution.settled": [
          { guard: "isLate", target: "timed_out", actions: "discardLate" },
          { guard: fails, target: "failed", actions: "record" },
          { target: "completed", actions: "record" }
        ],
        "deadline.passed": {
          target: "timed_out",
          actions: [
            { type: "timeOut", params: ({ event }) => event },
            { type: "giveUpRun", params: "timed_out" }
          ]
        },
        "call.cancel": { target: "cancelling", actions: "abort" },
        "call.restart": { target: "restarting", actions: ["disown", "markDisowned"] }
      }
    },
    cancelling: {
      entry: { type: "notify", params: "cancelling" },
      after: { drain: { target: "abandoned", actions: [{ type: "giveUpRun", params: "abandoned" }, "recordAbandon"] } },
      on: {
        "execution.settled": [
          { guard: fails, target: "cancelled", actions: "recordCancel" },
          { target: "completed", actions: "record" }
        ]
      }
    },
    restarting: {
      entry: { type: "notify", params: "restarting" },
      after: {
        drain: {
          target: "running",
          actions: [
            { type: "giveUpRun", params: "restarted" },
            "endRun",
            "markOwned",
            { type: "notify", params: "running" }
          ]
        }
      },
      on: {
        "execution.settled": {
          target: "running",
          actions: ["endRun", "markOwned", { type: "notify", params: "running" }]
        },
        "call.cancel": "cancelling"
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

/** Runs one tool call: queued, running, cancelling or restarting, then one final state. */
export const toolCallMachine = chart(machine)

/** What the model reads of a call that writes and was cancelled while its handler ran. */
const mayHaveTakenEffect = "the call was cancelled while it ran; it may have taken effect"

/** What the model reads of a call that was late. */
const mayTakeEffect = "it was told to stop, and may still take effect"
const neverBegan = "its arguments were still being checked, and it never started"
const tookTooLong = "it ended after that, and its result was discarded; it may have taken effect"

const lateMessage = ({ began }: { readonly began?: boolean }): string => (began === true ? tookTooLong : neverBegan)

/** A failure the handler itself reports is a failure, whatever error it hands on (CALL5). */
const settle = (context: ToolCallContext, result: HandlerResult, byHandler = false, refused = false) => ({
  outcome:
    refused && result.type === "error"
      ? deniedOutcome(context.toolCall, result.reason)
      : toolOutcome(
          context.toolCall,
          result,
          context.options,
          byHandler && result.type === "error" ? "failed" : undefined
        )
})
