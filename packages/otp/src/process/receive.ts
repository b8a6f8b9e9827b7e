/** A selective receive with a timeout. */
import { type Cell, receiveFirst, type Receiver, startTimer } from "../kernel/index.ts"

/**
 * Takes the first matching message, or `undefined` after the timeout; returns a function that cancels the wait.
 *
 * RECV1. `taken` is called at most once, and never after cancellation or after the process died.
 * RECV2. A process that is one function is handling the last message it took, until it waits for the next.
 * RECV3. If `match` throws, its wait ends with `failed`: the message remains for others, and its sender gets no error.
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

/** RECV4. A wait that yields to the event loop has taken no message, and can be cancelled. */
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
 * Takes the first matching message, like `receiveNow`, but yields to the event loop first when that is due. Otherwise a
 * process that sends to itself, or two that reply to each other, would block the thread.
 */
export const receiveWithin = <A>(
  cell: Cell,
  match: ((message: A) => boolean) | undefined,
  ms: number,
  taken: (message: A | undefined) => void,
  failed?: (error: unknown) => void
): (() => void) =>
  cell.kernel.queue.spend() ? receiveNow(cell, match, ms, taken, failed) : receiveLater(cell, match, ms, taken, failed)
