/**
 * Messages that are sent later.
 *
 * A timer belongs to its target, not to its maker: it outlives its maker, and is removed when the target dies. A timer to
 * a name ends with the system, a timer to an alias with the process of the alias.
 *
 * **Source**
 *
 * Erlang's `erlang:send_after/3`, `start_timer/3`, `cancel_timer/1`, `read_timer/1`.
 */
import { type Cell, cellOf, deliver, kernelOf, Timer } from "../kernel/index.ts"
import { Alias, deliverTo } from "./alias.ts"
import { isName, milliseconds, type Target, type Timeout } from "../core/index.ts"

/** A timer, waiting or finished. */
export interface TimerRef {
  readonly _tag: "TimerRef"
}

/** The message of a timer made by `start`. */
export interface TimeoutMessage<A = unknown> {
  readonly _tag: "Timeout"
  /** The timer that is over. */
  readonly ref: TimerRef
  /** What the timer was started with. */
  readonly message: A
}

/** A timer that waits for its message to be sent. */
class Sending extends Timer implements TimerRef {
  readonly _tag = "TimerRef"
  readonly #target: Target
  readonly #message: unknown
  /** Whether it sends a `TimeoutMessage`. */
  readonly #isStarted: boolean
  readonly due: number

  constructor(owner: Cell, ms: number, target: Target, message: unknown, isStarted: boolean) {
    super(owner.kernel, owner, ms)
    this.#target = target
    this.#message = message
    this.#isStarted = isStarted
    this.due = owner.kernel.clock.now() + ms
  }

  protected override elapsed(): void {
    const target = this.#target
    const message = this.#isStarted ? { _tag: "Timeout", ref: this, message: this.#message } : this.#message
    if (isName(target)) deliverTo(target, message)
    else deliver(cellOf(target), message)
  }
}

/** The process whose end removes a timer to this target. */
const ownerOf = (target: Target): Cell | undefined => {
  if (!isName(target)) return cellOf(target)
  return target instanceof Alias ? target.whereis() : kernelOf(target.system).root
}

/** How the time of a timer is read. */
export interface Options {
  /**
   * Whether the time is a time of the system's clock, in place of a duration. A time that has passed is due at once. Default: false.
   */
  readonly absolute?: boolean
}

const schedule = (
  target: Target,
  after: Timeout,
  options: Options | undefined,
  message: unknown,
  isStarted: boolean
): TimerRef => {
  const time = milliseconds(after)
  const owner = ownerOf(target)
  if (owner === undefined || owner.dead || time === Number.POSITIVE_INFINITY || owner.kernel.stopped) {
    return { _tag: "TimerRef" }
  }
  const ms = options?.absolute === true ? Math.max(0, time - owner.kernel.clock.now()) : time
  return new Sending(owner, ms, target, message, isStarted)
}

/**
 * Sends a message after a time.
 *
 * **Details**
 *
 * A name is resolved when the time is up; if it is not registered then, the message is discarded. With `"infinity"`
 * nothing is sent and no timer is made.
 *
 * **Errors**
 *
 * Throws a `RangeError` for a negative time or `NaN`.
 */
export const sendAfter = <M>(target: Target<M>, message: M, after: Timeout, options?: Options): TimerRef =>
  schedule(target, after, options, message, false)

/** Sends a `TimeoutMessage` after a time. It contains the timer, so that the message of a cancelled timer is recognized. */
export const start = <A>(target: Target<TimeoutMessage<A>>, message: A, after: Timeout, options?: Options): TimerRef =>
  schedule(target, after, options, message, true)

/** The milliseconds a timer has left; `false` when it is finished. */
export const read = (ref: TimerRef): number | false =>
  ref instanceof Sending && ref.waiting ? Math.max(0, Math.ceil(ref.due - ref.kernel.clock.now())) : false

/** Cancels a timer; returns the milliseconds it had left, or `false` if it was finished. A sent message is not revoked. */
export const cancel = (ref: TimerRef): number | false => {
  const left = read(ref)
  if (ref instanceof Sending) ref.close()
  return left
}
