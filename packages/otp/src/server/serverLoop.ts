/**
 * The process of a server: handles one message at a time with a callback, and holds the state in between; the results of the callbacks.
 *
 * Owns the state, the state timeout and the phase. The callbacks interpret the messages and the state.
 *
 * SERV1. The phases are `init`, `running`, `ending`; only a running server takes messages.
 * SERV2. A continuation runs before the next message, even before one that was queued during `init`.
 * SERV3. `terminate` runs when a callback stops or fails, on a request to stop, and when the parent of a trapping server
 *        ends; never on a signal that is not trapped, and at most once. A server without a parent is its own, as in OTP: if
 *        it traps exits and sends itself an exit signal, it ends with the signal's reason.
 * SERV4. Any message cancels a state timeout; the tick of a cancelled one is ignored.
 * SERV5. An error or a chosen exit that `terminate` throws replaces the exit reason. Any other thrown value is discarded,
 *        like a returned one: the server ends with its first reason.
 */
import {
  BadReturnValue,
  CastMessage,
  type ExitReason,
  isExit,
  isNoCatch,
  isStop,
  milliseconds,
  NoCallback,
  StartFailed,
  StartIgnored
} from "../core/index.ts"
import {
  type Behaviour,
  type Cell,
  deliver,
  die,
  type Failure,
  ofThrown,
  type Origin,
  startTimer,
  type Timer
} from "../kernel/index.ts"
import {
  CallMessage,
  Continuation,
  type PendingCall,
  perform,
  resume,
  type Settle,
  settleValue
} from "../process/index.ts"
import type { Timeout } from "../core/index.ts"

/** The callbacks of a server, with their types erased. */
export interface Callbacks {
  /** The kind that the observer shows; `server` by default. */
  readonly kind?: string
  /** The displayed name of servers whose start names none; their name by default. */
  readonly label?: string
  readonly init: (args: unknown, self: Cell) => unknown
  readonly handleCall?: (request: unknown, from: PendingCall, state: unknown, self: Cell) => unknown
  readonly handleCast?: (message: unknown, state: unknown, self: Cell) => unknown
  readonly handleInfo?: (message: unknown, state: unknown, self: Cell) => unknown
  readonly handleContinue?: (term: unknown, state: unknown, self: Cell) => unknown
  readonly terminate?: (reason: ExitReason, state: unknown, self: Cell) => unknown
  /** Returns what reports show, see `GenServer.Definition`. */
  readonly formatStatus?: (status: { readonly state: unknown; readonly message: unknown }) => {
    readonly state?: unknown
    readonly message?: unknown
  }
  /** Returns the displayed state; the state is then not replaceable. */
  readonly show?: (state: unknown) => unknown
}

/** The callbacks of the code that starts a server. */
export interface Starter {
  started: (cell: Cell) => void
  readonly failed: (error: StartFailed | StartIgnored) => void
}

/** The end of one state timeout, identified by its object. */
class Tick {
  timer: Timer | undefined = undefined
}

export class Server implements Behaviour, Settle {
  readonly #callbacks: Callbacks
  readonly parent: Cell | undefined
  #starter: Starter | undefined
  /** Before the result of `init`, its arguments. */
  #state: unknown
  #tick: Tick | undefined = undefined
  phase: "init" | "running" | "ending" = "init"

  constructor(callbacks: Callbacks, args: unknown, parent: Cell | undefined, starter: Starter) {
    this.#callbacks = callbacks
    this.#state = args
    this.parent = parent
    this.#starter = starter
  }

  get kind(): string {
    return this.#callbacks.kind ?? "server"
  }

  get state(): unknown {
    return this.phase === "init" ? undefined : this.#state
  }

