/**
 * Injects faults into adapters, tools and stores.
 *
 * Owns: the log of injected faults, and the calls that hang. Does not own its targets.
 *
 * FAULT1. A call without a fault passes through unchanged.
 * FAULT2. Every fault is logged before it takes effect.
 * FAULT3. A hanging call is held until `release`. Afterwards nothing is held, and no more faults are injected.
 */
import { Clock, type Pid, Process, System } from "@troupe/otp"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { AdapterEvent } from "@troupe/chat/events"
import type { Adapter } from "@troupe/chat/models"
import type { Store } from "@troupe/chat/store"
import type { Tool } from "@troupe/chat/tools"
import { checkFaults } from "./faultChecks.ts"
import { type Fault, faultOf, type FaultPlan, type FaultTarget, type FaultOptions } from "./faultPlan.ts"
import { type AdapterStream, FaultyStream } from "./faultyStream.ts"

export type { FaultOptions } from "./faultPlan.ts"

/** An injected fault; `at` is its time, `call` the number of the call with its name. */
export interface InjectedFault {
  readonly at: number
  readonly on: FaultTarget
  readonly name: string
  readonly call: number
  readonly fault: Fault
}

/** The error of a fault, unless its plan names another error. */
class InjectedError extends Error {
  override readonly name = "InjectedError"
}

const storeLateMs = 6_000

/** Injects faults into adapters, tools and stores. */
export type Faults = Pick<Injector, "log" | "held" | "release" | "adapter" | "tool" | "store">

/** Injects faults, and holds calls that hang. */
export class Injector {
  readonly #plan: FaultPlan
  readonly #system: System.System | undefined
  readonly #clock: Clock.Clock
  readonly #calls = new Map<string, number>()
  readonly #log: Array<InjectedFault> = []
  readonly #held = new Set<() => void>()
  readonly #fibers = new Set<() => void>()
  #released = false

  constructor(options: FaultOptions) {
    checkFaults(options)
    const { system, seed = 0, plan = [], rates = {} } = options
    this.#plan = { seed, plan, rates }
    this.#system = system
    this.#clock = system?.clock ?? Clock.live
  }

  /** The injected faults, in order. */
  get log(): ReadonlyArray<InjectedFault> {
    return this.#log
  }

  /** How many calls hang now. */
  get held(): number {
    return this.#held.size
  }

