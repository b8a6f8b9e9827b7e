/**
 * Actor logic whose work is one fiber.
 *
 * EACT1. Stopping the actor interrupts the fiber at once; its finalizers run once, its result is discarded.
 * EACT2. The fiber is a resource of the actor's process, if there is one.
 * EACT3. A synchronous result is delivered synchronously; a later one in a turn of that process.
 */
import { System } from "../core/index.ts"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Stream from "effect/Stream"
import type { AnyActorRef, NonReducibleUnknown, ObservableActorLogic, PromiseActorLogic, SnapshotFrom } from "xstate"
import { live } from "../time/index.ts"
import { type ActorArgs, argsOf, processAt } from "./actorTable.ts"
import { registerActor } from "./chart/index.ts"
import { sendToActor } from "./hostedActor.ts"
import { type Kernel, ofCause, SystemKernel } from "../kernel/index.ts"
import { Running } from "../process/index.ts"
import { afterEvent, beginning, effectDone, effectFailed, type WorkEvent } from "./workSnapshot.ts"

const running = new WeakMap<AnyActorRef, Running<unknown, unknown>>()

let bare: Kernel | undefined

/** The kernel that runs the fibers of actors without a process. */
const bareKernel = (): Kernel =>
  (bare ??= new SystemKernel("bare", live, (system) => Context.make(System, system), undefined, undefined, undefined))

const endOf = (exit: Exit.Exit<unknown, unknown>): { readonly type: string; readonly data: unknown } =>
  Exit.isSuccess(exit)
    ? { type: effectDone, data: exit.value }
    : { type: effectFailed, data: ofCause(exit.cause).reason }

/** Starts the fiber of an actor. */
const startFiber = (self: AnyActorRef, make: () => Effect.Effect<unknown, unknown>): void => {
  const owner = processAt(self)
  let now = true
  const fiber = new Running(owner?.kernel ?? bareKernel(), owner, Effect.suspend(make), (exit) => {
    running.delete(self)
    if (now) self.send(endOf(exit))
    else sendToActor(self, endOf(exit))
  })
  now = false
  if (fiber.active) running.set(self, fiber)
}

/** Sends an event to an actor and waits until it is handled. */
const handOver = (self: AnyActorRef, event: { readonly type: string }): Effect.Effect<void> =>
  Effect.callback((resume) => {
    sendToActor(self, event, () => resume(Effect.void))
  })

/** Interrupts the fiber of an actor, if it runs. */
const stopFiber = (self: AnyActorRef): void => {
  running.get(self)?.close()
  running.delete(self)
}

/**
 * Makes actor logic from an effect: its success is the actor's output, its failure the actor's error.
 *
 * **Details**
 *
 * The fiber belongs to the actor's process, if there is one. Stopping the actor or ending the process interrupts it: its
 * finalizers run once, and it sends no more events. An effect that ends synchronously is done in the same step; the end
 * of any other effect is handled in a turn of the process. A restored actor runs its effect again.
 *
 * **Gotchas**
 *
 * A defect is the actor's error too. An effect that interrupts itself fails with a `Shutdown`.
 */
export const fromEffect = <A, E = never, I = NonReducibleUnknown>(
  make: (args: ActorArgs<I>) => Effect.Effect<A, E>
): PromiseActorLogic<A, I> =>
  registerActor<PromiseActorLogic<A, I>>(
    {
      config: make,
      getInitialSnapshot: (_scope, input) =>
        beginning(input) as ReturnType<PromiseActorLogic<A, I>["getInitialSnapshot"]>,
      start: (state, { self }) => {
        if (state.status === "active") startFiber(self, () => make(argsOf(state.input as I, self)))
      },
      transition: (state, event, { self }) => afterEvent(state, event, () => stopFiber(self)),
      getPersistedSnapshot: (state) => state,
      restoreSnapshot: (stored) => stored as ReturnType<PromiseActorLogic<A, I>["getInitialSnapshot"]>
    },
    { kind: "effect", make }
  )

const streamValue = "xstate.stream.value"

const valueEvent = (value: unknown): WorkEvent => ({ type: streamValue, data: value })

/**
 * Makes actor logic from a stream: each value becomes the actor's `context`, a failure becomes its error.
 *
 * **Details**
 *
 * A fiber reads the stream, as in `fromEffect`: stopping the actor interrupts it. It reads the next value after the
 * previous one was handled. An invoking machine receives each value through `onSnapshot`.
 */
export const fromStream = <A, E = never, I extends NonReducibleUnknown = NonReducibleUnknown>(
  make: (args: ActorArgs<I>) => Stream.Stream<A, E>
): ObservableActorLogic<A, I> => ({
  config: make,
  getInitialSnapshot: (_scope, input) =>
    ({ ...beginning(undefined), input, context: undefined }) as SnapshotFrom<ObservableActorLogic<A, I>>,
  start: (state, { self }) => {
    if (state.status !== "active") return
    const pull = (value: A) => handOver(self, valueEvent(value))
    startFiber(self, () => {
      const stream = make(argsOf(state.input as I, self))
      // Streams are a third of the modules of Effect that this package needs: only a machine with a stream loads them.
      return Effect.flatMap(
        Effect.promise(() => import("effect/Stream")),
        ({ runForEach }) => runForEach(stream, pull)
      )
    })
  },
  transition: (state, event, { self }) =>
    event.type === streamValue && state.status === "active"
      ? { ...state, context: event["data"] as A }
      : afterEvent(state, event, () => stopFiber(self)),
  getPersistedSnapshot: (state) => state,
  restoreSnapshot: (stored) => stored as SnapshotFrom<ObservableActorLogic<A, I>>
})
