/**
 * A request on its way to another process.
 *
 * Owns the caller's wait: one watcher on the server, one timer, and a place among the caller's resources.
 *
 * PCALL1. It ends once: by its answer, by the end of the server, by time, or because the caller is gone.
 * PCALL2. When it has ended nothing of it is left anywhere, and a later answer is dropped: the caller's mailbox never
 *        sees it.
 */
import { CallExit, type ExitReason } from "../core/index.ts"
import { type Cell, deliver, type Resource, startTimer, type Timer, type Watcher } from "../kernel/index.ts"

/** What a caller is told, exactly once. */
export interface Settle {
  answered(value: unknown): void
  failed(error: CallExit): void
}

/** Who asks whom, and how long for. */
export interface Route {
  readonly server: Cell | undefined
  readonly caller: Cell | undefined
  readonly ms: number
  readonly in: string
}

export class PendingCall implements Watcher, Resource {
  readonly #route: Route
  readonly #settle: Settle
  #timer: Timer | undefined
  open = true

  constructor(route: Route, settle: Settle) {
    this.#route = route
    this.#settle = settle
  }

  /** Sends the request and starts to wait. */
  begin(message: unknown): void {
    const { server, caller, ms } = this.#route
    if (server === undefined || server.dead) return this.#fail("noproc")
    if (server === caller) return this.#fail("calling_self")
    if (caller?.dead === true) {
      this.open = false
      return
    }
    server.watch(this)
    caller?.own(this)
    this.#timer = startTimer(server.kernel, undefined, ms, () => this.#fail("timeout"))
    deliver(server, message)
  }

  get caller(): Cell | undefined {
    return this.#route.caller
  }

  answer(value: unknown): void {
    if (!this.#leave()) return
    this.#route.server?.kernel.observer?.replied(this.#route.caller, value)
    this.#settle.answered(value)
  }

  down(_cell: Cell, reason: ExitReason): void {
    this.#fail(reason)
  }

  close(): void {
    this.#leave()
  }

  #fail(reason: ExitReason): void {
    if (this.#leave()) this.#settle.failed(new CallExit({ reason, in: this.#route.in }))
  }

  #leave(): boolean {
    if (!this.open) return false
    this.open = false
    this.#timer?.close()
    this.#route.server?.watchers?.delete(this)
    this.#route.caller?.disown(this)
    return true
  }
}

export class CallMessage {
  readonly request: unknown
  readonly from: PendingCall
  constructor(request: unknown, from: PendingCall) {
    this.request = request
    this.from = from
  }
}

/** What is left to do before the next message. */
export class Continuation {
  readonly term: unknown
  constructor(term: unknown) {
    this.term = term
  }
}
