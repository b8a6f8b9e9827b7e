/**
 * The statechart of one tool call.
 *
 * Owns: the phases of a call, as data. The handler and its deadlines are the spawned actor `handler`, which finds the
 * tool, the arguments and the options of the call in its environment.
 *
 * CALL1. A call ends in exactly one of its final states, exactly once; its output is how the call ended.
 * CALL3. When a call is cancelled, its handler's fiber is interrupted, and the call waits for the handler until the drain
 *        deadline. A result in time counts. A failure makes the call `cancelled`, and the error policy is not called.
 *        When the arguments are still being checked, the handler has not begun, and the call does not wait.
 * CALL4. When a call is restarted, the fiber of its former run is interrupted, and the call waits for that run until the
 *        drain deadline. Then the handler runs again, with the same idempotency key and new deadlines. The result of
 *        the former run is discarded.
 * CALL5. A call whose handler ran never gets an outcome of a check (`invalid`, `not_found`, `denied`). Exception: a
 *        handler that ends with the refusal of its own `setPermissionMode` makes its call `denied` (PMODE5).
 * CALL6. When a result comes after a deadline of its call, the result is discarded and the call is `timed_out`, also when
 *        the handler blocked the thread and the deadline's timer could not run.
 *
 * @module
 */
import { StateMachine } from "@troupe/otp"
import { setup } from "xstate"
import { boundEnvironment, formatStatus } from "../errors/index.ts"
import type { CallEnd, SettledRun, ToolCallEvent, ToolCallInput } from "./callEvents.ts"
import type { CallEnv } from "./callEnv.ts"
import { handler } from "./handlerRun.ts"
import type { Zombie } from "./zombieTable.ts"

export interface ToolCallContext {
  readonly index: number
  readonly drainMs: number
  readonly startAtOnce: boolean
  /** Whether the result of the present run is discarded. */
  readonly disowned: boolean
  readonly end: CallEnd | undefined
}

const settledIn = ({ event }: { readonly event: ToolCallEvent }) =>
  event as Extract<ToolCallEvent, { readonly type: "handler.settled" }>

export const callActors = { handler }

export const callEffects = {
  notify: StateMachine.effect<
    { readonly index: number; readonly status: "running" | "cancelling" | "restarting" },
    CallEnv
  >(({ index, status }, { env }) => boundEnvironment(env).call(index).changed?.(status))
}

const machine = setup({
  types: {
    context: {} as ToolCallContext,
    input: {} as ToolCallInput,
    events: {} as ToolCallEvent,
    output: {} as CallEnd
  },
  actors: callActors,
  guards: {
    hasSlot: ({ context }) => context.startAtOnce,
    isLate: (_, { missed }: SettledRun) => missed !== undefined,
    isInterrupted: (_, { interrupted }: SettledRun) => interrupted === true,
    fails: ({ context }, { failed }: SettledRun) => context.disowned || failed
  },
  delays: {
    drain: ({ context }) => context.drainMs
  },
  actions: {
    ...callEffects,
    /** Spawned, not invoked: the handler outlives the state `running`, because `cancelling` waits for it. */
    execute: StateMachine.spawnChild("handler", { id: "handler", input: ({ context }) => context.index }),
    endRun: StateMachine.stopChild("handler"),
    abort: StateMachine.sendTo("handler", { type: "abort" }),
    disown: StateMachine.sendTo("handler", { type: "disown" }),
    giveUpRun: StateMachine.sendTo("handler", (_, outcome: Zombie["outcome"]) => ({ type: "give.up", outcome })),
    markDisowned: StateMachine.assign({ disowned: true }),
    markOwned: StateMachine.assign({ disowned: false }),
    timeOut: StateMachine.assign((_, { missed, began }: { readonly missed: string; readonly began: boolean }) => ({
      end: { type: "timed_out" as const, missed, began, late: false }
    })),
    discardLate: StateMachine.assign((_, { missed = "", began }: SettledRun) => ({
      end: { type: "timed_out" as const, missed, began, late: true }
    })),
    recordCancel: StateMachine.assign((_, began: boolean) => ({ end: { type: "cancelled" as const, began } })),
    recordAbandon: StateMachine.assign({ end: { type: "abandoned" as const } }),
    record: StateMachine.assign((_, { result, byHandler, began, refused }: SettledRun) => ({
      end: { type: "returned" as const, result, byHandler, began, refused }
    }))
  }
}).createMachine({
  id: "toolCall",
  context: ({ input }) => ({
    index: input.index ?? 0,
    drainMs: input.drainMs,
    startAtOnce: input.startAtOnce ?? false,
    disowned: false,
    end: undefined
  }),
  initial: "queued",
  states: {
    queued: {
      always: { guard: "hasSlot", target: "running" },
      on: {
        "call.start": "running",
        "call.cancel": { target: "cancelled", actions: { type: "recordCancel", params: false } }
      }
    },
    running: {
      entry: "execute",
      on: {
        "handler.settled": [
          {
            guard: { type: "isLate", params: settledIn },
            target: "timed_out",
            actions: { type: "discardLate", params: settledIn }
          },
          {
            guard: { type: "isInterrupted", params: settledIn },
            target: "cancelled",
            actions: { type: "recordCancel", params: ({ event }) => event.began }
          },
          {
            guard: { type: "fails", params: settledIn },
            target: "failed",
            actions: { type: "record", params: settledIn }
          },
          { target: "completed", actions: { type: "record", params: settledIn } }
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
      entry: { type: "notify", params: ({ context: { index } }) => ({ index, status: "cancelling" }) },
      after: { drain: { target: "abandoned", actions: [{ type: "giveUpRun", params: "abandoned" }, "recordAbandon"] } },
      on: {
        "handler.settled": [
          {
            guard: { type: "fails", params: settledIn },
            target: "cancelled",
            actions: { type: "recordCancel", params: ({ event }) => event.began }
          },
          { target: "completed", actions: { type: "record", params: settledIn } }
        ]
      }
    },
    restarting: {
      entry: { type: "notify", params: ({ context: { index } }) => ({ index, status: "restarting" }) },
      after: {
        drain: {
          target: "running",
          actions: [
            { type: "giveUpRun", params: "restarted" },
            "endRun",
            "markOwned",
            { type: "notify", params: ({ context: { index } }) => ({ index, status: "running" }) }
          ]
        }
      },
      on: {
        "handler.settled": {
          target: "running",
          actions: [
            "endRun",
            "markOwned",
            { type: "notify", params: ({ context: { index } }) => ({ index, status: "running" }) }
          ]
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
  output: ({ context }) => context.end as CallEnd
})

/** Runs one tool call: queued, running, cancelling or restarting, then one final state. */
export const toolCallMachine = StateMachine.hosted(StateMachine.published(machine), {
  formatStatus,
  label: (input) => `ToolCall ${input?.name ?? ""}`
})
