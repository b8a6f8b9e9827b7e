/**
 * A fiber that belongs to a process.
 *
 * FIBER1. An effect that ends synchronously costs no bookkeeping: its exit is passed on at once.
 * FIBER2. `close` interrupts the fiber and discards its exit: nothing is notified after the owner is gone.
 * FIBER3. The fiber is counted until its last finalizer has ended, and as `closing` after `close`.
 */
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type { Cell, Kernel, Resource } from "../kernel/index.ts"

/** The parts of a kernel that start and count fibers. */
type FiberKernel = Pick<Kernel, "fork" | "observer" | "fibers" | "closing" | "fiberDone">

/** A running effect. */
export class Running<A, E> implements Resource {
  readonly #kernel: FiberKernel
  readonly #owner: Cell | undefined
  readonly #ended: (exit: Exit.Exit<A, E>) => void
  #fiber: Fiber.Fiber<A, E> | undefined = undefined
  #closed = false

  constructor(
    kernel: FiberKernel,
    owner: Cell | undefined,
    effect: Effect.Effect<A, E>,
    ended: (exit: Exit.Exit<A, E>) => void
  ) {
    this.#kernel = kernel
    this.#owner = owner
    this.#ended = ended
    const { observer } = kernel
    const fiber = kernel.fork(observer === undefined || owner === undefined ? effect : observer.timed(owner, effect))
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) {
      this.#closed = true
      if (owner?.dead !== true) ended(exit)
      return
    }
    this.#fiber = fiber
    kernel.fibers++
    if (owner?.dead === true) this.close()
    else owner?.own(this)
    fiber.addObserver((late) => this.#leave(late))
  }

  get active(): boolean {
    return !this.#closed
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#owner?.disown(this)
    this.#kernel.closing++
    this.#fiber?.interruptUnsafe()
  }

  #leave(exit: Exit.Exit<A, E>): void {
    const silent = this.#closed
    if (silent) this.#kernel.closing--
    this.#closed = true
    this.#kernel.fiberDone()
    this.#owner?.disown(this)
    if (!silent) this.#ended(exit)
  }
}

/** Runs the effect that closes a dead process's scope. Nothing waits for it; it is counted as closing. */
export const runClosing = (kernel: FiberKernel, effect: Effect.Effect<unknown, unknown>): void => {
  kernel.closing++
  const running = new Running(kernel, undefined, effect, () => void kernel.closing--)
  void running
}
