/**
 * Processes: spawn them, send to them, end them, and watch them end.
 *
 * A process is an identity, a mailbox and something that runs. It shares nothing with others by right, talks to them by
 * messages and signals, and when it dies exactly those learn of it who linked to it or monitor it.
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
import { Cell, cellOf, deliver, die, join, kernelOf, sameSystem, SelfExit, signal, wake } from "../kernel/index.ts"
import { addressOf, cellAt } from "./resolveTarget.ts"
import { abortSignalOf, scopeOf } from "./processScope.ts"
import { Monitor } from "./monitor.ts"
import { receiveWithin } from "./receive.ts"
import { Script } from "./processBody.ts"
import { isSensitive, setSensitive } from "./redaction.ts"

/**
 * What a process does: a function that runs once.
 *
 * **Contract**
 *
 * It starts in a turn of its own, after `spawn` returned. When it returns, resolves or succeeds, the process ends
 * `normal`; what it throws, rejects or fails with is its exit reason. When the process is ended from outside, an effect
 * is interrupted and its finalizers run; a promise cannot be interrupted and is abandoned: its `receive` never resolves,
 * and `abortSignal` tells it.
 */
export type Body<M> = (self: Pid<M>) => void | Promise<unknown> | Effect.Effect<unknown, unknown>

/**
 * A process that is one function: it takes messages and signals.
 *
 * **Details**
 *
 * That it is no server, agent, supervisor, registry or machine is part of its type. Code that knows better, or does not
 * know, says `Pid`, which may be any of them.
 */
export interface Process<in M = never> extends Pid<M>, OfKind<"process"> {}

