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
import { StateMachine } from "@troupe/otp"
import { Effect } from "effect"
import { assign, setup } from "xstate"
import type { Adapter } from "./Adapter.ts"
import { AdapterError, isPreflightError, type PreflightError } from "./ChatError.ts"
import type { AdapterEvent } from "./Event.ts"
import { adapterOptions, AdapterSource } from "./internal/adapterSource.ts"
import { LazyAbort } from "./internal/lazyAbort.ts"
import type { Outlet } from "./internal/outlet.ts"
import type { RunOptions } from "./internal/resolveOptions.ts"
import type { Request } from "./Request.ts"
import type { StreamCollector } from "./StreamCollector.ts"

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

/** What a request's snapshot holds. */
export interface AdapterStreamContext extends AdapterStreamInput {
  readonly abort: LazyAbort
  readonly stream: AsyncIterable<AdapterEvent> | undefined
  readonly output: AdapterStreamOutput
}

/** Asks the adapter to open the request. Stopped meanwhile, it aborts, and releases what opens all the same. */
const open = StateMachine.fromEffect(({ input }: { readonly input: AdapterStreamContext }) =>
  Effect.callback<AsyncIterable<AdapterEvent>, unknown>((resume) => {
    const { adapter, request, options, abort } = input
    let opening: AsyncIterable<AdapterEvent> | Promise<AsyncIterable<AdapterEvent>>
    try {
      opening = adapter.stream(request, adapterOptions(options, abort))
    } catch (error) {
      return resume(Effect.fail(error))
    }
    if (!(opening instanceof Promise)) return resume(Effect.succeed(opening))
    const arriving = opening
    arriving.then(
      (stream) => resume(Effect.succeed(stream)),
      (error: unknown) => resume(Effect.fail(error))
    )
    return Effect.sync(() => {
      abort.abort()
      arriving.then((stream) => stream[Symbol.asyncIterator]().return?.(), ignore)
    })
  })
)

/** Attaches the open stream to the outlet and waits for its end; being stopped releases it (STREAM1). */
const read = StateMachine.fromEffect(({ input }: { readonly input: AdapterStreamContext }) =>
  Effect.callback<void>((resume) => {
    const { stream, collector, options, abort, outlet } = input
    if (stream === undefined) return resume(Effect.void)
    const letGo = outlet.hold()
    const source = new AdapterSource(stream, collector, options, abort, () => {
      letGo()
      resume(Effect.void)
    })
    outlet.attach(source)
    return Effect.promise(() => source.release().then(letGo))
  })
)

/** Runs one model request: opening, streaming, then exhausted or refused. */
export const adapterStreamMachine = setup({
  types: {
    context: {} as AdapterStreamContext,
    input: {} as AdapterStreamInput,
    output: {} as AdapterStreamOutput
  },
  actors: { open, read }
}).createMachine({
  id: "adapterStream",
  context: ({ input }) => ({ ...input, abort: new LazyAbort(), stream: undefined, output: { type: "exhausted" } }),
  initial: "opening",
  states: {
    opening: {
      invoke: {
        src: "open",
        input: ({ context }) => context,
        onDone: { target: "streaming", actions: assign({ stream: ({ event }) => event.output }) },
        onError: {
          target: "refused",
          actions: assign({ output: ({ event }) => ({ type: "refused", error: refusal(event.error) }) })
        }
      }
    },
    streaming: {
      invoke: { src: "read", input: ({ context }) => context, onDone: "exhausted" }
    },
    exhausted: { type: "final" },
    refused: { type: "final" }
  },
  output: ({ context }) => context.output
})

const refusal = (error: unknown): PreflightError =>
  isPreflightError(error)
    ? error
    : new AdapterError("unknown", { cause: error, message: `The adapter could not open the request: ${String(error)}` })

const ignore = (): void => {}
