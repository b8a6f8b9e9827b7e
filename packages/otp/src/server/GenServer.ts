/**
 * Servers: processes that hold a state and reply to calls.
 *
 * A server is a set of callbacks. It handles one message at a time. A callback returns a result made by `ok`, `replying`,
 * `noreply`, `stopping`, …, or a promise or an effect of one. Until that is done the server is busy: messages wait, exit
 * signals do not.
 *
 * **Gotchas**
 *
 * Run long work in a task or a child process, so that the server keeps replying.
 *
 * @example
 * ```ts import.meta.vitest
 * import { GenServer, System } from "@troupe/otp"
 *
 * const counter = GenServer.make({
 *   init: (from: number) => GenServer.ok(from),
 *   handleCall: (request: "next", _from, state) => GenServer.replying(state + 1, state + 1)
 * })
 * const system = System.make()
 * const pid = await GenServer.start(system, counter, 41)
 * await GenServer.call(pid, "next") // => 42
 * await System.stop(system)
 * ```
 *
 * **Source**
 *
 * The OTP design principles, "gen_server Behaviour"; Elixir's `GenServer`.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Effects from "effect/Effect"
import {
  type CallExit,
  CastMessage,
  type ExitReason,
  InvalidOption,
  milliseconds,
  type Name,
  type OfKind,
  type Pid,
  type StartFailed,
  type StartIgnored,
  type System,
  type SystemMessage,
  type SystemStopped,
  type Timeout
} from "../core/index.ts"
import { afterTurn } from "../time/index.ts"
import {
  addressOf,
  callAt,
  callEffectAt,
  CallMessage,
  type CallOptions,
  cellAt,
  deliverTo,
  type From,
  PendingCall
} from "../process/index.ts"
import { callAll } from "./multiCall.ts"
import type { CallsOutcome } from "./multiCall.ts"
import { Cell, cellOf, deliver, kernelOf } from "../kernel/index.ts"
import { scopedServer } from "./scopedServer.ts"
import type { Callbacks } from "./serverLoop.ts"
import { ServerResult } from "./serverLoop.ts"
import { launchServer, startServer, startServerEffect } from "./startServer.ts"
import type { ServerOptions as StartOptions } from "./startServer.ts"
import { stopServer } from "./stopServer.ts"

declare const call_: unique symbol
declare const cast_: unique symbol

/** A server that replies to calls of type `Call` with `Reply`, and takes casts and other messages. */
export interface Server<in Call = never, out Reply = unknown, in Cast = never, in Info = never>
  extends Pid<Info>, OfKind<"server"> {
  readonly [call_]?: ((request: Call) => Reply) | undefined
  readonly [cast_]?: ((message: Cast) => void) | undefined
}

/**
 * A server or the address of one.
 *
 * **Gotchas**
 *
 * A name in the system's table (`Process.named`) does not have the type of its process: it accepts any call.
 */
export type ServerTarget<Call = never, Reply = unknown, Cast = never> =
  | Server<Call, Reply, Cast>
  | Name<never, Server<Call, Reply, Cast>>

/** A result now or later: a value, a promise, or an effect that runs in a fiber of the server. */
export type Answer<A> = A | Promise<A> | Effect.Effect<A, unknown>

/**
 * The action of a server before its next message.
 *
 * **Details**
 *
 * - `continue`: calls `handleContinue` with that term.
 * - `timeout`: sends the info message `"timeout"`, unless a message arrives within that time.
 * - `"hibernate"`: no effect; accepted for compatibility with OTP.
 */
export type Next = { readonly continue: unknown } | { readonly timeout: Timeout } | "hibernate"

/** Returns an action that is valid; throws `InvalidOption` for another, such as the bare number of a timeout. */
const checked = (next: Next | undefined): Next | undefined => {
  if (next === undefined || next === "hibernate") return next
  if (typeof next === "object" && next !== null) {
    if ("continue" in next) return next
    if ("timeout" in next && milliseconds(next.timeout) >= 0) return next
  }
  const allowed = '{ timeout: 5000 }, { continue: term } or "hibernate"'
  throw new InvalidOption({ option: "the action after the callback", value: next, allowed })
}

declare const state_: unique symbol
declare const reply_: unique symbol

/** What `init` returns: the first state of the server, or that it does not start. */
export interface InitResult<out S> {
  readonly [state_]?: S
  /** Which result it is. */
  readonly kind: "ok" | "ignore" | "stop"
}

/** The result of `handleCast`, `handleInfo` and `handleContinue`. */
export interface NoReply<out S> {
  readonly [state_]?: S
  /** Which result it is. */
  readonly kind: "noreply" | "stop"
}

