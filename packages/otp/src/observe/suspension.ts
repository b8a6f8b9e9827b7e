/**
 * A process that takes no messages until it is resumed.
 *
 * A suspended process is busy, so its messages wait. It waits in a receive that accepts only messages for the process
 * itself: system messages, the request to stop, and the end of its parent.
 *
 * SYSP1. A process has at most one suspension, from the turn that took the request until `resume` or its death.
 * SYSP2. An accepted request to end the process ends the suspension; a system message does not.
 * SUSP3. Signals that are not trapped work as usual.
 */
import { isExit, isStop } from "../core/index.ts"
import { type Cell, receiveFirst, type Receiver, stopReceiving, SysMessage, wake } from "../kernel/index.ts"

class Suspension implements Receiver {
  readonly #cell: Cell

  constructor(cell: Cell) {
    this.#cell = cell
  }

  /** The caller gets its reply before waiting messages are looked at. */
  begin(): void {
    this.#cell.busy = true
    suspensions.set(this.#cell, this)
    queueMicrotask(() => this.#stand())
  }

  match(message: unknown): boolean {
    if (message instanceof SysMessage || isStop(message)) return true
    const { kernel, behaviour } = this.#cell
    return isExit(message) && (message.from === kernel.root || message.from === (behaviour.parent ?? this.#cell))
  }

  found(message: unknown): void {
    const cell = this.#cell
    if (message instanceof SysMessage) {
      message.run()
      return this.#stand()
    }
    suspensions.delete(cell)
    queueMicrotask(() => {
      if (cell.dead) return
      cell.busy = false
      cell.kernel.as(cell, () => cell.behaviour.handle?.(cell, message))
      wake(cell)
    })
  }

  #stand(): void {
    const cell = this.#cell
    if (!cell.dead && suspensions.get(cell) === this) receiveFirst(cell, this)
  }

  end(): void {
    const cell = this.#cell
    suspensions.delete(cell)
    stopReceiving(cell, this)
    cell.busy = false
    wake(cell)
  }
}

const suspensions = new WeakMap<Cell, Suspension>()

export const isSuspended = (cell: Cell): boolean => !cell.dead && suspensions.has(cell)

/** Suspends a process that is between two messages. */
export const suspendCell = (cell: Cell): void => {
  if (!isSuspended(cell)) new Suspension(cell).begin()
}

/** Resumes a process; does nothing if it is not suspended. */
export const resumeCell = (cell: Cell): void => suspensions.get(cell)?.end()
