/**
 * Abort signals whose listeners cannot end the program.
 *
 * Node rethrows the exception of a listener as an uncaught exception. Handlers, hooks, gates and adapters add listeners
 * of their own, so their signals catch these exceptions first. A guarded signal is a real `AbortSignal` with another
 * prototype: `fetch` and `AbortSignal.any` accept it.
 *
 * ABORT1. When a listener of a guarded signal throws or rejects, telemetry reports the error, and the other listeners
 *         run.
 * ABORT2. A listener is added once and removed as on any other signal.
 * ABORT3. A signal keeps no reference to a listener that was removed.
 */
import { type System, Telemetry } from "@troupe/otp"
import { isPromiseLike } from "./awaitable.ts"

declare module "@troupe/otp/telemetry" {
  interface Events {
    /**
     * A listener of an abort signal threw `error`, or returned a promise that rejected with it. `count` is the number
     * of such failures of this signal so far.
     */
    readonly "abort_listener.failure": {
      readonly measurements: { readonly count: number }
      readonly metadata: { readonly error: unknown }
    }
  }
}

/** The listeners of one signal, each with its wrapper. */
class Guard {
  readonly #system: System.System | undefined
  /** Weak, so that a removed listener can be garbage-collected (ABORT3). */
  #standIns: WeakMap<object, EventListener> | undefined
  #failures = 0
  onabort: AbortSignal["onabort"] = null

  constructor(system: System.System | undefined) {
    this.#system = system
  }

  standIn(listener: EventListenerOrEventListenerObject): EventListener {
    const existing = this.#standIns?.get(listener)
    if (existing !== undefined) return existing
    const failed = (error: unknown) => this.#failed(error)
    const standIn = function (this: unknown, event: Event): void {
      try {
        const returned: unknown =
          typeof listener === "function" ? Reflect.apply(listener, this, [event]) : listener.handleEvent(event)
        if (isPromiseLike(returned)) returned.then(undefined, failed)
      } catch (error) {
        failed(error)
      }
    }
    this.#standIns ??= new WeakMap()
    this.#standIns.set(listener, standIn)
    return standIn
  }

  #failed(error: unknown): void {
    const count = ++this.#failures
    if (this.#system !== undefined) Telemetry.notify(this.#system, "abort_listener.failure", { count }, { error })
  }
}

/** The property of a signal that holds its guard. A table of all signals would cost more than the signals. */
const key = Symbol("guard")

const guardOf = (signal: AbortSignal & { readonly [key]?: Guard }): Guard => {
  const guard = signal[key]
  if (guard === undefined) throw new TypeError("Illegal invocation")
  return guard
}

/** The wrapper of a listener. Any other value is passed on: the platform accepts `null` and rejects the rest. */
const standInOf = (signal: AbortSignal, listener: EventListenerOrEventListenerObject | null): EventListener =>
  typeof listener === "function" || (typeof listener === "object" && listener !== null)
    ? guardOf(signal).standIn(listener)
    : (listener as unknown as EventListener)

/** Overrides the methods of a signal that add and remove listeners. */
class GuardedSignal extends AbortSignal {
  override addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions
  ): void {
    super.addEventListener(type, standInOf(this, listener), options)
  }

  override removeEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | EventListenerOptions
  ): void {
    super.removeEventListener(type, standInOf(this, listener), options)
  }

  override get onabort(): AbortSignal["onabort"] {
    return guardOf(this).onabort
  }

  override set onabort(listener: AbortSignal["onabort"]) {
    const guard = guardOf(this)
    guard.onabort = listener
    Reflect.set(AbortSignal.prototype, "onabort", listener && guard.standIn(listener as EventListener), this)
  }
}

/** Guards the listeners that are added to this signal from now on. Failures are reported to the system. */
export const guarded = (signal: AbortSignal, system: System.System | undefined): AbortSignal => {
  Object.assign(signal, { [key]: new Guard(system) })
  return Object.setPrototypeOf(signal, GuardedSignal.prototype) as AbortSignal
}