/** The result of `handleCall`. */
export interface CallResult<out S, out R> {
  readonly [state_]?: S
  readonly [reply_]?: () => R
  /** The reply, if there is one. */
  readonly value: R | undefined
  /** Which result it is. */
  readonly kind: "reply" | "noreply" | "stop" | "stopReply"
}

/** `init`: the server is up, with this state. */
export const ok = <S>(state: S, next?: Next): InitResult<S> =>
  new ServerResult("ok", state, undefined, undefined, checked(next))

/** `init`: the server does not run; its start fails with `StartIgnored`, its process ends `normal`. */
export const ignore = (): InitResult<never> => new ServerResult("ignore", undefined, undefined, undefined, undefined)

/** `init`: the server cannot run; its start fails with this reason, and `terminate` does not run. */
export const fail = (reason: ExitReason): InitResult<never> =>
  new ServerResult("stop", undefined, undefined, reason, undefined)

/** Replies to the call and continues with this state. */
export const replying = <S, R>(value: R, state: S, next?: Next): CallResult<S, R> =>
  new ServerResult("reply", state, value, undefined, checked(next))

/** Continues with this state; a call gets its reply later, from `reply`. */
export const noreply = <S>(state: S, next?: Next): CallResult<S, never> & NoReply<S> =>
  new ServerResult("noreply", state, undefined, undefined, checked(next))

/** Ends the server with this reason, after `terminate`; a waiting caller gets the reason. */
export const stopping = <S>(reason: ExitReason, state: S): CallResult<S, never> & NoReply<S> =>
  new ServerResult("stop", state, undefined, reason, undefined)

/** Ends the server with this reason; the caller gets the reply after `terminate`. */
export const stopReply = <S, R>(reason: ExitReason, value: R, state: S): CallResult<S, R> =>
  new ServerResult("stopReply", state, value, reason, undefined)

/** What a report shows of a server. */
export interface Status<S> {
  /** What its last callback returned as its state. */
  readonly state: S
  /** The message that the server is handling: the request of a call, a cast or any other message. `undefined` between two messages. */
  readonly message: unknown
}

/**
 * The callbacks of a server. They run one at a time.
 *
 * **Contract**: a failure of a callback ends the server with it. A thrown result counts as returned.
 */
export interface Definition<
  Args,
  S,
  Call = never,
  Reply = unknown,
  Cast = never,
  Info = never,
  Self = Server<Call, Reply, Cast, Info>
> {
  /** The label in the observer; `GenServer` by default. */
  readonly label?: string
  /** Runs first; the start is complete when it has returned its result. */
  init(args: Args, self: Self): Answer<InitResult<S>>
  /** Handles a call, in mailbox order. It returns `replying`, or `noreply` and later calls `GenServer.reply` with `from`. */
  handleCall?(request: Call, from: From<Reply>, state: S, self: Self): Answer<CallResult<S, Reply>>
  /** Handles a cast, in mailbox order. If it returns nothing, the state is kept. */
  handleCast?(message: Cast, state: S, self: Self): Answer<NoReply<S> | void>
  /**
   * Handles any other message, in mailbox order. If it returns nothing, the state is kept. Without it such messages are
   * ignored, and logged.
   */
  handleInfo?(message: Info | SystemMessage | "timeout", state: S, self: Self): Answer<NoReply<S> | void>
  /** Runs before the next message, after a callback that asked for it. */
  handleContinue?(term: unknown, state: S, self: Self): Answer<NoReply<S> | void>
  /**
   * Returns what crash reports, `Sys.status` and the observer show of the server. Default: all of it. `Sys.getState` still returns
   * the state.
   *
   * **Contract**: it is short, and has no effects. When it throws, the shown text says so.
   */
  formatStatus?(status: Status<S>): { readonly state?: unknown; readonly message?: unknown }
  /** Runs when a callback stops or fails, on `stop`, and, if the server traps exits, when its parent ends. */
  terminate?(reason: ExitReason, state: S, self: Self): Answer<unknown>
}

/** The server itself, in a callback of `make`: it accepts any message, and a call to itself never returns. */
type OpenServer = Server<unknown, never, unknown, unknown>

/**
 * A definition that types returned replies and late replies separately. The type of `self` does not depend on the types of the
 * messages: the compiler infers these from callbacks that take `self` too.
 */
interface Untied<Args, S, Call, Cast, Info, Result, Late> extends Omit<
  Definition<Args, S, Call, unknown, Cast, Info, OpenServer>,
  "handleCall"
> {
  handleCall?(request: Call, from: From<Late>, state: S, self: OpenServer): Answer<Result>
}

type Returned<Result> = Result extends CallResult<unknown, infer Reply> ? Reply : never

