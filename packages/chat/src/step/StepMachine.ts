/**
 * The statechart of one step: a model request (phase A), the tools it asked for (phase B), one `step_completed` (phase C).
 *
 * Owns: which phase comes next, and the data of the step. Does not own the live things of the step (`stepRun`), the events,
 * which the outlet emits, nor the loop around steps.
 *
 * STEP1. All adapter events come before all tool events, and those before the one `step_completed`, which is the last.
 * STEP2. Phase B begins when the reader has read past the adapter's last event, never because of an event's content, and
 *        only if the finish reason is `tool_calls`.
 * STEP3. Leaving a phase releases its resources, once: the adapter's stream in A, the tool processes in B.
 * STEP4. A cancelled step still ends with its `step_completed`: in A at once, in B when the running calls have ended or
 *        their drain deadline passed.
 * STEP5. A request that could not be opened ends the step in `refused`, without any event.
 *
 * @module
 * @source ALLM.Chat, "Stream composition"
 */
import { StateMachine } from "@troupe/otp"
import { type DoneActorEvent, type ErrorActorEvent, type EventObject, setup } from "xstate"
import { batchMachine, type ToolBatchResult } from "../batch/index.ts"
import { boundEnvironment } from "../errors/index.ts"
import { emit, type EventsTaken } from "../events/index.ts"
import { adapterStreamMachine, type AdapterStreamOutput } from "../request/index.ts"
import { type Held, held } from "../values/index.ts"
import type { StepEnv } from "./stepEnv.ts"
import type { StepContext, StepData, StepEnding, StepEvent, StepOutput, StepStart } from "./stepEvents.ts"

type Of<Type extends StepEvent["type"]> = Extract<StepEvent, { readonly type: Type }>

/** The end of the actor of a phase. */

/** What the live side of a step is found by, or made again after a restore. */
const dataOf = ({ context }: { readonly context: StepContext }): StepData => {
  const { thread, aside, open, id, reply } = context
  return { thread, aside, open, id, reply }
}

/** Begins a step. */
const begin = StateMachine.fromCallback<StepStart, StepEnv, EventObject, Of<"step.began">>(({ input, env, send }) =>
  send(boundEnvironment(env).beginStep(input).began)
)

/** Finds the live side of a step, for the request or the batch that starts next. */
const find = StateMachine.fromCallback<StepData, StepEnv>(({ input, env }) => void env.stepOf(input))

/** Reads the reply. */
const read = StateMachine.fromCallback<StepData, StepEnv, EventObject, Of<"reply.read">>(({ input, env, send }) =>
  send(env.stepOf(input).read())
)

/** Makes the result, and emits the last events. */
const finish = StateMachine.fromCallback<
  StepData & { readonly ending: StepEnding },
  StepEnv,
  EventObject,
  Of<"step.finished"> | EventsTaken
>(({ input: { ending, ...data }, env, send }) => {
  const step = env.stepOf(data)
  const { finished, events } = step.finish(ending)
  send(finished)
  emit(step.outlet, events, { send })
})

export const stepActors = { adapterStream: adapterStreamMachine, toolBatch: batchMachine, begin, find, read, finish }

export const stepEffects = {
  traceRefusal: StateMachine.effect<StepData & Pick<StepContext, "refusal">, StepEnv>(({ refusal, ...data }, { env }) =>
    env.stepOf(data).refused(refusal)
  )
}

const stepSetup = setup({
  types: {
    context: {} as StepContext,
    input: {} as StepStart,
    events: {} as StepEvent,
    output: {} as StepOutput
  },
  actors: stepActors,
  guards: {
    wasRefused: (_, output: AdapterStreamOutput) => output.type === "refused",
    requestsTools: (_, { count }: Of<"reply.read">) => count > 0,
    requestsUnknownTool: (_, { hasUnknownTool }: Of<"reply.read">) => hasUnknownTool
  },
  actions: {
    ...stepEffects,
    recordBegin: StateMachine.assign((_, { id, count, adapter }: Of<"step.began">) => ({ id, count, adapter })),
    recordReply: StateMachine.assign((_, { reply, count }: Of<"reply.read">) => ({ reply, count })),
    recordRefusal: StateMachine.assign((_, output: AdapterStreamOutput) => ({
      refusal: output.type === "refused" ? output.error : undefined
    })),
    endWith: StateMachine.assign((_, ending: StepEnding) => ({ ending })),
    cancelBatch: StateMachine.sendTo("toolBatch", { type: "batch.cancel" }),
    recordResult: StateMachine.assign((_, { result, open }: Of<"step.finished">) => ({ result, stillOpen: open }))
  }
})

const initialContext = ({ input: { thread, aside, open } }: { readonly input: StepStart }): StepContext => ({
  thread,
  aside,
  open,
  id: undefined,
  reply: undefined,
  adapter: "",
  count: 0,
  ending: { type: "answered" },
  refusal: undefined,
  result: undefined,
  stillOpen: undefined
})