/** How a process is known: `name` registers it, `label` is shown, by default the name. */
export interface SpawnOptions {
  readonly name?: string
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
 * Starts a process that nobody is linked to.
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
 * Throws `UnknownName` if nobody has the name. A message to a dead process, or to an alias that was given up, vanishes.
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

/** Which message to take, and how long to wait for it. */
export interface ReceiveOptions<A, T = A> {
  /** Takes the first message this accepts and leaves the others; by default the first of all. */
  readonly match?: ((message: A) => message is A & T) | ((message: A) => boolean)
  /** How long to wait; by default for ever. With 0 only what is there already is taken. */
  readonly timeout?: Timeout
}

/**
 * Takes a message out of the own mailbox, waiting for it if need be.
 *
 * **Details**
 *
 * Resolves with `undefined` when the time is up. In a dead process it never resolves.
 *
 * **Errors**
 *
 * Rejects with what `match` throws; the message it was shown stays in the mailbox.
 */
export const receive = <M>(
  self: Pid<M>,
  options?: ReceiveOptions<M | SystemMessage>
): Promise<M | SystemMessage | undefined> =>
  new Promise((resolve, reject) => {
    receiveWithin<M | SystemMessage>(cellOf(self), options?.match, wait(options?.timeout), resolve, reject)
  })

/** Takes a message out of the own mailbox, as `receive` does; interrupting it takes none. What `match` throws is a defect. */
export const receiveEffect = <M>(
  self: Pid<M>,
  options?: ReceiveOptions<M | SystemMessage>
): Effect.Effect<M | SystemMessage | undefined> =>
  Effects.callback((resume) => {
    const cell = cellOf(self)
    const taken = (message: M | SystemMessage | undefined): void =>
      cell.kernel.as(cell, () => resume(Effects.succeed(message)))
    const failed = (error: unknown): void => cell.kernel.as(cell, () => resume(Effects.die(error)))
    return Effects.sync(receiveWithin(cell, options?.match, wait(options?.timeout), taken, failed))
  })

const wait = (timeout: Timeout | undefined): number => milliseconds(timeout ?? "infinity")

/**
 * Sends an exit signal.
 *
 * **Details**
 *
 * `normal` does nothing, unless the target traps exits or sends it to itself; `kill` ends the target whatever it does,
 * with the reason `killed`; any other reason ends it with that reason, or is a message to it if it traps exits. The
 * target is dead, if the signal ends it, when this returns.
 *
 * **Units and defaults**
 *
 * `from` is the process whose turn it is, else nobody in particular.
 */
export const exit = (target: Pid, reason: ExitReason, from?: Pid): true => {
  const cell = cellOf(target)
  signal(from === undefined ? (cell.kernel.current ?? cell.kernel.outside) : cellOf(from), cell, reason, "direct")
  return true
}

/** Ends a process whatever it does; the others see the reason `killed`. */
export const kill = (target: Pid): true => exit(target, "kill")

/**
 * Makes what a process throws, or an effect of it dies with, to end itself with a reason.
 *
 * **Gotchas**
 *
 * It can be caught like any other error, and then the process goes on.
 */
export const exitWith = (reason: ExitReason): Error & { readonly reason: ExitReason } => new SelfExit(reason)

/** Whether what was caught is a process ending itself, by `exitWith` or `exitSelf`. */
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
 * reason `noproc`. Throws `OtherSystem` if the two are of two systems: these share no fate.
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

/** Removes the link between two processes, if there is one. An `Exit` that is in the mailbox stays there. */
export const unlink = (self: Pid, other: Pid): true => {
  cellOf(self).links?.delete(cellOf(other))
  cellOf(other).links?.delete(cellOf(self))
  return true
}

/** Watches a process, also of another system: when it ends, `self` gets one `Down` for each monitor it has on it. */
export const monitor = (self: Pid, target: Target): MonitorRef => new Monitor(cellOf(self), cellAt(target), target)

declare const alias_: unique symbol

/** An address of a process that it gave out, and can give up: made by `alias` or `monitorAlias`. */
export interface Alias<in M = never> extends Name<M> {
  readonly [alias_]?: never
}

/**
 * Makes an address of a process that it can give up: what is sent to it afterwards vanishes.
 *
 * **When to use**
 *
 * To be answered by a process that is no server: an answer that comes too late does not come at all. The replies of
 * `GenServer.call` and of tasks need none.
 *
 * **Details**
 *
 * `mode` says when it is given up, at the latest when the process dies:
 *
 * - `"explicitUnalias"`: by `unalias`.
 * - `"reply"`: by `unalias`, or with the first message that is sent to it.
 *
 * **Units and defaults**
 *
 * `mode` is `"explicitUnalias"`.
 */
export const alias = <M>(self: Pid<M>, mode: "explicitUnalias" | "reply" = "explicitUnalias"): Alias<M> =>
  new AliasAddress(cellOf(self), mode === "reply")

/** Gives an alias up; answers whether it was active. */
export const unalias = (address: Alias): boolean => address instanceof AliasAddress && address.close()

/**
 * Watches a process, as `monitor` does, and makes an alias to be answered at, which is given up with the monitor.
 *
 * **Details**
 *
 * `mode` says what ends the two:
 *
 * - `"demonitor"`: `demonitor`, or the `Down`.
 * - `"replyDemonitor"`: these, or the first message that is sent to the alias.
 *
 * `unalias` gives up the alias alone.
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
 * const heard = await new Promise((resolve) => {
 *   Process.spawn<string>(system, async (self) => {
 *     const { alias } = Process.monitorAlias(self, oracle)
 *     Process.send(oracle, alias)
 *     resolve([await Process.receive(self), await Process.receive(self, { timeout: 1 })])
 *   })
 * })
 * heard // => ["maybe", undefined]
 * await System.stop(system)
 * ```
 */
export const monitorAlias = <M>(
  self: Pid<M>,
  target: Target,
  mode: "demonitor" | "replyDemonitor" = "replyDemonitor"
): { readonly ref: MonitorRef; readonly alias: Alias<M> } => {
  const ref = new AliasMonitor(cellOf(self), target, mode === "replyDemonitor")
  return { ref, alias: ref.alias }
}

/**
 * Drops a monitor.
 *
 * **Details**
 *
 * `flush` also takes a `Down` of it out of the mailbox. With `info` the answer is whether the monitor was active, else
 * it is `true`.
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

/** Sets whether exit signals become messages; answers how it was. A new process does not trap exits. */
export const trapExit = (self: Pid, trap: boolean): boolean => {
  const cell = cellOf(self)
  const before = cell.trap
  cell.trap = trap
  return before
}

/**
 * Sets a flag of a process; answers how it was. A new process has none.
 *
 * **Details**
 *
 * - `"trapExit"`: exit signals become messages, as `trapExit` says.
 * - `"sensitive"`: what it gets, sends and knows is not shown: crash reports withhold its message and its state, traces,
 *   events and stray mail the content of its messages. `Sys.getState` asks the process itself, and is answered.
 *
 * **Gotchas**
 *
 * The reason of a crash is told as ever, and what the process sends is the receiver's to show.
 */
export const flag = (self: Pid, name: "trapExit" | "sensitive", value: boolean): boolean => {
  if (name === "trapExit") return trapExit(self, value)
  const before = isSensitive(self)
  setSensitive(self, value)
  return before
}

/**
 * Gives a process a name, until it dies.
 *
 * **Errors**
 *
 * Throws `NameTaken` if the name is taken, or the process is dead or has a name.
 */
export const register = (name: string, pid: Pid): void => {
  const cell = cellOf(pid)
  refuseTaken(cell.kernel, name)
  if (cell.dead || cell.name !== undefined) throw new NameTaken({ name, pid: undefined })
  cell.name = name
  cell.kernel.names.set(name, cell)
}

/** Takes a name away from its process; answers whether anybody had it. */
export const unregister = (system: System, name: string): boolean => {
  const cell = kernelOf(system).names.get(name)
  if (cell !== undefined) cell.name = undefined
  return kernelOf(system).names.delete(name)
}

/** The names that are taken, in the order they were given. */
export const registered = (system: System): ReadonlyArray<string> => [...kernelOf(system).names.keys()]

/** The living process of a name. */
export const whereis = (system: System, name: string): Pid<unknown> | undefined => kernelOf(system).names.get(name)

/** Makes the address of whoever has a name when it is used. */
export const named = <M = unknown>(system: System, name: string): Name<M> => ({
  name,
  system,
  whereis: () => whereis(system, name),
  toString: () => name
})

/**
 * Changes what a process is shown as, in trees, crash reports and telemetry.
 *
 * **Details**
 *
 * A function is asked each time somebody looks: for what changes with time.
 *
 * **Contract**
 *
 * Such a function is short and does not throw.
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
 * The process whose turn it is; `undefined` between turns, and behind a wait.
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

/** The reason a process ended with; `undefined` while it is alive. */
export const exitReason = (pid: Pid): ExitReason => cellOf(pid).reason

/** The system a process lives in. */
export const systemOf = (pid: Pid): System => cellOf(pid).kernel

/**
 * Runs a function when a process ends, or now if it is dead; answers how to forget it.
 *
 * **When to use**
 *
 * From code that is no process: a process monitors.
 *
 * **Concurrency**
 *
 * It runs once, after links and monitors were told, inside the signal that ended the process: it must be short. What it
 * throws is reported as a crash of the system.
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
  const watcher = { down: (_cell: Cell, reason: ExitReason) => run(reason) }
  cell.watch(watcher)
  return () => cell.watchers?.delete(watcher)
}

/**
 * The scope of a process, made when first asked for.
 *
 * **Details**
 *
 * It closes after the process died, in reverse order of what was added, whatever ended the process.
 */
export const scope = (self: Pid): Scope.Scope => scopeOf(cellOf(self))

/** A signal that aborts when the process dies, for promises that belong to it. */
export const abortSignal = (self: Pid): AbortSignal => abortSignalOf(cellOf(self))

/** What is known about a living process. */
export interface Info {
  readonly label: string
  readonly name: string | undefined
  readonly parent: Pid | undefined
  readonly trapExit: boolean
  readonly queueLength: number
  readonly links: ReadonlyArray<Pid>
  readonly status: "idle" | "queued" | "running" | "busy"
}

/** Tells what is known about a process; `undefined` when it is dead. */
export const info = (pid: Pid): Info | undefined => {
  const cell = cellOf(pid)
  if (cell.dead) return undefined
  return {
    label: cell.label,
    name: cell.name,
    parent: cell.parent,
    trapExit: cell.trap,
    queueLength: cell.mailbox?.size ?? 0,
    links: cell.links?.all ?? [],
    status: cell.status
  }
}