/** The types of a server's replies: those that its callback returns, and late ones if their type is given. */
export type Replies<Result, Late> = unknown extends Late
  ? [Returned<Result>] extends [never]
    ? unknown
    : Returned<Result>
  : Returned<Result> | Late

/**
 * Makes the definition of a server. The types of its state and messages are inferred from its callbacks.
 *
 * **Details**
 *
 * Put `init` first: the other callbacks get their state type from it. In the callbacks, `self` accepts any message.
 *
 * **Gotchas**
 *
 * Replies have the type that `handleCall` returns. For late replies, give the type: `from: GenServer.From<number>`.
 */
export const make = <
  Args,
  S,
  Call = never,
  Reply = unknown,
  Cast = never,
  Info = never,
  Late = Reply,
  Result extends CallResult<S, unknown> = CallResult<S, Reply>
>(
  definition: Untied<Args, S, Call, Cast, Info, Result, Late>
): Definition<Args, S, Call, Replies<Result, Late>, Cast, Info> =>
  definition as Definition<Args, S, Call, Replies<Result, Late>, Cast, Info>

const erase = (definition: object): Callbacks => definition as unknown as Callbacks

export type { ServerOptions as StartOptions } from "./startServer.ts"
export type { CallOptions, From } from "../process/index.ts"

/**
 * Starts a server without a link.
 *
 * **Errors**
 *
 * Rejects with `StartFailed`, whose reason is the exit reason of `init`, `"timeout"`, or `AlreadyStarted` if the name is
 * taken; with `StartIgnored` if `init` returned `ignore`; with `SystemStopped` in a stopped system.
 */
export const start = <Args, S, Call, Reply, Cast, Info>(
  system: System,
  definition: Definition<Args, S, Call, Reply, Cast, Info>,
  args: Args,
  options?: StartOptions
): Promise<Server<Call, Reply, Cast, Info>> =>
  startServer(kernelOf(system), undefined, erase(definition), args, options)

/** Starts a server without a link, like `start`; interrupting the effect before the server is up kills it. */
export const startEffect = <Args, S, Call, Reply, Cast, Info>(
  system: System,
  definition: Definition<Args, S, Call, Reply, Cast, Info>,
  args: Args,
  options?: StartOptions
): Effect.Effect<Server<Call, Reply, Cast, Info>, StartFailed | StartIgnored | SystemStopped> =>
  startServerEffect(kernelOf(system), erase(definition), args, options)

/**
 * Starts a server in the system of the context, for the lifetime of the scope.
 *
 * **When to use**
 *
 * When effects own it: `Layer.effect(Tag, GenServer.scoped(definition, args))` is a layer with the server as a service.
 *
 * **Details**
 *
 * When the scope closes, the server ends like a supervisor's child: by the exit signal `shutdown`, and by `kill` after 5
 * seconds of the host's time, so that a scope closes even on a clock that does not advance.
 */
export const scoped = <Args, S, Call, Reply, Cast, Info>(
  definition: Definition<Args, S, Call, Reply, Cast, Info>,
  args: Args,
  options?: StartOptions
): Effect.Effect<Server<Call, Reply, Cast, Info>, StartFailed | StartIgnored | SystemStopped, System | Scope.Scope> =>
  scopedServer((kernel) => startServerEffect(kernel, erase(definition), args, options), 5000)

/** Starts a server linked to its parent, like `start`. The parent gets an exit signal if `init` fails, not on a timeout. */
export const startLink = <Args, S, Call, Reply, Cast, Info>(
  parent: Pid,
  definition: Definition<Args, S, Call, Reply, Cast, Info>,
  args: Args,
  options?: StartOptions
): Promise<Server<Call, Reply, Cast, Info>> =>
  startServer(cellOf(parent).kernel, cellOf(parent), erase(definition), args, options)

/**
 * Starts a server linked to its parent, whose `init` returns synchronously.
 *
 * **Errors**
 *
 * Throws the errors that `startLink` rejects with; also if `init` returns a promise or an effect that waits.
 */
export const spawnLink = <Args, S, Call, Reply, Cast, Info>(
  parent: Pid,
  definition: Definition<Args, S, Call, Reply, Cast, Info>,
  args: Args,
  options?: StartOptions
): Server<Call, Reply, Cast, Info> =>
  launchServer(cellOf(parent).kernel, cellOf(parent), erase(definition), args, options)

const timeOf = (options: CallOptions | undefined): number => milliseconds(options?.timeout ?? 5000)

const asCall = (request: unknown, from: PendingCall): CallMessage => new CallMessage(request, from)

/**
 * Calls a server and waits for its reply.
 *
 * **Errors**
 *
 * Rejects with `CallExit`: `timeout`, `noproc`, `calling_self`, or the exit reason of the server.
 *
 * **Gotchas**
 *
 * After a timeout the server still handles the request. Its late reply is discarded.
 */
