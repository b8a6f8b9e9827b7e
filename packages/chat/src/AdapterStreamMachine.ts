/**
 * The chart of one model request: opening, streaming, then one final state.
 *
 * Owns: the phases of a request. The events themselves do not pass through it: an open stream is attached to the outlet,
 * and the chart hears of its end only.
 *
 * STREAM1. A request that was opened is released exactly once, however it ends.
 * STREAM2. The machine ends `exhausted` when the reader asked past the last event, `refused` when the request could not
 *          be opened; nothing else ends it but being stopped.
 *
 * @module
 */
import { assign, fromCallback, setup } from "xstate"
import type { Adapter } from "./Adapter.ts"
import { AdapterError, isPreflightError, type PreflightError } from "./ChatError.ts"
import { AdapterRequest } from "./internal/adapterRequest.ts"
import type { Outlet } from "./internal/outlet.ts"
import type { RunOptions } from "./internal/resolveOptions.ts"
import type { Request } from "./Request.ts"
import type { StreamCollector } from "./StreamCollector.ts"
import { describe } from "./ToolResultEncoder.ts"

/** What a request's chart is started with. */
export interface AdapterStreamInput {
  readonly adapter: Adapter
  readonly request: Request
  readonly options: RunOptions
  readonly collector: StreamCollector
  readonly outlet: Outlet
}

/** How a request ended: read to its end, or refused before its first event. */
export type AdapterStreamOutput =
  | { readonly type: "exhausted" }
  | { readonly type: "refused"; readonly error: PreflightError }

/**
 * What a request's chart hears of.
 *
 * - `request.opened`: events can be read
 * - `request.refused`: it could not be opened
 * - `request.exhausted`: the reader asked past its last event
 */
export type AdapterStreamEvent =
  | { readonly type: "request.opened" }
  | { readonly type: "request.refused"; readonly error: PreflightError }
  | { readonly type: "request.exhausted" }

/** What a request's snapshot holds. */
export interface AdapterStreamContext extends AdapterStreamInput {
  readonly output: AdapterStreamOutput
}

/** Opens the request and attaches its stream to the outlet. Stopped, it releases what it holds, once (STREAM1). */
const request = fromCallback<{ readonly type: "never" }, AdapterStreamInput, AdapterStreamEvent>(
  ({ input, sendBack }) => {
    const running = new AdapterRequest(input, {
      opened: () => sendBack({ type: "request.opened" }),
      refused: (error) => sendBack({ type: "request.refused", error: refusal(error) }),
      exhausted: () => sendBack({ type: "request.exhausted" })
    })
    running.open()
    return () => running.release()
  }
)

/** Runs one model request: opening, streaming, then exhausted or refused. */
export const adapterStreamMachine = setup({
  types: {
    context: {} as AdapterStreamContext,
    input: {} as AdapterStreamInput,
    events: {} as AdapterStreamEvent,
    output: {} as AdapterStreamOutput
  },
  actors: { request }
}).createMachine({
  id: "adapterStream",
  context: ({ input }) => ({ ...input, output: { type: "exhausted" } }),
  invoke: { src: "request", input: ({ context }) => context },
  initial: "opening",
  states: {
    opening: {
      on: {
        "request.opened": "streaming",
        "request.refused": {
          target: "refused",
          actions: assign({ output: ({ event }) => ({ type: "refused", error: event.error }) })
        }
      }
    },
    streaming: { on: { "request.exhausted": "exhausted" } },
    exhausted: { type: "final" },
    refused: { type: "final" }
  },
  output: ({ context }) => context.output
})

const refusal = (error: unknown): PreflightError =>
  isPreflightError(error)
    ? error
    : new AdapterError("unknown", {
        cause: error,
        message: `The adapter could not open the request: ${describe(error)}`
      })