  /** Ends hanging calls with an exception, and injects no more faults. */
  release(): void {
    this.#released = true
    for (const release of this.#held) release()
    for (const interrupt of this.#fibers) interrupt()
  }

  /** The adapter with injected faults. */
  adapter(adapter: Adapter.Adapter): Adapter.Adapter {
    return {
      name: adapter.name,
      provider: adapter.provider,
      model: adapter.model,
      stream: (request, options) => {
        const fault = this.next("adapter", adapter.name)
        if (fault === undefined) return adapter.stream(request, options)
        const self = this.#self()
        if ((fault.after ?? 0) > 0 || fault.type === "duplicate") {
          const opened = adapter.stream(request, options)
          const faulty = (stream: AdapterStream): AsyncIterable<AdapterEvent> => ({
            [Symbol.asyncIterator]: () => new FaultyStream(stream, fault, this, options, self)
          })
          return opened instanceof Promise ? opened.then(faulty) : faulty(opened)
        }
        return this.around<AdapterStream>(fault, () => adapter.stream(request, options), options, self)
      }
    }
  }

  /** The tool with injected faults. */
  tool(tool: Tool.Tool): Tool.Tool {
    const { handler } = tool
    if (handler === null) return tool
    return {
      ...tool,
      handler: (args, context) => {
        const fault = this.next("tool", tool.name)
        if (fault === undefined) return handler(args, context)
        return this.around(fault, () => this.#settled(handler(args, context), context), context, this.#self())
      }
    }
  }

  /** The store with injected faults. */
  store<S extends Store.Store>(store: S): S {
    return new Proxy(store, {
      get: (target, name) => {
        const operation: unknown = Reflect.get(target, name)
        if (typeof operation !== "function" || typeof name !== "string") return operation
        return (...args: ReadonlyArray<unknown>): unknown => {
          const perform = (): unknown => Reflect.apply(operation, target, args)
          const fault = this.next("store", name)
          if (fault === undefined) return perform()
          const late = fault.type === "late" ? ({ type: "slow", ms: fault.ms ?? storeLateMs } as const) : fault
          return this.around(late, perform, undefined, this.#self())
        }
      }
    })
  }

  /** The fault of the next call of this name, which is logged. */
  next(on: FaultTarget, name: string): Fault | undefined {
    if (this.#released) return undefined
    const key = `${on} ${name}`
    const call = (this.#calls.get(key) ?? 0) + 1
    this.#calls.set(key, call)
    const fault = faultOf(this.#plan, on, name, call)
    if (fault !== undefined) this.#log.push({ at: this.#clock.now(), on, name, call, fault })
    return fault
  }

  /** Runs an operation with a fault. */
  around<A>(
    fault: Fault,
    perform: () => A | PromiseLike<A>,
    options: { readonly signal: AbortSignal } | undefined,
    self: Pid | undefined
  ): Promise<A> {
    switch (fault.type) {
      case "crash":
        return this.crash(fault, self)
      case "hang":
        return this.hang(fault.aware === true ? options?.signal : undefined)
      case "slow":
        return later(perform, () => this.wait(fault.ms))
      case "late":
        return later(perform, () => this.untilAborted(options?.signal).then(() => this.wait(fault.ms ?? 1)))
      case "duplicate":
        return later(perform, () => undefined).then(perform)
    }
  }

  /** Rejects; or kills the process, and never settles while held. */
  crash(fault: Extract<Fault, { readonly type: "crash" }>, self: Pid | undefined): Promise<never> {
    if (fault.dies !== true || self === undefined) {
      return Promise.reject(fault.error ?? new InjectedError("an injected crash"))
    }
    Process.kill(self)
    return this.hang(undefined)
  }

  /** Rejects when the calls are released or the signal is aborted; never settles before. */
  hang(signal: AbortSignal | undefined): Promise<never> {
    return this.untilAborted(signal).then(() => {
      throw new InjectedError("an injected hang, which was let go")
    })
  }

  /** Resolves when the signal is aborted, or all calls are released. */
  untilAborted(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      if (this.#released || signal?.aborted === true) return resolve()
      const release = () => {
        this.#held.delete(release)
        signal?.removeEventListener("abort", release)
        resolve()
      }
      this.#held.add(release)
      signal?.addEventListener("abort", release)
    })
  }

  /** Resolves after `ms` milliseconds. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.setTimeout(resolve, ms))
  }

  /** The calling process. */
  #self(): Pid | undefined {
    return this.#system === undefined ? undefined : Process.current(this.#system)
  }

  /** Runs an effect in a fiber of its own, which is interrupted when its signal is aborted. */
  #settled<A>(
    value: A | PromiseLike<A> | Effect.Effect<A, unknown>,
    { signal }: { readonly signal: AbortSignal }
  ): A | PromiseLike<A> {
    if (!Effect.isEffect(value)) return value
    const fiber = this.#system === undefined ? Effect.runFork(value) : System.runFork(this.#system, value)
    const interrupt = (): void => fiber.interruptUnsafe()
    this.#fibers.add(interrupt)
    signal.addEventListener("abort", interrupt)
    fiber.addObserver(() => {
      this.#fibers.delete(interrupt)
      signal.removeEventListener("abort", interrupt)
    })
    if (this.#released || signal.aborted) interrupt()
    return Effect.runPromise(Fiber.join(fiber))
  }
}

/** Performs an operation at once, and settles with its result or failure after the wait. */
const later = async <A>(perform: () => A | PromiseLike<A>, wait: () => Promise<void> | undefined): Promise<A> => {
  const outcome = await Promise.allSettled([(async () => perform())()])
  await wait()
  const [settled] = outcome
  if (settled.status === "rejected") throw settled.reason
  return settled.value
}
