/**
 * Processes: spawn them, send to them, end them, and monitor them.
 *
 * A process is an identity, a mailbox and running code. Processes communicate by messages and signals, and are not meant
 * to share state. When a process dies, exactly the processes linked to it or monitoring it are notified.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Process, System } from "@troupe/otp"
 *
 * const system = System.make()
 * const answer = await new Promise((resolve) => {
 *   const echo = Process.spawn<string>(system, async (self) => {
 *     resolve(await Process.receive(self))
 *   })
 *   Process.send(echo, "hello")
 * })
 * answer // => "hello"
 * await System.stop(system)
 * ```
 *
 * **Source**
 *
 * The Erlang reference manual, "Processes"; Elixir's `Process`.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Effects from "effect/Effect"
import {
  exitMessage,
  type ExitReason,
  InvalidOption,
  isDown,
  milliseconds,
  type MonitorRef,
  type Name,
  NameTaken,
  NoProcess,
  type OfKind,
  type Pid,
  type System,
  type SystemMessage,
  type Target,
  type Timeout,
  UnknownName
} from "../core/index.ts"
import { Alias as AliasAddress, AliasMonitor, deliverTo } from "./alias.ts"
import {
  Cell,
  cellOf,
  deliver,
  die,
  join,
  kernelOf,
  sameSystem,
  SelfExit,
  signal,
  wake,
  type Watcher
} from "../kernel/index.ts"
import { addressOf, cellAt } from "./pendingCall.ts"
import { abortSignalOf, scopeOf } from "./processScope.ts"
import { Monitor } from "./monitor.ts"
import { receiveWithin } from "./receive.ts"
import { Script } from "./processBody.ts"
import { isSensitive, setSensitive } from "./redaction.ts"

/**
 * The code of a process: a function that runs once.
 *
 * **Contract**
 *
 * It starts in its own turn, after `spawn` has returned. When it returns, resolves or succeeds, the process ends
 * `normal`. If it throws, rejects or fails, the error is the exit reason. When the process is ended from outside, an
 * effect is interrupted and its finalizers run. A promise cannot be interrupted and is abandoned: its `receive` never
 * resolves, and `abortSignal` aborts.
 */
export type Body<M> = (self: Pid<M>) => void | Promise<unknown> | Effect.Effect<unknown, unknown>

/**
 * A process that is one function and takes messages and signals.
 *
 * **Details**
 *
 * Its type differs from the types of servers, agents, supervisors, registries and machines. Use `Pid` for a process of
 * any kind.
 */
export interface Process<in M = never> extends Pid<M>, OfKind<"process"> {}

/** The names of a process. */
export interface SpawnOptions {
  /** Registers the process in its system. Default: the process has no name. */
  readonly name?: string
  /** The displayed name. Default: `name`. */
  readonly label?: string
}

const launch = (system: System, parent: Cell | undefined, body: Body<unknown>, options: SpawnOptions = {}): Cell => {
  const kernel = kernelOf(system)
  if (options.name !== undefined) refuseTaken(system, options.name)
  const cell = kernel.make(
    new Script("process", body),
    parent ?? kernel.current,
    options.label ?? options.name ?? "process"
  )
  if (options.name !== undefined) register(options.name, cell)
  wake(cell)
  return cell
}

const refuseTaken = (system: System, name: string): void => {
  const holder = kernelOf(system).names.get(name)
  if (holder !== undefined) throw new NameTaken({ name, pid: holder })
}

/**
 * Starts a process without a link.
 *
 * **Errors**
 *
 * Throws `NameTaken` if the name is taken, `SystemStopped` in a stopped system.
 */
export const spawn = <M = unknown>(system: System, body: Body<M>, options?: SpawnOptions): Process<NoInfer<M>> =>
  launch(system, undefined, body, options)

/**
 * Starts a process linked to its parent, before its first instruction runs.
 *
 * **Gotchas**
 *
 * The child of a dead parent ends at once, with `noproc`.
 */
