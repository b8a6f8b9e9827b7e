/**
 * A set of processes with one clock, one table of names and one end.
 *
 * Every process lives in a system. Processes of two may send to and monitor each other; links are within one. A program usually has one, a test one of its own.
 * Programs made of effects have it as a service, from `layer`.
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { type Clock, live, uuidBy } from "../time/index.ts"
import { type CrashReport, milliseconds, type Pid, System, type Timeout } from "../core/index.ts"
import { effectServices } from "./effectClock.ts"
import { kernelOf, SystemKernel } from "../kernel/index.ts"
import { attach, type Event, reports } from "../telemetry/index.ts"
import { shutDown } from "./systemShutdown.ts"

export { type CrashReport, System } from "../core/index.ts"

/**
 * A callback that held the thread.
 *
 * **Details**
 *
 * `message` is what it was called with, `undefined` for the first turn of a process; `blocking` says for how many
 * milliseconds, `threshold` how many are allowed.
 */
export type BlockedReport = Event<"process.blocked">["measurements"] & Event<"process.blocked">["metadata"]

/** How much a system holds. All four are 0 after `stop`, unless a finalizer did not end. */
export interface Stats {
  /** Living processes. */
  readonly processes: number
  /** Fibers that have not ended, whoever they belong to. */
  readonly fibers: number
  /** Timers that are waiting. */
  readonly timers: number
  /** Fibers of dead processes whose finalizers are not done. */
  readonly closing: number
}

/**
 * How a system is made.
 *
 * **Units and defaults**
 *
 * `name` is `"system"`, `clock` the host's time. Without `onCrash` a crash is told to links, monitors and supervisors
 * only. `blockedAfter`, 50 milliseconds of the host's time, is how long a callback may hold the thread before
 * `onBlocked`, and the telemetry event `process.blocked`, tell of it; it is looked at only while somebody is to be told.
 * `seed`, a whole number, is what `random` and `uuid` come from, and the random numbers of effects; by default they are
 * the host's. A system with a seed gives way to the event loop by counts of messages, never by the host's time: on a test
 * clock it goes the same way each time, however busy the host is. A seed is for tests: a program that starts again with the
 * same seed draws the same ids again, those of stored steps too.
 */
export interface Options {
  readonly name?: string
  readonly clock?: Clock
  readonly seed?: number
  readonly onCrash?: (report: CrashReport) => void
  readonly onBlocked?: (report: BlockedReport) => void
  readonly blockedAfter?: Timeout
}

const checkedSeed = (seed: number | undefined): number | undefined => {
  if (seed === undefined || Number.isSafeInteger(seed)) return seed
  throw new RangeError(`a system's seed cannot be ${seed}: give a whole number`)
}

/**
 * Makes a system.
 *
 * **Errors**
 *
 * Throws a `RangeError` for a `seed` that is no whole number.
 */
export const make = (options?: Options): System => {
  const clock = options?.clock ?? live
  const seed = checkedSeed(options?.seed)
  const services = effectServices(clock, seed)
  const blockedAfter = milliseconds(options?.blockedAfter ?? 50)
  const kernel = new SystemKernel(
    options?.name ?? "system",
    clock,
    services,
    reports,
    options?.onCrash,
    blockedAfter,
    seed
  )
  const onBlocked = options?.onBlocked
  if (onBlocked !== undefined) {
    attach(kernel, "process.blocked", ({ measurements, metadata }) => onBlocked({ ...measurements, ...metadata }))
  }
  return kernel
}

const stopping = new WeakMap<System, Promise<void>>()

/**
 * Ends a system and everything in it.
 *
 * **Details**
 *
 * The processes without a parent get the exit signal `shutdown`, the youngest first, one after another: supervisors end
 * their children in reverse start order. Those that have lost their parent by that follow. Then what is left is killed, and the finalizers are awaited.
 *
 * **Units and defaults**
 *
 * `timeout`, 10 seconds of the host's time, bounds the orderly part, and once more the finalizers.
 */
export const stop = (system: System, options?: { readonly timeout?: Timeout }): Promise<void> => {
  const running = stopping.get(system) ?? shutDown(kernelOf(system), milliseconds(options?.timeout ?? 10_000))
  stopping.set(system, running)
  return running
}

/**
 * A layer with a system of its own, which is stopped when the layer's scope closes, as `stop` does.
 *
 * @example
 * ```ts import.meta.vitest
 * import { GenServer, System } from "@troupe/otp"
 * import { Effect } from "effect"
 *
 * const counter = GenServer.make({
 *   init: (from: number) => GenServer.ok(from),
 *   handleCall: (_request: "next", _from, state) => GenServer.replying(state + 1, state + 1)
 * })
 * const program = Effect.gen(function* () {
 *   const pid = yield* GenServer.scoped(counter, 41)
 *   return yield* GenServer.callEffect(pid, "next")
 * })
 * await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(System.layer()))) // => 42
 * ```
 */
export const layer = (options?: Options & { readonly timeout?: Timeout }): Layer.Layer<System> =>
  Layer.effect(
    System,
    Effect.acquireRelease(
      Effect.sync(() => make(options)),
      (system) => Effect.promise(() => stop(system, options))
    )
  )

/** The living processes, in the order of their start. */
export const processes = (system: System): Iterable<Pid> => kernelOf(system).processes.values()

/**
 * Runs an effect on a system's clock: what it sleeps is the system's time. The fiber is the caller's to await or interrupt;
 * the end of the system does not end it.
 */
export const runFork = <A, E>(system: System, effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> =>
  kernelOf(system).fork(effect)

/**
 * A random number from 0 up to 1: the next of the system's seed, or the host's.
 *
 * **Details**
 *
 * A seed has a stream of numbers for each name, `""` by default: what is drawn from one moves no other. What a library
 * draws from a stream of its own stays the same, whatever the program around it draws.
 *
 * @example
 * ```ts import.meta.vitest
 * import { System } from "@troupe/otp"
 *
 * const [one, same] = [System.make({ seed: 7 }), System.make({ seed: 7 })]
 *
 * System.random(one) === System.random(same) // => true
 * System.uuid(one) === System.uuid(same) // => true
 * System.uuid(one) === System.uuid(one) // => false
 * ```
 */
export const random = (system: System, stream = ""): number => kernelOf(system).chances(stream)()

/** An id like no other, in the form of a UUID; of a system with a seed, the next of that seed's stream. */
export const uuid = (system: System, stream = ""): string =>
  system.seed === undefined ? crypto.randomUUID() : uuidBy(kernelOf(system).chances(stream))

/** Counts what a system holds. */
export const stats = (system: System): Stats => {
  const kernel = kernelOf(system)
  const { fibers, timers, closing } = kernel
  return { processes: kernel.processes.size, fibers, timers, closing }
}
