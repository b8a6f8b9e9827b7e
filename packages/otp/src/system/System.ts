/**
 * A set of processes with one clock, one table of names and one end.
 *
 * Every process belongs to a system. Processes of two systems may send to and monitor each other; links work only within
 * one. A program usually has one system, and each test its own. Effect programs get it as a service, from `layer`.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { type Clock, live, uuidBy } from "../time/index.ts"
import { type CrashReport, milliseconds, type Pid, System, type Timeout } from "../core/index.ts"
import { effectServices } from "./effectClock.ts"
import { type Fault, kernelOf, SystemKernel } from "../kernel/index.ts"
import { attach, type Event, reports } from "../telemetry/index.ts"
import { effectLogger, type Report, SystemLog } from "./systemLog.ts"
import { checkEngine } from "./supportedEngine.ts"
import { shutDown } from "./systemShutdown.ts"

export { type CrashReport, System } from "../core/index.ts"
export type { Fault } from "../kernel/index.ts"
export { effectLogger, type Report } from "./systemLog.ts"

/**
 * The report of a callback that blocked the thread.
 *
 * **Details**
 *
 * `message` is the message of the callback, `undefined` for the first turn of a process. `blocking` is its duration and
 * `threshold` the allowed duration, in milliseconds.
 */
export type BlockedReport = Event<"process.blocked">["measurements"] & Event<"process.blocked">["metadata"]

/** The resources of a system. All four are 0 after `stop`, unless a finalizer did not end. */
export interface Stats {
  /** Living processes. */
  readonly processes: number
  /** Running fibers, with or without an owner. */
  readonly fibers: number
  /** Timers that are waiting. */
  readonly timers: number
  /** Fibers of dead processes whose finalizers are not done. */
  readonly closing: number
}

/** The options of a system. */
export interface Options {
  /** The name of the system in reports and telemetry. Default: `"system"`. */
  readonly name?: string
  /** The clock of timers, timeouts and dates. Default: the host's. */
  readonly clock?: Clock
  /**
   * A whole number that determines `random`, `uuid` and the random numbers of effects. Default: they come from the host.
   *
   * A system with a seed yields to the event loop by counts of messages, never by the host's time. On a test clock each run is
   * then the same, however busy the host is. Use a seed only in tests: a program that restarts with the same seed generates the
   * same ids again, including those of stored steps.
   */
  readonly seed?: number
  /** Called for each crash, and for each fault that a process survives. Default: they go to `logger`. */
  readonly onCrash?: ((report: CrashReport) => void) | undefined
  /**
   * Called with a {@link Report} of each crash and fault, unless there is `onCrash`. Default: writes one line to the console, in
   * Node to stderr; at most 20 lines in 10 seconds, and then the number of the others.
   */
  readonly logger?: ((report: Report) => void) | undefined
  /** Whether the default `logger` writes nothing. Default: false. */
  readonly silent?: boolean | undefined
  /**
   * Called when a callback has blocked the thread for `blockedAfter`. The blocks are measured only while there is this function,
   * or a handler of the telemetry event `process.blocked`.
   */
  readonly onBlocked?: (report: BlockedReport) => void
  /** How long a callback may block the thread, in the host's time. Default: 50 milliseconds. */
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
 * Throws a `RangeError` for a `seed` that is not a whole number, and an error on Node before 22.
 */
export const make = (options?: Options): System => {
  checkEngine()
  const clock = options?.clock ?? live
  const seed = checkedSeed(options?.seed)
  const services = effectServices(clock, seed)
  const blockedAfter = milliseconds(options?.blockedAfter ?? 50)
  const kernel = new SystemKernel(
    options?.name ?? "system",
    clock,
    (system) => Context.add(services, System, system),
    reports,
    options?.onCrash,
    options?.silent === true ? undefined : new SystemLog(clock, options?.logger),
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
 * The processes without a parent get the exit signal `shutdown`, youngest first, one after another: supervisors end their
 * children in reverse start order. Processes that lose their parent by that follow. Then the remaining processes are
 * killed, and the finalizers are awaited.
 *
 * **Units and defaults**
 *
 * `timeout`, 10 seconds of the host's time, limits the orderly part, and again the finalizers.
 */
export const stop = (system: System, options?: { readonly timeout?: Timeout }): Promise<void> => {
  const kernel = kernelOf(system)
  const running =
    stopping.get(system) ??
    shutDown(kernel, milliseconds(options?.timeout ?? 10_000)).finally(() => kernel.log?.flush())
  stopping.set(system, running)
  return running
}

/**
 * A layer with a new system, which is stopped when the layer's scope closes, like `stop`. Its `logger` is
 * {@link effectLogger} by default.
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
      Effect.map(effectLogger, (logger) => make({ logger, ...options })),
      (system) => Effect.promise(() => stop(system, options))
    )
  )

/** The living processes, in start order. */
export const processes = (system: System): Iterable<Pid> => kernelOf(system).processes.values()

/**
 * Runs an effect on a system's clock, with the system as a service: it sleeps in the system's time. The caller awaits or
 * interrupts the fiber; the end of the system does not end it.
 */
export const runFork = <A, E>(system: System, effect: Effect.Effect<A, E, System>): Fiber.Fiber<A, E> =>
  kernelOf(system).fork(effect)

/**
 * A random number from 0 up to, not including, 1: the next one of the system's seed, or the host's.
 *
 * **Details**
 *
 * A seed has a stream of numbers for each name, `""` by default; a draw from one stream does not advance another. So a
 * library with its own stream gets the same numbers, whatever the program around it draws.
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

/** A unique id in the format of a UUID; with a seed, the next one of the seed's stream. */
export const uuid = (system: System, stream = ""): string => {
  const id = system.seed === undefined ? crypto.randomUUID() : uuidBy(kernelOf(system).chances(stream))
  // The host appends the id digit by digit. Reading it joins the pieces, which would be kept as long as the id.
  id.charCodeAt(0)
  return id
}

/**
 * Writes a fault that no caller gets to the system's logger, for libraries that build on processes.
 *
 * @example
 * ```ts import.meta.vitest
 * import { System } from "@troupe/otp"
 *
 * const lines: Array<string> = []
 * const system = System.make({ logger: ({ message }) => void lines.push(message) })
 * System.report(system, { subject: "The backup of orders failed", error: "disk full" })
 * lines // => ["The backup of orders failed: disk full"]
 * await System.stop(system)
 * ```
 */
export const report = (system: System, fault: Fault): void => kernelOf(system).log?.report(fault)

/** Counts the resources of a system. */
export const stats = (system: System): Stats => {
  const kernel = kernelOf(system)
  const { fibers, timers, closing } = kernel
  return { processes: kernel.processes.size, fibers, timers, closing }
}
