/**
 * The statechart of the tool calls of one assistant message.
 *
 * Owns: the phase of the batch, and the outcomes so far, as data. The actor `calls` decides which call starts when, and
 * makes the outcomes; each call runs in a chart and a process of its own.
 *
 * The files `runningCalls.ts`, `batchCalls.ts` and `batchEvents.ts` state BATCH1 and BATCH3 to BATCH10.
 *
 * @module
 */
import { StateMachine } from "@troupe/otp"
import { type DoneActorEvent, type ErrorActorEvent, setup } from "xstate"
import { type CallEnd, type ToolCallInput, toolCallMachine } from "../call/index.ts"
import { type Held, held } from "../values/index.ts"
import type { BatchEvent, BatchState, CallState } from "./batchEvents.ts"
import type { ToolBatchResult } from "./batchContract.ts"
import { calls } from "./callsActor.ts"

/** The batch so far, and its result. */
export interface BatchContext extends BatchState {
  readonly result: Held<ToolBatchResult> | undefined
}

type Of<Type extends BatchEvent["type"]> = Extract<BatchEvent, { readonly type: Type }>

const waiting: CallState = { begun: false }
const begun: CallState = { begun: true }

const childOf = (index: number): string => `call:${index}`

const indexOf = ({ type }: { readonly type: string }): number => Number(type.slice(type.lastIndexOf(":") + 1))

const end = {
  target: "done",
  actions: {
    type: "recordResult",
    params: ({ event }: { readonly event: BatchEvent }) => event as Of<"calls.exhausted">
  }
} as const

const drain = {
  target: "draining",
  actions: {
    type: "recordDraining",
    params: ({ event }: { readonly event: BatchEvent }) => event as Of<"calls.draining">
  }
} as const

export const batchActors = { calls, toolCall: toolCallMachine }

const machine = setup({
  types: {
    context: {} as BatchContext,
    input: {} as { readonly count: number },
    events: {} as BatchEvent,
    output: {} as Held<ToolBatchResult>
  },
  actors: batchActors,
  actions: {
    start: StateMachine.spawnChild("toolCall", {
      id: ({ event }: { readonly event: BatchEvent }) => childOf((event as Of<"call.begin">).index),
      input: ({ event }: { readonly event: BatchEvent }): ToolCallInput => {
        const { type: _, ...input } = event as Of<"call.begin">
        return input
      }
    }),
    cancelCall: StateMachine.sendToChild((_: unknown, index: number) => childOf(index), { type: "call.cancel" }),
    restartCall: StateMachine.sendToChild((_: unknown, index: number) => childOf(index), { type: "call.restart" }),
    command: StateMachine.sendTo("calls", ({ event }) => event),
    reportEnd: StateMachine.sendTo("calls", ({ event }) => ({
      type: "call.ended",
      index: indexOf(event),
      end: (event as unknown as DoneActorEvent<CallEnd>).output
    })),
    reportDeath: StateMachine.sendTo("calls", ({ event }) => ({
      type: "call.died",
      index: indexOf(event),
      reason: held((event as unknown as ErrorActorEvent).error)
    })),
    begin: StateMachine.sendTo(
      "calls",
      ({ context: { calls: states, halts, cancelled } }: { readonly context: BatchContext }) => ({
        type: "begin",
        calls: states,
        halts,
        cancelled
      })
    ),
    recordBegin: StateMachine.assign(({ context: { calls: states } }, index: number) => ({
      calls: states.with(index, begun)
    })),
    recordCancelled: StateMachine.assign(({ context: { calls: states } }, index: number) => ({
      calls: states.with(index, { begun: true, cancelled: true })
    })),
    recordFollowing: StateMachine.assign(({ context: { calls: states } }, { index, outcome }: Of<"call.follows">) => ({
      calls: states.with(index, { begun: true, following: outcome })
    })),
    recordOutcome: StateMachine.assign(
      ({ context: { calls: states, halts: before } }, { index, outcome, halts }: Of<"call.over">) => ({
        calls: states.with(index, { begun: true, outcome }),
        halts: halts && !before.includes(index) ? [...before, index] : before
      })
    ),
    recordAsk: StateMachine.assign(({ context: { calls: states } }, { index, child }: Of<"call.asks">) => ({
      calls: states.with(index, { begun: true, child })
    })),
    recordDraining: StateMachine.assign(({ context }, { cancelled }: Of<"calls.draining">) => ({
      cancelled: context.cancelled || cancelled
    })),
    recordResult: StateMachine.assign((_, { result }: Of<"calls.exhausted">) => ({ result }))
  }
}).createMachine({
  id: "batch",
  context: ({ input: { count } }) => ({
    calls: Array.from({ length: count }, () => waiting),
    halts: [],
    cancelled: false,
    result: undefined
  }),
  invoke: { id: "calls", src: "calls" },
  initial: "gating",
  on: {
    "calls.ready": { actions: "begin" },
    "call.begin": { actions: ["start", { type: "recordBegin", params: ({ event }) => event.index }] },
    "call.cancel": {
      actions: [
        { type: "cancelCall", params: ({ event }) => event.index },
        { type: "recordCancelled", params: ({ event }) => event.index }
      ]
    },
    "call.restart": { actions: { type: "restartCall", params: ({ event }) => event.index } },
    "call.follows": { actions: { type: "recordFollowing", params: ({ event }) => event } },
    "call.over": { actions: { type: "recordOutcome", params: ({ event }) => event } },
    "call.asks": { actions: { type: "recordAsk", params: ({ event }) => event } },
    "calls.cancel": { actions: "command" },
    "calls.restart": { actions: "command" },
    "batch.cancel": { actions: "command" },
    "xstate.done.actor.*": { actions: "reportEnd" },
    "xstate.error.actor.*": { actions: "reportDeath" }
  },
  states: {
    gating: { on: { "calls.judged": "running", "calls.draining": drain, "calls.exhausted": end } },
    running: { on: { "calls.draining": drain, "calls.exhausted": end } },
    draining: { on: { "calls.draining": { actions: drain.actions }, "calls.exhausted": end } },
    done: { type: "final" }
  },
  output: ({ context }) => context.result as Held<ToolBatchResult>
})

/** Runs a batch of tool calls: gating while its calls are judged, running, draining after a halt or a cancel, done. */
export const batchMachine = StateMachine.hosted(StateMachine.published(machine), { label: () => "ToolBatch" })
