import type { Cell } from "./cell.ts"

/** Queues a process that has messages and can handle them. */
export const wake = (cell: Cell): void => {
  if (cell.dead || cell.busy) return
  if (!cell.begun || (cell.behaviour.handle !== undefined && cell.mailbox !== undefined && cell.mailbox.size > 0)) {
    cell.kernel.queue.add(cell)
  }
}