export const spawnLink = <M = unknown>(parent: Pid, body: Body<M>, options?: SpawnOptions): Process<NoInfer<M>> => {
  const owner = cellOf(parent)
  const cell = launch(owner.kernel, owner, body, options)
  if (owner.dead) die(cell, "noproc", "signal")
  else join(owner, cell)
  return cell
}

/** Starts a process monitored by its parent, before its first instruction runs. */
export const spawnMonitor = <M = unknown>(
  parent: Pid,
  body: Body<M>,
  options?: SpawnOptions
): { readonly pid: Process<NoInfer<M>>; readonly ref: MonitorRef } => {
  const owner = cellOf(parent)
  const cell = launch(owner.kernel, owner, body, options)
  return { pid: cell, ref: new Monitor(owner, cell, cell) }
}

/**
 * Sends a message; it is in the mailbox when this returns.
 *
 * **Errors**
 *
 * Throws `UnknownName` if the name is not registered. A message to a dead process or a closed alias is discarded.
 */
export const send = <M>(target: Target<M>, message: M): void => {
  if (target instanceof Cell) return deliver(target, message)
  const address = addressOf(target)
  if (!deliverTo(address, message)) lost(address, message)
}

const lost = (address: Name, message: unknown): void => {
  if (!(address instanceof AliasAddress)) throw new UnknownName({ name: address.name })
  address.system.undelivered("dead", address, message)
}

/** The options of a receive: which message to take, and how long to wait. */
export interface ReceiveOptions<A, T = A> {
  /** Takes the first message for which this returns true and leaves the others; by default the first message. */
  readonly match?: ((message: A) => message is A & T) | ((message: A) => boolean)
  /** How long to wait; by default without a limit. With 0, only a message that has arrived is taken. */
  readonly timeout?: Timeout
}

/**
 * Takes a message out of the process's own mailbox; waits if there is none.
 *
 * **Details**
 *
 * Resolves with `undefined` after the timeout. In a dead process it never resolves.
 *
 * **Errors**
 *
 * Rejects with the error of `match`; the tested message stays in the mailbox.
 */
export const receive = <M>(
  self: Pid<M>,
  options?: ReceiveOptions<M | SystemMessage>
): Promise<M | SystemMessage | undefined> =>
  new Promise((resolve, reject) => {
    receiveWithin<M | SystemMessage>(cellOf(self), options?.match, wait(options?.timeout), resolve, reject)
  })

/** Takes a message like `receive`; if interrupted, it takes none. An error of `match` is a defect. */
export const receiveEffect = <M>(
  self: Pid<M>,
  options?: ReceiveOptions<M | SystemMessage>
): Effect.Effect<M | SystemMessage | undefined> =>
  Effects.callback((resume) => {
    const cell = cellOf(self)
    const taken = (message: M | SystemMessage | undefined): void =>
      cell.kernel.as(cell, () => resume(Effects.succeed(message)))
    const failed = (error: unknown): void => cell.kernel.as(cell, () => resume(Effects.die(error)))
    const waiting = receiveWithin(cell, options?.match, wait(options?.timeout), taken, failed)
    return Effects.sync(() => waiting.close())
  })

const wait = (timeout: Timeout | undefined): number => milliseconds(timeout ?? "infinity")

/**
 * Sends an exit signal.
 *
 * **Details**
 *
 * `normal` has no effect, unless the target traps exits or sends it to itself. `kill` always ends the target, with the
 * reason `killed`. Any other reason ends the target with that reason, or is a message if it traps exits. If the signal
 * ends the target, it is dead when this returns.
 *
 * **Units and defaults**
 *
 * `from` is the process that has its turn, else none.
 */
export const exit = (target: Pid, reason: ExitReason, from?: Pid): true => {
  const cell = cellOf(target)
  signal(from === undefined ? (cell.kernel.current ?? cell.kernel.outside) : cellOf(from), cell, reason, "direct")
  return true
}

/** Ends a process, even if it traps exits; others see the reason `killed`. */
export const kill = (target: Pid): true => exit(target, "kill")

