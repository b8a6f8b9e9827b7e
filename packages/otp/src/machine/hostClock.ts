/**
 * The clock of an actor in a process: the system's time; its callbacks run in a turn of the process.
 *
 * HCLOCK1. A delayed event is not sent if it is cancelled between its due time and the turn.
 */
import { type Cell, MailboxTask, deliver, Timer } from "../kernel/index.ts"

class Delay {
  cancelled = false
  timer: Timer | undefined = undefined
}

export class HostClock {
  readonly #cell: Cell

  constructor(cell: Cell) {
    this.#cell = cell
  }

  setTimeout(run: () => void, ms: number): unknown {
    const delay = new Delay()
    if (this.#cell.dead) return delay
    const mailboxTask = new MailboxTask(() => {
      if (!delay.cancelled) run()
    })
    delay.timer = new Timer(this.#cell.kernel, this.#cell, ms, () => deliver(this.#cell, mailboxTask))
    return delay
  }

  clearTimeout(id: unknown): void {
    if (!(id instanceof Delay)) return
    id.cancelled = true
    id.timer?.close()
  }
}
