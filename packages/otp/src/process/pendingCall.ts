/**
 * A pending request to another process.
 *
 * Owns the caller's wait: one watcher on the server, one timer, and one resource of the caller.
 *
 * PCALL1. It ends once: by its reply, the end of the server, the timeout, or the end of the caller.
 * PCALL2. When it has ended, its watcher, timer and resource are removed. A later reply is discarded and never reaches
 *        the caller's mailbox.
 * PCALL3. When a timeout passes while the server has unread messages and only waits for the thread, the timeout starts
 *        again. It starts for the last time when the server has taken the messages that waited.
 */
import { CallExit, type ExitReason } from "../core/index.ts"
import {
  type Cell,
  deliver,
  MailboxTask,
  type Resource,
  startTimer,
  type Timer,
  type Watcher
} from "../kernel/index.ts"

/** The callbacks of a caller; one of them is called, exactly once. */
export interface Settle {
  answered(value: unknown): void
  failed(error: CallExit): void
}

/** The server and the caller of a request, and its timeout. */
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
  /** Whether the server still has to take the messages that waited when a timeout passed (PCALL3). */
  #turn: "unknown" | "due" | "had" = "unknown"
  open = true

  constructor(route: Route, settle: Settle) {
    this.#route = route
    this.#settle = settle
  }

  /** Sends the request and starts to wait. */
  begin(message: unknown): void {
    const { server, caller } = this.#route
    if (server === undefined || server.dead) return this.#fail("noproc")
    if (server === caller) return this.#fail("calling_self")
    if (caller?.dead === true) {
      this.open = false
      return
    }
    server.watch(this)
    caller?.own(this)
    this.#startTimer(server)
    deliver(server, message)
  }

  #startTimer(server: Cell): void {
    this.#timer = startTimer(server.kernel, undefined, this.#route.ms, () => this.#passed(server))
  }

  /** PCALL3 */
  #passed(server: Cell): void {
    const onlyLacksThread = server.queued && server.behaviour.handle !== undefined
    if (!onlyLacksThread || this.#turn === "had") return this.#fail("timeout")
    this.#startTimer(server)
    if (this.#turn === "due") return
    this.#turn = "due"
    deliver(server, new MailboxTask(() => this.#hadTurn(server)))
  }

  #hadTurn(server: Cell): void {
    this.#turn = "had"
    if (!this.open) return
    this.#timer?.close()
    this.#startTimer(server)
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

/** A continuation, which runs before the next message. */
export class Continuation {
  readonly term: unknown
  constructor(term: unknown) {
    this.term = term
  }
}