/**
 * Makes an error that ends the process with a reason when the process throws it, or an effect of it dies with it.
 *
 * **Gotchas**
 *
 * It can be caught like any other error; the process then continues.
 */
export const exitWith = (reason: ExitReason): Error & { readonly reason: ExitReason } => new SelfExit(reason)

/** Whether a caught error is from `exitWith` or `exitSelf`. */
export const isSelfExit = (thrown: unknown): thrown is Error & { readonly reason: ExitReason } =>
  thrown instanceof SelfExit

/** Ends the running process with a reason, by throwing. */
export const exitSelf = (reason: ExitReason): never => {
  throw new SelfExit(reason)
}

/**
 * Links two processes: when one ends, the other gets an exit signal.
 *
 * **Errors**
 *
 * Throws `NoProcess` if the other is dead and this process does not trap exits; if it does, it gets an `Exit` with the
 * reason `noproc`. Throws `OtherSystem` if the processes belong to different systems.
 */
export const link = (self: Pid, other: Pid): true => {
  const [one, two] = [cellOf(self), cellOf(other)]
  if (one.dead || one === two) return true
  sameSystem(one, two)
  if (!two.dead) join(one, two)
  else if (one.trap) deliver(one, exitMessage(two, "noproc"))
  else throw new NoProcess({ pid: two })
  return true
}

/** Removes the link between two processes, if there is one. An `Exit` in the mailbox stays there. */
export const unlink = (self: Pid, other: Pid): true => {
  const [one, two] = [cellOf(self), cellOf(other)]
  one.removeLink(two)
  two.removeLink(one)
  return true
}

/** Monitors a process, also of another system: when it ends, `self` gets one `Down` for each of its monitors. */
export const monitor = (self: Pid, target: Target): MonitorRef => new Monitor(cellOf(self), cellAt(target), target)

declare const alias_: unique symbol

/** A temporary address of a process, made by `alias` or `monitorAlias`, which the process can close. */
export interface Alias<in M = never> extends Name<M> {
  readonly [alias_]?: never
}

/**
 * Makes an address of a process that it can close: messages to a closed alias are discarded.
 *
 * **When to use**
 *
 * To get a reply from a process that is not a server: a late reply is discarded. `GenServer.call` and tasks need no
 * alias.
 *
 * **Details**
 *
 * `mode` says when it is closed, at the latest when the process dies:
 *
 * - `"explicitUnalias"`: by `unalias`.
 * - `"reply"`: by `unalias`, or by the first message that is sent to it.
 *
 * **Units and defaults**
 *
 * `mode` is `"explicitUnalias"`.
 */
export const alias = <M>(self: Pid<M>, mode: "explicitUnalias" | "reply" = "explicitUnalias"): Alias<M> =>
  new AliasAddress(cellOf(self), mode === "reply")

/** Closes an alias of this process; returns whether it was active. For any other process nothing happens, and it is `false`. */
export const unalias = (address: Alias, from?: Pid): boolean =>
  address instanceof AliasAddress && address.isOf(from ?? kernelOf(address.system).current) && address.close()

/**
 * Monitors a process, like `monitor`, and makes an alias for its reply, which is closed with the monitor.
 *
 * **Details**
 *
 * `mode` says what ends both:
 *
 * - `"demonitor"`: `demonitor`, or the `Down`.
 * - `"replyDemonitor"`: the same, or the first message that is sent to the alias.
 * - `"explicitUnalias"`: the same ends the monitor, but only `unalias` ends the alias.
 *
 * `unalias` closes only the alias.
 *
 * **Units and defaults**
 *
 * `mode` is `"replyDemonitor"`.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Process, System } from "@troupe/otp"
 *
 * const system = System.make()
 * const oracle = Process.spawn<Process.Alias<string>>(system, async (self) => {
 *   const asker = await Process.receive(self)
 *   Process.send(asker as Process.Alias<string>, "maybe")
 *   Process.send(asker as Process.Alias<string>, "or not")
 * })
 * const received = await new Promise((resolve) => {
 *   Process.spawn<string>(system, async (self) => {
 *     const { alias } = Process.monitorAlias(self, oracle)
 *     Process.send(oracle, alias)
 *     resolve([await Process.receive(self), await Process.receive(self, { timeout: 1 })])
 *   })
 * })
 * received // => ["maybe", undefined]
 * await System.stop(system)
 * ```
 */
