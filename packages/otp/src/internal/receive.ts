/** A selective receive that can end by time. */
import type { Cell, Receiver } from "./cell.ts"
import { receiveFirst } from "./delivery.ts"
import { startTimer } from "./timer.ts"

/**
 * Takes the first matching message, as `receiveNow` does, giving way to the event loop first when it is due: a process
 * that sends to itself, or two that play ping-pong, would hold the thread.
 *
 * RECV4. A wait that gives way has taken no message, and can be given up.
 */
export const receiveWithin = <A>(
  cell: Cell,
  match: ((message: A) => boolean) | undefined,
  ms: number,
  taken: (message: A | undefined) => void,
  failed?: (error: unknown) => void
): (() => void) => {
  const { queue } = cell.kernel
  if (queue.spend()) return receiveNow(cell, match, ms, taken, failed)
  let giveUp: (() => void) | undefined
  let open = true
  queue.later(() => {
    if (open) giveUp = receiveNow(cell, match, ms, taken, failed)
  })
  return () => {
    open = false
    giveUp?.()
  }
}

/**
 * Takes the first matching message, or `undefined` when the time is up; answers how to give up.
 *
 * RECV1. `taken` is called at most once, and never after giving up or after the process died.
 * RECV2. A process that is one function is at the message it took last, until it waits for the next.
 * RECV3. A `match` that throws ends its own wait with `failed`: the message stays for others, and its sender sees nothing.
 */
const receiveNow = <A>(
  cell: Cell,
  match: ((message: A) => boolean) | undefined,
  ms: number,
  taken: (message: A | undefined) => void,
  failed?: (error: unknown) => void
): (() => void) => {
  const script = cell.behaviour.handle === undefined
  let open = true
  let giveUp = (): void => {}
  const finish = (message: A | undefined): void => {
    if (!open) return
    open = false
    giveUp()
    taken(message)
  }
  const matches = (asked: (message: A) => boolean, message: A): boolean => {
    if (!open) return false
    try {
      return asked(message)
    } catch (error) {
      open = false
      giveUp()
      failed?.(error)
      return false
    }
  }
  const receiver: Receiver = {
    match: (message) => match === undefined || matches(match, message as A),
    found: (message) => {
      if (script) cell.handling = message
      finish(message as A)
    }
  }
  if (script) cell.handling = undefined
  const leave = receiveFirst(cell, receiver)
  if (!open || cell.dead) {
    leave()
    return () => {}
  }
  if (ms <= 0) {
    leave()
    finish(undefined)
    return () => {}
  }
  const timer = startTimer(cell.kernel, cell, ms, () => finish(undefined))
  giveUp = () => {
    leave()
    timer?.close()
  }
  return () => {
    open = false
    giveUp()
  }
}
