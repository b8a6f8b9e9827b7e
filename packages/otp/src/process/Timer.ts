/**
 * Messages that are sent later.
 *
 * A timer belongs to its target, not to whoever made it: it outlives its maker, and goes when the target dies. One that
 * sends to a name goes with the system, one that sends to an alias with the process the alias leads to.
 *
 * **Source**
 *
 * Erlang's `erlang:send_after/3`, `start_timer/3`, `cancel_timer/1`, `read_timer/1`.
 */
import { type Cell, cellOf, deliver, type Kernel, kernelOf, Timer } from "../kernel/index.ts"
import { Alias, deliverTo } from "./alias.ts"
import { isName, milliseconds, type Target, type Timeout } from "../core/index.ts"

/** A timer, waiting or over. */
export interface TimerRef {
  readonly _tag: "TimerRef"
}

/** What a timer made by `start` sends. */
export interface TimeoutMessage<A = unknown> {
  readonly _tag: "Timeout"
  readonly ref: TimerRef
  readonly message: A
}

const timers = new WeakMap<TimerRef, { readonly timer: Timer; readonly kernel: Kernel; readonly due: number }>()

/** Whose end is the end of a timer to a target. */
const ownerOf = (target: Target): Cell | undefined => {
  if (!isName(target)) return cellOf(target)
  return target instanceof Alias ? target.whereis() : kernelOf(target.system).root
}

const schedule = (target: Target, after: Timeout, message: (ref: TimerRef) => unknown): TimerRef => {
  const ref: TimerRef = { _tag: "TimerRef" }
  const ms = milliseconds(after)
  const owner = ownerOf(target)
  if (owner === undefined || owner.dead || ms === Number.POSITIVE_INFINITY) return ref
  const { kernel } = owner
  if (kernel.stopped) return ref
  const run = (): void => {
    if (isName(target)) deliverTo(target, message(ref))
    else deliver(cellOf(target), message(ref))
  }
  timers.set(ref, { timer: new Timer(kernel, owner, ms, run), kernel, due: kernel.clock.now() + ms })
  return ref
}

/**
 * Sends a message after a time.
 *
 * **Details**
 *
 * A name is looked up when the time has come; if nobody has it then, the message is dropped. After `"infinity"` nothing
 * is sent, and nothing waits.
 *
 * **Errors**
 *
 * Throws a `RangeError` for a time that is below 0 or `NaN`.
 */
export const sendAfter = <M>(target: Target<M>, message: M, after: Timeout): TimerRef =>
  schedule(target, after, () => message)

/** Sends a message after a time, in a `TimeoutMessage` that names the timer: one that was cancelled can be told apart. */
export const start = <A>(target: Target<TimeoutMessage<A>>, message: A, after: Timeout): TimerRef =>
  schedule(target, after, (ref): TimeoutMessage<A> => ({ _tag: "Timeout", ref, message }))

/** The milliseconds a timer has left; `false` when it is over. */
export const read = (ref: TimerRef): number | false => {
  const entry = timers.get(ref)
  return entry?.timer.waiting === true ? Math.max(0, Math.ceil(entry.due - entry.kernel.clock.now())) : false
}

/** Cancels a timer; answers the milliseconds it had left, `false` when it was over. A message it sent stays sent. */
export const cancel = (ref: TimerRef): number | false => {
  const left = read(ref)
  timers.get(ref)?.timer.close()
  return left
}
