/**
 * The statechart of one model request: opening, streaming, then one final state; waiting, between two attempts to open it.
 *
 * Owns: the phases of a request and the place of its attempt, as data. Each attempt is the spawned actor `request`, which
 * finds the adapters and the options in its environment. The events do not pass through the chart: the actor attaches an
 * open stream to the outlet, and sends the end of the stream only.
 *
 * STREAM2. The machine ends `exhausted` when the reader has read past the last event, `refused` when the request could not
 *          be opened. Otherwise only a stop ends it.
 * STREAM3. A refused request is retried by its policy (`Retry`), then sent to each fallback in turn, with retries of its
 *          own (`Fallback`); never after its first event. The last refusal is the result. If a stream had opened, the last
 *          refusal becomes an `error` event.
 * STREAM4. When it is stopped or cancelled while it waits, it sends no further request, and leaves no timer.
 * STREAM5. A request cancelled on its own (`Chat.generate`) ends with an `error` event.
 * STREAM6. A request that is restored from its stored snapshot makes its present attempt again, or waits for the next one.
 *
 * @module
 */
import { StateMachine } from "@troupe/otp"
import { setup } from "xstate"
import { formatStatus, type PreflightError, StreamError } from "../errors/index.ts"
import { emit } from "../events/index.ts"
import { type Held, original } from "../values/index.ts"
import { nextFallback, notifyRetry, type RetriedAttempt, exhausted, request } from "./adapterRequest.ts"
import type { RequestEnv, RunnableRequest } from "./requestEnv.ts"
import type {
  AdapterStreamContext,
  AdapterStreamEvent,
  AdapterStreamOutput,
  RequestExhausted,
  RequestRefused
} from "./streamContext.ts"

const refusedIn = ({ event }: { readonly event: AdapterStreamEvent }): RequestRefused => event as RequestRefused

/** Ends the reply with this error. `request.exhausted` is sent when the reader has read past its event. */
const emitError = (
  sent: RunnableRequest,
  error: PreflightError | StreamError,
  send: (event: RequestExhausted) => void
): void => {
  sent.collector.fail(error)
  emit(sent.outlet, [{ type: "error", error }], () => send(exhausted(sent)))
}

/** The transitions of a refused attempt after which the request is sent again. */
const sentAgain = [
  {
    guard: { type: "isRetried", params: refusedIn },
    target: "waiting",
    actions: [
      { type: "recordRefusal", params: refusedIn },
      "release",
      {
        type: "notifyRetry",
        params: ({
          context: { attempt, fallback, delayMs },
          event
        }: {
          readonly context: AdapterStreamContext
          readonly event: AdapterStreamEvent
        }): RetriedAttempt => ({
          attempt,
          fallback,
          delayMs,
          error: refusedIn({ event }).error
        })
      }
    ]
  },
  {
    guard: { type: "hasFallback", params: refusedIn },
    target: "opening",
    reenter: true,
    actions: [{ type: "recordRefusal", params: refusedIn }, "release", "takeFallback"]
  }
] as const

/** The end of a request whose last attempt was refused after a stream had opened. */
const failed = {
  target: "streaming",
  actions: [
    { type: "recordRefusal", params: refusedIn },
    {
      type: "emitRefusal",
      params: ({ event }: { readonly event: AdapterStreamEvent }) => refusedIn({ event }).error
    }
  ]
} as const

const end = {
  target: "exhausted",
  actions: {
    type: "recordRead",
    params: ({ event }: { readonly event: AdapterStreamEvent }) => event as RequestExhausted
  }
} as const

export const streamActors = { request }

export const streamEffects = {
  notifyRetry: StateMachine.effect<RetriedAttempt, RequestEnv>((retried, { env }) =>
    notifyRetry(env.request(), retried)
  ),
  emitRefusal: StateMachine.effect<Held<PreflightError>, RequestEnv, RequestExhausted>((error, { env, send }) =>
    emitError(env.request(), original(error), send)
  ),
  emitCancelled: StateMachine.effect<unknown, RequestEnv, RequestExhausted>((_, { env, send }) =>
    emitError(env.request(), new StreamError("cancelled", { message: "The request was cancelled" }), send)
  )
}

const machine = setup({
  types: {
    context: {} as AdapterStreamContext,
    input: {} as { readonly adapter: string } | undefined,
    events: {} as AdapterStreamEvent,
    output: {} as AdapterStreamOutput
  },
  actors: streamActors,
  delays: { retry: ({ context }) => context.delayMs },
  guards: {
    isRetried: (_, { delayMs }: RequestRefused) => delayMs !== undefined,
    hasFallback: (_, { movesAlong }: RequestRefused) => movesAlong,
    wasOpened: ({ context }) => context.opened
  },
  actions: {
    ...streamEffects,
    /** Spawned, not invoked: the request outlives the state `opening`. */
    open: StateMachine.spawnChild("request", {
      id: "request",
      input: ({ context: { attempt, fallback } }: { readonly context: AdapterStreamContext }) => ({ attempt, fallback })
    }),
    release: StateMachine.stopChild("request"),
    markOpened: StateMachine.assign({ opened: true }),
    recordRefusal: StateMachine.assign((_, { error, delayMs = 0 }: RequestRefused) => ({ refusal: error, delayMs })),
    countAttempt: StateMachine.assign(({ context }) => ({ attempt: context.attempt + 1 })),
    takeFallback: StateMachine.assign(({ context }) => ({ attempt: 1, fallback: nextFallback(context) })),
    recordRead: StateMachine.assign((_, { read }: RequestExhausted) => ({ read })),
    refuse: StateMachine.assign({ ending: "refused" as const })
  }
}).createMachine({
  id: "adapterStream",
  context: {
    attempt: 1,
    fallback: undefined,
    delayMs: 0,
    opened: false,
    refusal: undefined,
    read: undefined,
    ending: "exhausted"
  },
  initial: "opening",
  states: {
    opening: {
      entry: "open",
      on: {
        "request.opened": { target: "streaming", actions: "markOpened" },
        "request.cancel": "cancelled",
        "request.refused": [
          ...sentAgain,
          { guard: "wasOpened", ...failed },
          { target: "refused", actions: [{ type: "recordRefusal", params: refusedIn }, "refuse"] }
        ]
      }
    },
    waiting: {
      on: { "request.cancel": "cancelled" },
      after: { retry: { target: "opening", actions: "countAttempt" } }
    },
    streaming: {
      on: {
        "request.cancel": "cancelled",
        "request.refused": [...sentAgain, failed],
        "request.exhausted": end
      }
    },
    cancelled: {
      entry: ["release", "emitCancelled"],
      on: { "request.exhausted": end }
    },
    exhausted: { type: "final" },
    refused: { type: "final" }
  },
  output: ({ context: { ending, refusal, read } }) =>
    ending === "refused" && refusal !== undefined
      ? { type: "refused", error: refusal }
      : { type: "exhausted", ...(read !== undefined && { read }) }
})

/** Runs one model request: opening, waiting before another attempt, streaming, then exhausted or refused. */
export const adapterStreamMachine = StateMachine.hosted(StateMachine.published(machine), {
  formatStatus,
  label: (input) => (input === undefined ? "AdapterStream" : `AdapterStream ${input.adapter}`)
})
