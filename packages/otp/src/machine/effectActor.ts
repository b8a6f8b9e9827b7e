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
import type { AnyActorRef } from "xstate"
import { live } from "../time/index.ts"
import { processAt } from "./actorTable.ts"
import { sendToActor } from "./hostedActor.ts"
import { type Kernel, ofCause, SystemKernel } from "../kernel/index.ts"
import { Running } from "../process/index.ts"

export const effectDone = "xstate.effect.done"
export const effectFailed = "xstate.effect.failed"

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
export const startFiber = (self: AnyActorRef, make: () => Effect.Effect<unknown, unknown>): void => {
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
export const handOver = (self: AnyActorRef, event: { readonly type: string }): Effect.Effect<void> =>
  Effect.callback((resume) => {
    sendToActor(self, event, () => resume(Effect.void))
  })

/** Interrupts the fiber of an actor, if it runs. */
export const stopFiber = (self: AnyActorRef): void => {
  running.get(self)?.close()
  running.delete(self)
}