export const monitorAlias = <M>(
  self: Pid<M>,
  target: Target,
  mode: "explicitUnalias" | "demonitor" | "replyDemonitor" = "replyDemonitor"
): { readonly ref: MonitorRef; readonly alias: Alias<M> } => {
  const ref = new AliasMonitor(cellOf(self), target, mode)
  return { ref, alias: ref.alias }
}

/**
 * Removes a monitor.
 *
 * **Details**
 *
 * `flush` also removes its `Down` from the mailbox. With `info` the result is whether the monitor was active, else it is
 * `true`.
 */
export const demonitor = (
  ref: MonitorRef,
  options?: { readonly flush?: boolean; readonly info?: boolean }
): boolean => {
  if (!(ref instanceof Monitor)) return true
  const { active } = ref
  ref.close()
  if (options?.flush === true) ref.maker.mailbox?.drop((message) => isDown(message) && message.ref === ref)
  return options?.info === true ? active : true
}

/** Sets whether exit signals become messages; returns the previous value. A new process does not trap exits. */
export const trapExit = (self: Pid, trap: boolean): boolean => {
  const cell = cellOf(self)
  const before = cell.trap
  cell.trap = trap
  return before
}

/**
 * Sets a flag of a process; returns the previous value. A new process has no flags set. Throws `InvalidOption` for another name.
 *
 * **Details**
 *
 * - `"trapExit"`: exit signals become messages, see `trapExit`.
 * - `"sensitive"`: crash reports withhold its message and its state; traces, events and dead letters withhold the content
 *   of its messages. `Sys.getState` still returns its state.
 *
 * **Gotchas**
 *
 * The reason of a crash is still shown. A message it sent is shown unless the receiver is sensitive.
 */
export const flag = (self: Pid, name: "trapExit" | "sensitive", value: boolean): boolean => {
  if (name === "trapExit") return trapExit(self, value)
  if (name !== "sensitive") {
    throw new InvalidOption({ option: "the flag", value: name, allowed: '"trapExit" or "sensitive"' })
  }
  const before = isSensitive(self)
  setSensitive(self, value)
  return before
}

/**
 * Registers a process under a name, until it dies.
 *
 * **Errors**
 *
 * Throws `NameTaken` if the name is taken, or if the process is dead or already has a name.
 */
export const register = (name: string, pid: Pid): void => {
  const cell = cellOf(pid)
  refuseTaken(cell.kernel, name)
  if (cell.dead || cell.name !== undefined) throw new NameTaken({ name, pid: undefined })
  cell.name = name
  cell.kernel.names.set(name, cell)
}

/** Removes a name from its process; returns whether it was registered. */
export const unregister = (system: System, name: string): boolean => {
  const cell = kernelOf(system).names.get(name)
  if (cell !== undefined) cell.name = undefined
  return kernelOf(system).names.delete(name)
}

/** The registered names, in the order of registration. */
export const registered = (system: System): ReadonlyArray<string> => [...kernelOf(system).names.keys()]

/** The living process of a name. */
export const whereis = (system: System, name: string): Pid<unknown> | undefined => kernelOf(system).names.get(name)

/** Makes the address of a name, which is resolved at each use. */
export const named = <M = unknown>(system: System, name: string): Name<M> => ({
  name,
  system,
  whereis: () => whereis(system, name),
  toString: () => name
})

