/**
 * Abort signals whose listeners cannot end the program.
 *
 * Node throws again, where nothing catches it, what a listener throws. Handlers, hooks, gates and adapters add listeners of
 * their own, so the signals that they get catch these exceptions first. A guarded signal is a real `AbortSignal` with
 * another prototype: `fetch` and `AbortSignal.any` take it.
 *
 * ABORT1. What a listener of a guarded signal throws, or rejects with, is reported by telemetry; the other listeners run.
 * ABORT2. A listener is added once and removed as on any other signal.
 * ABORT3. A signal keeps nothing of a listener that was removed.
 */
import { type System, Telemetry } from "@troupe/otp"
import { isPromiseLike } from "./awaitable.ts"

declare module "@troupe/otp/telemetry" {
  interface Events {
    /**
     * A listener of an abort signal threw `error`, or returned a promise that rejected with it: so far `count` listeners of
     * this signal did.
     */
    readonly "abort_listener.failure": {
      readonly measurements: { readonly count: number }
      readonly metadata: { readonly error: unknown }
    }
  }
}

/** The listeners of one signal, each with the function that stands for it. */
class Guard {
  readonly #system: System.System | undefined
  /** A listener that was removed can be collected (ABORT3). */
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

/** Where a signal has its guard: a table of all signals would cost more than the signals. */
const key = Symbol("guard")

const guardOf = (signal: AbortSignal & { readonly [key]?: Guard }): Guard => {
  const guard = signal[key]
  if (guard === undefined) throw new TypeError("Illegal invocation")
  return guard
}

/** What is no listener is passed on: the platform accepts `null`, and refuses the rest. */
const standInOf = (signal: AbortSignal, listener: EventListenerOrEventListenerObject | null): EventListener =>
  typeof listener === "function" || (typeof listener === "object" && listener !== null)
    ? guardOf(signal).standIn(listener)
    : (listener as unknown as EventListener)

/** What a guarded signal does instead of what every signal does. */
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

/** Guards the listeners that are added to this signal from here on; failures are reported to the system. */
export const guarded = (signal: AbortSignal, system: System.System | undefined): AbortSignal => {
  Object.assign(signal, { [key]: new Guard(system) })
  return Object.setPrototypeOf(signal, GuardedSignal.prototype) as AbortSignal
}
