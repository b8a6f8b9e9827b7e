/** A selective receive that can end by time. */
import { type Cell, receiveFirst, type Receiver, startTimer } from "../kernel/index.ts"

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
  const receiver: Receiver = {
    match: (message) => {
      if (match === undefined) return true
      if (!open) return false
      try {
        return match(message as A)
      } catch (error) {
        open = false
        giveUp()
        failed?.(error)
        return false
      }
    },
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

/** RECV4. A wait that gives way to the event loop has taken no message, and can be given up. */
const receiveLater = <A>(
  cell: Cell,
  match: ((message: A) => boolean) | undefined,
  ms: number,
  taken: (message: A | undefined) => void,
  failed?: (error: unknown) => void
): (() => void) => {
  let giveUp: (() => void) | undefined
  let open = true
  cell.kernel.queue.later(() => {
    if (open) giveUp = receiveNow(cell, match, ms, taken, failed)
  })
  return () => {
    open = false
    giveUp?.()
  }
}

/**
 * Takes the first matching message, as `receiveNow` does, but gives way to the event loop first when that is due: a
 * process that sends to itself, or two that answer each other, would hold the thread.
 */
export const receiveWithin = <A>(
  cell: Cell,
  match: ((message: A) => boolean) | undefined,
  ms: number,
  taken: (message: A | undefined) => void,
  failed?: (error: unknown) => void
): (() => void) =>
  cell.kernel.queue.spend() ? receiveNow(cell, match, ms, taken, failed) : receiveLater(cell, match, ms, taken, failed)