/**
 * Changes the displayed label of a process, in trees, crash reports and telemetry.
 *
 * **Details**
 *
 * A function is called at each reading, for a label that changes with time.
 *
 * **Contract**
 *
 * The function must be short and must not throw.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Process, System } from "@troupe/otp"
 *
 * const system = System.make()
 * const pid = Process.spawn(system, () => new Promise(() => {}), { label: "job" })
 * let done = 0
 * Process.setLabel(pid, () => `job ${done} %`)
 * done = 40
 * pid.label // => "job 40 %"
 * await System.stop(system)
 * ```
 */
export const setLabel = (pid: Pid, label: string | (() => string)): void => {
  const shown = typeof label === "string" ? { value: label, writable: true } : { get: label }
  Object.defineProperty(cellOf(pid), "label", { ...shown, enumerable: true, configurable: true })
}

/**
 * The process that has its turn; `undefined` between turns, and after an `await`.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Process, System } from "@troupe/otp"
 *
 * const system = System.make()
 * const seen: Array<unknown> = []
 * const pid = Process.spawn(system, () => void seen.push(Process.current(system)))
 * await new Promise<void>((resolve) => void Process.onExit(pid, () => resolve()))
 *
 * seen[0] === pid // => true
 * Process.current(system) // => undefined
 * ```
 */
export const current = (system: System): Pid | undefined => kernelOf(system).current

/** Whether a process is alive. */
export const isAlive = (pid: Pid): boolean => !cellOf(pid).dead

/** The exit reason of a process; `undefined` while it is alive. */
export const exitReason = (pid: Pid): ExitReason => cellOf(pid).reason

/** The system a process lives in. */
export const systemOf = (pid: Pid): System => cellOf(pid).kernel

/**
 * Runs a function when a process ends, or now if it is dead; returns a function that cancels it.
 *
 * **When to use**
 *
 * From code that is not a process; a process uses `monitor`.
 *
 * **Concurrency**
 *
 * It runs once, after links and earlier monitors were notified, inside the signal that ended the process: it must be
 * short. Its error is reported as a crash of the system.
 */
export const onExit = (pid: Pid, run: (reason: ExitReason) => void): (() => void) => {
  const cell = cellOf(pid)
  if (cell.dead) {
    try {
      run(cell.reason)
    } catch (error) {
      cell.kernel.report(cell.kernel.root, error)
    }
    return () => {}
  }
  const watcher = new ExitWatcher(run)
  cell.watch(watcher)
  return () => cell.watchers?.delete(watcher)
}

/** Calls a function when a process dies. */
class ExitWatcher implements Watcher {
  readonly #run: (reason: ExitReason) => void

  constructor(run: (reason: ExitReason) => void) {
    this.#run = run
  }

  down(_cell: Cell, reason: ExitReason): void {
    this.#run(reason)
  }
}

/**
 * The scope of a process, made at its first use.
 *
 * **Details**
 *
 * It closes after the process died, for any reason, in reverse order of additions.
 */
export const scope = (self: Pid): Scope.Scope => scopeOf(cellOf(self))

/** A signal that aborts when the process dies, for its promises. */
export const abortSignal = (self: Pid): AbortSignal => abortSignalOf(cellOf(self))

/** Information about a living process. */
export interface Info {
  /** The displayed name. */
  readonly label: string
  /** The registered name; `undefined` without one. */
  readonly name: string | undefined
  /** The process that started it. */
  readonly parent: Pid | undefined
  /** Whether exit signals are messages. */
  readonly trapExit: boolean
  /** The number of unread messages. */
  readonly queueLength: number
  /** The processes that are linked to it. */
  readonly links: ReadonlyArray<Pid>
  /** `running` in its turn, `queued` before it, `busy` with a promise or an effect, else `idle`. */
  readonly status: "idle" | "queued" | "running" | "busy"
}

/** Returns information about a process; `undefined` if it is dead. */
export const info = (pid: Pid): Info | undefined => {
  const cell = cellOf(pid)
  if (cell.dead) return undefined
  return {
    label: cell.label,
    name: cell.name,
    parent: cell.parent,
    trapExit: cell.trap,
    queueLength: cell.mailbox?.size ?? 0,
    links: cell.links,
    status: cell.status
  }
}
