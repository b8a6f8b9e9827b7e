/**
 * The statechart of one tool call.
 *
 * Owns: the phases of a call and its deadlines. The handler itself is the spawned actor `execution`.
 *
 * CALL1. A call ends in exactly one of its final states, exactly once; its output is the call's one outcome.
 * CALL2. The deadlines count from the start of the run, not from the queue. The handler cannot extend them; progress
 *        defers only the idle deadline.
 * CALL3. When a call is cancelled, its handler's signal is aborted, and the call waits for the handler until the drain
 *        deadline. A result in time counts. A failure makes the call `cancelled`, and the error policy is not called.
 *        When the arguments are still being checked, the handler has not begun, and the call does not wait.
 * CALL4. When a call is restarted, the signal of its former run is aborted, and the call waits for that run until the
 *        drain deadline. Then the handler runs again, with the same idempotency key and new deadlines. The result of
 *        the former run is discarded.
 * CALL5. A call whose handler ran never gets an outcome of a check (`invalid`, `not_found`, `denied`). Exception: a
 *        handler that ends with the refusal of its own `setPermissionMode` makes its call `denied` (PMODE5).
 * CALL6. When a result comes after a deadline of its call, the result is discarded and the call is `timed_out`, also when
 *        the handler blocked the thread and the deadline's timer could not run.
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

/** The callbacks of a running call, called without a chart event. */
export interface CallWatcher {
  readonly progressed: (value: unknown) => void
  /** The call entered this state by a cancel, a restart or the run after a restart. */
  readonly changed: (status: "running" | "cancelling" | "restarting") => void
  /** The handler asks to set the permission mode, and then sets it. */
  readonly wants?: ExecutionListener["wants"]
  readonly wished?: ExecutionListener["wished"]
}

/** The input of the chart. */
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
 * The events of a tool call.
 *
 * - `call.start`: starts a queued call
 * - `call.cancel`: cancels the call, which waits for its handler until the drain deadline
 * - `call.restart`: ends the handler and runs it again; ignored by a call that is not running
 * - `execution.settled`, from the actor `execution`: the result; whether the handler returned it; whether the handler was
 *   called; the deadline that had passed, in words; whether the handler ended with the refusal of its own
 *   `setPermissionMode`
 * - `deadline.passed`, from the actor `execution`: the missed deadline, in words, and whether the handler was called by
 *   then
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

/** The context of the chart. */
export interface ToolCallContext extends ToolCallInput {
  readonly outcome: ToolOutcome | undefined
  /** Whether the result of the present run is discarded. */
  readonly disowned: boolean
}

type ExecutionCommand =
  | { readonly type: "abort" }
  | { readonly type: "disown" }
  | { readonly type: "give.up"; readonly outcome: Zombie["outcome"] }

/**
 * Runs the handler and sends `execution.settled` or `deadline.passed`. `abort` and `disown` end the handler and wait
 * for it; `give.up` and a stop of the actor end it without waiting. The deadlines are timers of the system's clock:
 * delayed transitions would cost as much as the chart.
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

/** The outcome of a call whose process ends first: `failed` for an abnormal exit or no exit reason, else `cancelled`. */
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
    /** Spawned, not invoked: the handler outlives the state `running`, because `cancelling` waits for it. */
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

/** The text for the model when a call that writes was cancelled while its handler ran. */
const mayHaveTakenEffect = "the call was cancelled while it ran; it may have taken effect"

/** The texts for the model when a call missed a deadline. */
const mayTakeEffect = "it was told to stop, and may still take effect"
const neverBegan = "its arguments were still being checked, and it never started"
const tookTooLong = "it ended after that, and its result was discarded; it may have taken effect"

const lateMessage = ({ began }: { readonly began?: boolean }): string => (began === true ? tookTooLong : neverBegan)

/** A failure that the handler itself reports has the outcome `failed`, whatever the error (CALL5). */
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
