/**
 * Messages that are sent later.
 *
 * A timer belongs to its target, not to whoever made it: it outlives its maker, and goes when the target dies.
 *
 * **Source**
 *
 * Erlang's `erlang:send_after/3`, `start_timer/3`, `cancel_timer/1`, `read_timer/1`.
 */
import type { Cell } from "./internal/cell.ts"
import { deliverTo } from "./internal/alias.ts"
import { cellOf } from "./internal/cell.ts"
import { deliver } from "./internal/delivery.ts"
import { kernelOf } from "./internal/kernel.ts"
import type { Kernel } from "./internal/kernel.ts"
import { milliseconds } from "./internal/timeout.ts"
import type { Timeout } from "./internal/timeout.ts"
import { Timer } from "./internal/timer.ts"
import { isName } from "./Pid.ts"
import type { Target } from "./Pid.ts"

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

const schedule = (target: Target, after: Timeout, message: (ref: TimerRef) => unknown): TimerRef => {
  const ref: TimerRef = { _tag: "TimerRef" }
  const owner: Cell | undefined = isName(target) ? undefined : cellOf(target)
  if (owner?.dead === true) return ref
  const kernel = isName(target) ? kernelOf(target.system) : cellOf(target).kernel
  const run = (): void => {
    if (isName(target)) deliverTo(target, message(ref))
    else deliver(cellOf(target), message(ref))
  }
  const ms = milliseconds(after)
  timers.set(ref, { timer: new Timer(kernel, owner, ms, run), kernel, due: kernel.clock.now() + ms })
  return ref
}

/**
 * Sends a message after a time.
 *
 * **Details**
 *
 * A name is looked up when the time has come; if nobody has it then, the message is dropped.
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
