/**
 * A pending request to another process, and the process that a name stands for.
 *
 * Owns the caller's wait: one watcher on the server, one timer, and one resource of the caller.
 *
 * PCALL1. It ends once: by its reply, the end of the server, the timeout, or the end of the caller.
 * PCALL2. When it has ended, its watcher, timer and resource are removed. A later reply is discarded and never reaches
 *        the caller's mailbox.
 * PCALL3. When a timeout passes while the server has unread messages and only waits for the thread, the timeout starts
 *        again. It starts for the last time when the server has taken the messages that waited.
 */
import * as Effect from "effect/Effect"
import {
  CallExit,
  type ExitReason,
  InvalidOption,
  milliseconds,
  type Pid,
  type Target,
  type Timeout,
  format,
  isName,
  type Name
} from "../core/index.ts"
import { afterTurn } from "../time/index.ts"
import {
  Cell,
  cellOf,
  deliver,
  MailboxTask,
  type Resource,
  startTimer,
  type Timer,
  type Watcher
} from "../kernel/index.ts"

declare const reply_: unique symbol

/** The caller of a call: reply to it with `reply`. */
export interface From<in Reply> {
  readonly [reply_]?: ((reply: Reply) => void) | undefined
}

/**
 * The options of a call.
 *
 * **Details**: a timeout measures the server, not the machine. When it passes while the server has unread messages and only waits
 * for the thread, it starts again. It starts for the last time when the server has taken the messages that waited.
 */
export interface CallOptions {
  /** How long the call waits for its reply. Default: 5 seconds. */
  readonly timeout?: Timeout
  /** The calling process; when it dies, the call is cancelled. Default: the process that has its turn. */
  readonly from?: Pid
}

/** The server and the caller of a request, and its timeout. */
export interface Route {
  readonly server: Cell | undefined
  readonly caller: Cell | undefined
  readonly ms: number
  readonly in: string
}

export class PendingCall implements Watcher, Resource {
  readonly #server: Cell | undefined
  readonly #caller: Cell | undefined
  readonly #ms: number
  readonly #in: string
  readonly #answered: (value: unknown) => void
  readonly #failed: (error: CallExit) => void
  #timer: Timer | undefined = undefined
  /** Whether the server still has to take the messages that waited when a timeout passed (PCALL3). */
  #turn: "unknown" | "due" | "had" = "unknown"
  #open = true

  /** One of the functions is called, at most once: with the reply, or with the error of the call. */
  constructor(route: Route, answered: (value: unknown) => void, failed: (error: CallExit) => void) {
    this.#server = route.server
    this.#caller = route.caller
    this.#ms = route.ms
    this.#in = route.in
    this.#answered = answered
    this.#failed = failed
  }

  /** Sends the request and starts to wait. */
  begin(message: unknown): void {
    const caller = this.#caller
    const server = this.#server
    if (server === undefined || server.dead) return this.#fail("noproc")
    if (server === caller) return this.#fail("calling_self")
    if (caller?.dead === true) {
      this.#open = false
      return
    }
    server.watch(this)
    caller?.own(this)
    this.#startTimer(server)
    deliver(server, message)
  }

  #startTimer(server: Cell): void {
    this.#timer = startTimer(server.kernel, undefined, this.#ms, () => this.#passed(server))
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
    if (!this.#open) return
    this.#timer?.close()
    this.#startTimer(server)
  }

  get caller(): Cell | undefined {
    return this.#caller
  }

  answer(value: unknown): void {
    if (!this.#leave()) return
    this.#server?.kernel.observer?.replied(this.#caller, value)
    this.#answered(value)
  }

  down(_cell: Cell, reason: ExitReason): void {
    this.#fail(reason)
  }

  close(): void {
    this.#leave()
  }

  #fail(reason: ExitReason): void {
    if (this.#leave()) this.#failed(new CallExit({ reason, in: this.#in }))
  }

  #leave(): boolean {
    if (!this.#open) return false
    this.#open = false
    this.#timer?.close()
    this.#server?.watchers?.delete(this)
    this.#caller?.disown(this)
    return true
  }
}

/** Puts a request and its caller into a message. */
type Enclose = (request: unknown, from: PendingCall) => unknown

const routeTo = (target: Target, where: string, options: CallOptions | undefined): Route => {
  if (options !== undefined && typeof options !== "object") {
    throw new InvalidOption({ option: `the last argument of ${where}`, value: options, allowed: "{ timeout: 5000 }" })
  }
  const server = cellAt(target)
  const caller = options?.from === undefined ? server?.kernel.current : cellOf(options.from)
  return { server, caller, ms: milliseconds(options?.timeout ?? 5000), in: where }
}

/** Calls a process; `where` names the function in the error. */
export const callAt = <Reply>(
  target: Target,
  request: unknown,
  enclose: Enclose,
  where: string,
  options: CallOptions | undefined
): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const pending = new PendingCall(routeTo(target, where, options), resolve as (value: unknown) => void, reject)
    pending.begin(enclose(request, pending))
  })

/** Calls a process, like `callAt`; interrupting the effect cancels the call. */
export const callEffectAt = <Reply>(
  target: Target,
  request: unknown,
  enclose: Enclose,
  where: string,
  options: CallOptions | undefined
): Effect.Effect<Reply, CallExit> =>
  Effect.callback((resume) => {
    const pending = new PendingCall(
      routeTo(target, where, options),
      (value) => afterTurn(() => resume(Effect.succeed(value as Reply))),
      (error) => afterTurn(() => resume(Effect.fail(error)))
    )
    pending.begin(enclose(request, pending))
    return Effect.sync(() => pending.close())
  })

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

/** Returns a target that is an address; throws for any other value. */
export const addressOf = <M>(target: Target<M>): Name<M> => {
  if (typeof target === "object" && target !== null && isName(target)) return target
  throw new TypeError(`${format(target)} is neither a process nor an address: pass a pid or an address`)
}

/** The process of a pid, living or dead, or the living process of an address. */
export const cellAt = (target: Target): Cell | undefined => {
  if (target instanceof Cell) return target
  const pid = addressOf(target).whereis()
  return pid === undefined ? undefined : cellOf(pid)
}
