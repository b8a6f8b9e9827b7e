/**
 * The clock of a hosted actor: the system's time, with what it runs done in a turn of the host.
 *
 * HCLOCK1. A delayed event that was cancelled between its due time and the turn is not sent.
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