  inspect(): unknown {
    const { show } = this.#callbacks
    return show === undefined || this.phase === "init" ? this.state : show(this.#state)
  }

  shown(message: unknown): ReturnType<NonNullable<Callbacks["formatStatus"]>> | undefined {
    const { formatStatus } = this.#callbacks
    return this.phase === "init" ? undefined : formatStatus?.({ state: this.#state, message })
  }

  replace(state: unknown): boolean {
    if (this.#callbacks.show !== undefined) return false
    this.#state = state
    return true
  }

  begin(cell: Cell): void {
    const args = this.#state
    this.#state = undefined
    let value: unknown
    try {
      value = this.#callbacks.init(args, cell)
    } catch (error) {
      const missing = typeof this.#callbacks.init !== "function"
      return this.#initFailed(cell, ofThrown(missing ? new NoCallback({ callback: "init", request: args }) : error))
    }
    if (value instanceof ServerResult) return this.#initialised(cell, value)
    settleValue(cell, value, this)
  }

  /** Continues with the result of a callback, or its failure. A busy server handles one message until then. */
  settle(cell: Cell, value: unknown, failure: Failure | undefined): void {
    if (this.phase === "init") {
      if (failure === undefined) this.#initialised(cell, value)
      else this.#initFailed(cell, failure)
      return
    }
    const from = cell.handling instanceof CallMessage ? cell.handling.from : undefined
    if (failure === undefined) this.#apply(cell, value, from)
    else this.#failed(cell, failure, from)
  }

  handle(cell: Cell, message: unknown): void {
    if (message instanceof Tick && message !== this.#tick) return
    if (this.#tick !== undefined) this.#dropTimeout()
    if (message instanceof CallMessage) this.#run(cell, message, message.from)
    else if (isStop(message)) this.#end(cell, message.reason, "own")
    else if (isExit(message) && (message.from === (this.parent ?? cell) || message.from === cell.kernel.root)) {
      this.#end(cell, message.reason, "signal")
    } else this.#run(cell, message, undefined)
  }

  ended(_cell: Cell, reason: ExitReason): void {
    if (this.#starter !== undefined) this.#fail(new StartFailed({ reason }))
    this.#tick = undefined
  }

  /** Passes a message to its callback. */
  #callback(cell: Cell, message: unknown): unknown {
    const { handleCall, handleCast, handleInfo, handleContinue } = this.#callbacks
    if (message instanceof CastMessage) {
      if (handleCast === undefined) throw new NoCallback({ callback: "handleCast", request: message.message })
      return handleCast(message.message, this.#state, cell)
    }
    if (message instanceof CallMessage) {
      if (handleCall === undefined) throw new NoCallback({ callback: "handleCall", request: message.request })
      return handleCall(message.request, message.from, this.#state, cell)
    }
    if (message instanceof Continuation) {
      if (handleContinue === undefined) throw new NoCallback({ callback: "handleContinue", request: message.term })
      return handleContinue(message.term, this.#state, cell)
    }
    if (handleInfo === undefined) return cell.kernel.undelivered("unexpected", cell, message)
    return handleInfo(message instanceof Tick ? "timeout" : message, this.#state, cell)
  }

  #started(cell: Cell): void {
    const starter = this.#starter
    this.#starter = undefined
    starter?.started(cell)
  }

  #fail(error: StartFailed | StartIgnored): void {
    const starter = this.#starter
    this.#starter = undefined
    starter?.failed(error)
  }

  #initialised(cell: Cell, value: unknown): void {
    if (!(value instanceof ServerResult)) return this.#initEnds(cell, new BadReturnValue({ value }))
    switch (value.kind) {
      case "ok":
        this.#state = value.state
        this.phase = "running"
        this.#started(cell)
        return this.#proceed(cell, value.next)
      case "ignore":
        this.#fail(new StartIgnored())
        return die(cell, "normal", "own")
      case "stop":
        return this.#initEnds(cell, value.reason)
      default:
        return this.#initEnds(cell, new BadReturnValue({ value }))
    }
  }

  #initFailed(cell: Cell, failure: Failure): void {
    if (failure.thrown instanceof ServerResult) this.#initialised(cell, failure.thrown)
    else this.#initEnds(cell, orBadReturn(failure))
  }

  #initEnds(cell: Cell, reason: ExitReason): void {
    die(cell, reason, "own")
  }

  #run(cell: Cell, message: unknown, from: PendingCall | undefined): void {
    let value: unknown
    try {
      value = this.#callback(cell, message)
    } catch (error) {
      return this.#failed(cell, ofThrown(error), from)
    }
    if (value instanceof ServerResult) this.#apply(cell, value, from)
    else settleValue(cell, value, this)
  }

  #failed(cell: Cell, failure: Failure, from: PendingCall | undefined): void {
    if (failure.thrown instanceof ServerResult) this.#apply(cell, failure.thrown, from)
    else this.#end(cell, orBadReturn(failure), "own")
  }

  #apply(cell: Cell, value: unknown, from: PendingCall | undefined): void {
    if (cell.dead) return
    if (value === undefined && from === undefined) return this.#proceed(cell, undefined)
    if (!(value instanceof ServerResult)) return this.#end(cell, new BadReturnValue({ value }), "own")
    switch (value.kind) {
      case "reply":
        this.#state = value.state
        if (from === undefined) return this.#end(cell, new BadReturnValue({ value }), "own")
        from.answer(value.value)
        if (value.next !== undefined) this.#proceed(cell, value.next)
        return
      case "noreply":
        this.#state = value.state
        return this.#proceed(cell, value.next)
      case "stop":
        this.#state = value.state
        return this.#end(cell, value.reason, "own")
      case "stopReply":
        this.#state = value.state
        return this.#end(cell, value.reason, "own", () => from?.answer(value.value))
      default:
        return this.#end(cell, new BadReturnValue({ value }), "own")
    }
  }

  #proceed(cell: Cell, next: Next): void {
    if (next === undefined || next === "hibernate" || cell.dead) return
    if ("continue" in next) return this.#continue(cell, next.continue)
    const tick = new Tick()
    this.#tick = tick
    const ms = milliseconds(next.timeout)
    if (ms <= 0) deliver(cell, tick)
    else tick.timer = startTimer(cell.kernel, cell, ms, () => deliver(cell, tick))
  }

  #continue(cell: Cell, term: unknown): void {
    cell.busy = true
    const { queue } = cell.kernel
    const settle = (): void => {
      const continuation = new Continuation(term)
      cell.handling = continuation
      this.#run(cell, continuation, undefined)
    }
    const goOn = (): void => resume(cell, { settle }, undefined, undefined)
    if (queue.spend()) queueMicrotask(goOn)
    else queue.later(goOn)
  }