const startOf = ({ context: { thread, aside, open } }: { readonly context: StepContext }): StepStart => ({
  thread,
  aside,
  open
})

const replyIn = ({ event }: { readonly event: StepEvent }): Of<"reply.read"> => event as Of<"reply.read">

/** The phases of both kinds of step: the tools, and the end. */
const toolPhases = {
  phaseB: {
    invoke: [
      { src: "find", input: dataOf },
      {
        id: "toolBatch",
        src: "toolBatch",
        input: ({ context: { count } }: { readonly context: StepContext }) => ({ count }),
        onDone: {
          target: "phaseC",
          actions: {
            type: "endWith",
            params: ({ event }: { readonly event: DoneActorEvent<Held<ToolBatchResult>> }): StepEnding => ({
              type: "called",
              result: event.output
            })
          }
        },
        onError: {
          target: "phaseC",
          actions: {
            type: "endWith",
            params: ({ event }: { readonly event: ErrorActorEvent }): StepEnding => ({
              type: "batch_died",
              cause: held(event.error)
            })
          }
        }
      }
    ],
    on: { "step.cancel": { actions: "cancelBatch" } }
  },
  phaseC: {
    invoke: {
      src: "finish",
      input: ({ context }: { readonly context: StepContext }) => ({ ...dataOf({ context }), ending: context.ending })
    },
    on: {
      "step.finished": {
        actions: {
          type: "recordResult",
          params: ({ event }: { readonly event: StepEvent }) => event as Of<"step.finished">
        }
      },
      "events.taken": "done"
    }
  },
  done: { type: "final" }
} as const

const outputOf = ({ context: { refusal, result, stillOpen } }: { readonly context: StepContext }): StepOutput =>
  refusal !== undefined || result === undefined
    ? { type: "refused", error: refusal as NonNullable<typeof refusal> }
    : { type: "completed", result, open: stillOpen }

const step = stepSetup.createMachine({
  id: "step",
  context: initialContext,
  initial: "phaseA",
  states: {
    phaseA: {
      initial: "beginning",
      states: {
        beginning: {
          invoke: { src: "begin", input: startOf },
          on: { "step.began": { target: "requesting", actions: { type: "recordBegin", params: ({ event }) => event } } }
        },
        requesting: {
          invoke: [
            { src: "find", input: dataOf },
            {
              id: "adapterStream",
              src: "adapterStream",
              input: ({ context }) => ({ adapter: context.adapter }),
              onDone: [
                {
                  guard: { type: "wasRefused", params: ({ event }) => event.output },
                  target: "#step.refused",
                  actions: { type: "recordRefusal", params: ({ event }) => event.output }
                },
                { target: "reading" }
              ],
              onError: {
                target: "#step.phaseC",
                actions: {
                  type: "endWith",
                  params: ({ event }: { readonly event: ErrorActorEvent }): StepEnding => ({
                    type: "request_died",
                    cause: held(event.error)
                  })
                }
              }
            }
          ]
        },
        /** The request has ended: its reply says which phase comes next. */
        reading: {
          invoke: { src: "read", input: dataOf },
          on: {
            "reply.read": [
              {
                guard: { type: "requestsUnknownTool", params: replyIn },
                target: "#step.phaseC",
                actions: [
                  { type: "recordReply", params: replyIn },
                  { type: "endWith", params: { type: "unknown_tool" } }
                ]
              },
              {
                guard: { type: "requestsTools", params: replyIn },
                target: "#step.phaseB",
                actions: { type: "recordReply", params: replyIn }
              },
              { target: "#step.phaseC", actions: { type: "recordReply", params: replyIn } }
            ]
          }
        }
      },
      on: { "step.cancel": { target: "phaseC", actions: { type: "endWith", params: { type: "cancelled" } } } }
    },
    ...toolPhases,
    refused: {
      type: "final",
      entry: { type: "traceRefusal", params: ({ context }) => ({ ...dataOf({ context }), refusal: context.refusal }) }
    }
  },
  output: outputOf
})

/** Runs one step: phaseA, phaseB, phaseC, then done; or refused. */
export const stepMachine = StateMachine.hosted(StateMachine.published(step), { inside: true })

const resumedStep = stepSetup.createMachine({
  id: "resumedStep",
  context: initialContext,
  initial: "beginning",
  states: {
    /** The environment reads which of the open calls run. */
    beginning: {
      invoke: { src: "begin", input: startOf },
      on: { "step.began": { target: "phaseB", actions: { type: "recordBegin", params: ({ event }) => event } } }
    },
    ...toolPhases
  },
  output: outputOf
})

/** Continues with the open calls of a thread: phaseB, phaseC, then done. */
export const resumedStepMachine = StateMachine.hosted(StateMachine.published(resumedStep), { inside: true })
