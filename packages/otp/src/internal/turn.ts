/**
 * The turn of a process: its first run, or a slice of its mail.
 *
 * TURN1. A dead or busy process takes no message.
 * TURN2. What a behaviour throws by mistake is the exit reason of its process, never of the one after it.
 */
import type { Cell } from "./cell.ts"
import { die } from "./death.ts"
import { slice } from "./runQueue.ts"
import { wake } from "./wake.ts"

const takeMail = (cell: Cell): number => {
  let taken = 0
  if (!cell.begun) {
    cell.begun = true
    cell.behaviour.begin?.(cell)
  }
  if (cell.behaviour.handle === undefined) return taken
  while (taken < slice && !cell.dead && !cell.busy && cell.mailbox !== undefined && cell.mailbox.size > 0) {
    taken++
    cell.behaviour.handle(cell, cell.mailbox.shift())
  }
  return taken
}

/** Gives a process its turn; answers how many messages it took. */
export const turn = (cell: Cell): number => {
  if (cell.dead || cell.busy) return 0
  const { kernel } = cell
  const before = kernel.current
  kernel.current = cell
  try {
    return takeMail(cell)
  } catch (error) {
    die(cell, error, "own")
    return 1
  } finally {
    kernel.current = before
    wake(cell)
  }
}
