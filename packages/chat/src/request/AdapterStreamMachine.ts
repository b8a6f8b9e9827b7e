/**
 * The statechart of one model request: opening, streaming, then one final state; waiting, between two attempts to open it.
 *
 * Owns: the phases of a request, the number of attempts, and their adapters. The events do not pass through it: an open
 * stream is attached to the outlet, and the chart is notified of its end only.
 *
 * STREAM1. An opened request is released exactly once, however it ends.
 * STREAM2. The machine ends `exhausted` when the reader has read past the last event, `refused` when the request could not
 *          be opened. Otherwise only a stop ends it.
 * STREAM3. A refused request is retried by its policy (`Retry`), then sent to each fallback in turn, with retries of its
 *          own (`Fallback`); never after its first event. The last refusal is the result. If the stream had opened, a
 *          refusal in place of the first event becomes an `error` event.
 * STREAM4. When it is stopped or cancelled while it waits, it sends no further request, and leaves no timer.
 * STREAM5. A request cancelled on its own (`Chat.generate`) ends with an `error` event.
 *
 * @module
 */
import { System } from "@troupe/otp"
import { assign, sendTo, setup, fromCallback } from "xstate"
import { AdapterError, isPreflightError, type PreflightError, StreamError } from "../errors/index.ts"
import * as Fallback from "../adapter/Fallback.ts"
import { chart } from "../chart/index.ts"
import { fallbackOf, nextDelay, notifyRetry, attemptOf } from "./attempts.ts"
import { emit, type EventsTaken } from "../events/index.ts"
import { describe } from "../toolResult/index.ts"
import type { AdapterStreamInput, AdapterStreamContext, AdapterStreamOutput } from "./streamContext.ts"
import { AdapterRequest } from "./adapterRequest.ts"

/**
 * The events of a request's chart.
 *
 * - `request.opened`: events can be read
 * - `request.refused`: it could not be opened, or failed before its first event; `error` is the adapter's exception,
 *   `opened` whether a stream was ever open
 * - `request.exhausted`: the reader has read past its last event
 * - `request.cancel`: end early, with an `error` event
 * - `events.taken`: the reader has read past that event
 */
export type AdapterStreamEvent =
  | { readonly type: "request.opened" }
  | { readonly type: "request.refused"; readonly error: unknown; readonly opened: boolean }
  | { readonly type: "request.exhausted" }
  | { readonly type: "request.cancel" }
  | EventsTaken

type RequestCommand =
  | { readonly type: "request.open"; readonly context: AdapterStreamContext }
  | { readonly type: "request.fail"; readonly error: PreflightError }
  | { readonly type: "request.release" }

const unread = {
  "request.cancel": "cancelled",
  "request.refused": [
    { guard: "isRetried", target: "waiting", actions: ["recordRefusal", "planRetry", "notifyRetry"] },
    { guard: "hasFallback", target: "opening", actions: ["recordRefusal", "takeFallback", "open"] },
    { guard: "wasOpened", target: "streaming", actions: ["recordRefusal", "fail"] },
    { target: "refused", actions: ["recordRefusal", "refuse"] }
  ]
} as const

/**
 * Opens the request and attaches its stream to the outlet. When it is stopped, it releases its resources once (STREAM1).
 */
const request = fromCallback<RequestCommand, AdapterStreamContext>(({ input, sendBack, receive }) => {
  const running = new AdapterRequest(input, {
    opened: () => sendBack({ type: "request.opened" }),
    refused: (error, opened) => sendBack({ type: "request.refused", error, opened }),
    exhausted: () => sendBack({ type: "request.exhausted" })
  })
  receive((command) => {
    if (command.type === "request.open") running.open(attemptOf(command.context))
    else if (command.type === "request.fail") running.fail(command.error)
    else running.release()
  })
  running.open(attemptOf(input))
  return () => running.release()
})

const machine = setup({
  types: {
    context: {} as AdapterStreamContext,
    input: {} as AdapterStreamInput,
    events: {} as AdapterStreamEvent,
    output: {} as AdapterStreamOutput
  },
  actors: { request },
  delays: { retry: ({ context }) => context.delayMs },
  guards: {
    isRetried: ({ context, event }) =>
      event.type === "request.refused" && nextDelay(context, event.error, () => 0) >= 0,
    hasFallback: ({ context, event }) =>
      event.type === "request.refused" &&
      fallbackOf(context, nextFallback(context)) !== undefined &&
      Fallback.movesAlong(event.error),
    wasOpened: ({ event }) => event.type === "request.refused" && event.opened
  },
  actions: {
    recordRefusal: assign(({ event }) => (event.type === "request.refused" ? { refusal: event.error } : {})),
    planRetry: assign(({ context }) => ({
      delayMs: nextDelay(context, context.refusal, () => System.random(context.options.system, "retries"))
    })),
    notifyRetry: ({ context }) => notifyRetry(context),
    countAttempt: assign(({ context }) => ({ attempt: context.attempt + 1 })),
    takeFallback: assign(({ context }) => ({ attempt: 1, fallback: nextFallback(context) })),
    open: sendTo("request", ({ context }) => ({ type: "request.open", context })),
    refuse: assign(({ context }) => ({ output: { type: "refused", error: refusalOf(context.refusal) } })),
    fail: sendTo("request", ({ context }) => ({ type: "request.fail", error: refusalOf(context.refusal) })),
    release: sendTo("request", { type: "request.release" }),
    emitCancelled: ({ context, self }) => {
      const error = new StreamError("cancelled", { message: "The request was cancelled" })
      context.collector.fail(error)
      emit(context.outlet, [{ type: "error", error }], self)
    }
  }
}).createMachine({
  id: "adapterStream",
  context: ({ input }) => ({
    ...input,
    attempt: 1,
    fallback: undefined,
    delayMs: 0,
    refusal: undefined,
    output: { type: "exhausted" }
  }),
  invoke: { id: "request", src: "request", input: ({ context }) => context },
  initial: "opening",
  states: {
    opening: {
      on: { ...unread, "request.opened": "streaming" }
    },
    waiting: {
      on: { "request.cancel": "cancelled" },
      after: { retry: { target: "opening", actions: ["countAttempt", "open"] } }
    },
    streaming: {
      on: { ...unread, "request.exhausted": "exhausted" }
    },
    cancelled: {
      entry: ["release", "emitCancelled"],
      on: { "events.taken": "exhausted" }
    },
    exhausted: { type: "final" },
    refused: { type: "final" }
  },
  output: ({ context }) => context.output
})

/** Runs one model request: opening, waiting before another attempt, streaming, then exhausted or refused. */
export const adapterStreamMachine = chart(machine)

const nextFallback = ({ fallback }: AdapterStreamContext): number => (fallback === undefined ? 0 : fallback + 1)

const refusalOf = (error: unknown): PreflightError =>
  isPreflightError(error)
    ? error
    : new AdapterError("unknown", {
        cause: error,
        message: `The adapter could not open the request: ${describe(error)}`
      })
