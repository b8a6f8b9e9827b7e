/**
 * A timer of a system.
 *
 * TIMER1. It runs at most once, and never after `close`.
 * TIMER2. While it waits, and only then, its kernel counts it and its process owns it.
 */
import type { Cell, Resource } from "./cell.ts"
import type { Kernel } from "./cell.ts"

export class Timer implements Resource {
  readonly kernel: Kernel
  readonly #owner: Cell | undefined
  readonly #run: (() => void) | undefined
  readonly #id: unknown
  waiting = true

  constructor(kernel: Kernel, owner: Cell | undefined, ms: number, run?: () => void) {
    this.kernel = kernel
    this.#owner = owner
    this.#run = run
    this.#id = kernel.clock.setTimeout(() => this.#fire(), ms)
    kernel.timers++
    owner?.own(this)
  }

  /** Called when the time is up. */
  protected elapsed(): void {
    this.#run?.()
  }

  close(): void {
    if (!this.#leave()) return
    this.kernel.clock.clearTimeout(this.#id)
  }

  #leave(): boolean {
    if (!this.waiting) return false
    this.waiting = false
    this.kernel.timers--
    this.#owner?.disown(this)
    return true
  }

  #fire(): void {
    if (!this.#leave()) return
    try {
      this.elapsed()
    } catch (error) {
      this.kernel.report(this.#owner ?? this.kernel.root, error)
    }
  }
}

/** Starts a timer; an infinite one never fires and is not stored. */
export const startTimer = (kernel: Kernel, owner: Cell | undefined, ms: number, run: () => void): Timer | undefined =>
  ms === Number.POSITIVE_INFINITY ? undefined : new Timer(kernel, owner, ms, run)