export const call = <Call, Reply>(
  target: ServerTarget<Call, Reply>,
  request: Call,
  options?: CallOptions
): Promise<Reply> => callAt(target, request, asCall, "GenServer.call", options)

/** Calls a server, like `call`; interrupting the effect cancels the call. */
export const callEffect = <Call, Reply>(
  target: ServerTarget<Call, Reply>,
  request: Call,
  options?: CallOptions
): Effect.Effect<Reply, CallExit> => callEffectAt(target, request, asCall, "GenServer.call", options)

/** The outcome of a call to several servers: the replies, and the failures, each in the order of the servers. */
export type MultiReply<Call, Reply> = CallsOutcome<ServerTarget<Call, Reply>, Reply>

/**
 * Calls several servers with one request, at once, and waits until each has replied or failed.
 *
 * **Details**
 *
 * `timeout` applies to all calls together. A server that does not reply is among the `failures`, with the `CallExit` that
 * `call` would reject with; this never rejects.
 *
 * **Gotchas**
 *
 * A late reply is discarded, as after a timeout of `call`.
 *
 * @example
 * ```ts import.meta.vitest
 * import { GenServer, Process, System } from "@troupe/otp"
 *
 * const shop = GenServer.make({
 *   init: (stock: number) => GenServer.ok(stock),
 *   handleCall: (_request: "stock", _from, stock) => GenServer.replying(stock, stock)
 * })
 * const system = System.make()
 * const shops = [await GenServer.start(system, shop, 3), await GenServer.start(system, shop, 5)] as const
 * Process.kill(shops[0])
 * const { replies, failures } = await GenServer.multiCall(shops, "stock")
 * replies // => [{ target: shops[1], reply: 5 }]
 * failures.map(({ error }) => error.reason) // => ["noproc"]
 * await System.stop(system)
 * ```
 */
export const multiCall = <Call, Reply>(
  targets: ReadonlyArray<ServerTarget<Call, Reply>>,
  request: NoInfer<Call>,
  options?: CallOptions
): Promise<MultiReply<Call, Reply>> =>
  new Promise((resolve) => {
    callAll(targets, request, options?.from, timeOf(options), resolve)
  })

/** Calls several servers, like `multiCall`; interrupting the effect cancels the calls. */
export const multiCallEffect = <Call, Reply>(
  targets: ReadonlyArray<ServerTarget<Call, Reply>>,
  request: NoInfer<Call>,
  options?: CallOptions
): Effect.Effect<MultiReply<Call, Reply>> =>
  Effects.callback((resume) => {
    const done = (outcome: MultiReply<Call, Reply>): void => afterTurn(() => resume(Effects.succeed(outcome)))
    const drop = callAll(targets, request, options?.from, timeOf(options), done)
    return Effects.sync(drop)
  })

/** Sends a server a message without a reply. It does not report whether the server exists. */
export const cast = <Cast>(target: ServerTarget<never, unknown, Cast>, message: Cast): void => {
  const mail = new CastMessage(message)
  if (target instanceof Cell) return deliver(target, mail)
  const address = addressOf(target)
  if (!deliverTo(address, mail)) kernelOf(address.system).undelivered("dead", address, mail)
}

/** Sends several servers the same message, like `cast`. */
export const abcast = <Cast>(targets: ReadonlyArray<ServerTarget<never, unknown, Cast>>, message: Cast): void => {
  for (const target of targets) cast(target, message)
}

/** Replies to a call later, from any process; if the call has ended, the reply is discarded. */
export const reply = <Reply>(from: From<Reply>, value: Reply): void => {
  if (from instanceof PendingCall) from.answer(value)
}

/**
 * Asks a server, supervisor or machine to end, after its earlier messages, and waits for its end.
 *
 * **Units and defaults**
 *
 * `reason` is `"normal"`; by default there is no timeout. `from` is the calling process, by default the process that has its turn.
 *
 * **Errors**
 *
 * Rejects with `CallExit` if the process is dead, ends with another reason, or does not end in time; it then still ends. If the
 * process stops itself, it rejects with `calling_self`: return `stopping` there.
 *
 * **Gotchas**
 *
 * A process that has waited in its handler no longer has its turn: pass `from` there. Without it, a process that stops itself waits for its
 * own end: JavaScript does not reveal the running process there. After 5 seconds the log says so.
 */
export const stop = (
  target: Pid | Name,
  reason: ExitReason = "normal",
  timeout: Timeout = "infinity",
  from?: Pid
): Promise<void> => stopServer(cellAt(target), reason, milliseconds(timeout), "GenServer.stop", from)