  #dropTimeout(): void {
    this.#tick?.timer?.close()
    this.#tick = undefined
  }

  #end(cell: Cell, reason: ExitReason, origin: Origin, done?: () => void): void {
    if (this.phase === "ending" || cell.dead) return
    this.phase = "ending"
    this.#dropTimeout()
    const { terminate } = this.#callbacks
    const finish = (last: ExitReason, by: Origin): void => {
      done?.()
      die(cell, last, by)
    }
    if (terminate === undefined) return finish(reason, origin)
    cell.busy = true
    const settle = (_cell: Cell, _value: unknown, failure: Failure | undefined): void =>
      failure === undefined || isThrow(failure) ? finish(reason, origin) : finish(failure.reason, "own")
    perform(cell, () => terminate(reason, this.#state, cell), { settle })
  }
}

/** Whether a thrown value is no error; it then counts as returned by the callback. */
const isThrow = ({ reason, thrown }: Failure): boolean => isNoCatch(reason) && reason.value === thrown

/** The reason of a failure. A thrown value that counts as returned is an invalid result. */
const orBadReturn = (failure: Failure): ExitReason =>
  isThrow(failure) ? new BadReturnValue({ value: failure.thrown }) : failure.reason

/** The action of a server before its next message. */
type Next = { readonly continue: unknown } | { readonly timeout: Timeout } | "hibernate" | undefined

type ResultKind = "ok" | "ignore" | "reply" | "noreply" | "stop" | "stopReply"

/** One shape for all results, distinguished by `kind`. */
export class ServerResult<K extends ResultKind = ResultKind, V = unknown> {
  readonly kind: K
  readonly state: unknown
  readonly value: V
  readonly reason: unknown
  readonly next: Next

  constructor(kind: K, state: unknown, value: V, reason: unknown, next: Next) {
    this.kind = kind
    this.state = state
    this.value = value
    this.reason = reason
    this.next = next
  }
}
