/**
 * The turn of a process: its first run, or a slice of its messages.
 *
 * KTURN1. A dead or busy process takes no message.
 * KTURN2. An unexpected error thrown by a behaviour is the exit reason of its process, never of the next one.
 */
import type { Cell } from "./cell.ts"
import { MailboxTask } from "./mailbox.ts"
import { die } from "./exit.ts"
import { slice } from "./runQueue.ts"
import { wake } from "./delivery.ts"

const begin = (cell: Cell): void => cell.behaviour.begin?.(cell)

const take = (cell: Cell, message: unknown): void => {
  if (message instanceof MailboxTask) message.run()
  else cell.behaviour.handle?.(cell, message)
}

/** Records that a busy process may have finished its message. */
export const settled = (cell: Cell): void => {
  if (cell.busy) return
  cell.handling = undefined
  cell.kernel.observer?.settled(cell)
}

/** Gives a process its turn; returns how many messages it took. */
export const turn = (cell: Cell): number => {
  if (cell.dead || cell.busy) return 0
  const { kernel } = cell
  const before = kernel.current
  kernel.current = cell
  let count = 0
  try {
    if (!cell.begun) {
      cell.begun = true
      if (kernel.observer === undefined) begin(cell)
      else kernel.observer.handle(cell, undefined, begin)
    }
    if (cell.behaviour.handle === undefined) return count
    while (count < slice && !cell.dead && !cell.busy && cell.mailbox !== undefined && cell.mailbox.size > 0) {
      count++
      const message = cell.mailbox.shift()
      cell.handling = message
      const { observer } = kernel
      if (observer === undefined) take(cell, message)
      else observer.handle(cell, message, take)
      if (!cell.busy) cell.handling = undefined
    }
    return count
  } catch (error) {
    die(cell, error, "own")
    return 1
  } finally {
    kernel.current = before
    if (cell.mailbox !== undefined && cell.mailbox.size > 0) wake(cell)
  }
}
