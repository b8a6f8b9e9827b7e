/**
 * Statecharts as processes, and effects, streams and processes as their actors.
 *
 * `start` runs any XState logic in a process: events are its messages, and it can be linked, monitored and supervised.
 * When it ends, the actors it invoked end too; each actor it invokes or spawns is a process. `fromEffect`, `fromStream`
 * and `fromProcess` make actor logic that runs there and under a bare `createActor`.
 *
 * @example
 * ```ts import.meta.vitest
 * import { StateMachine, System } from "@troupe/otp"
 * import { Effect } from "effect"
 * import { setup } from "xstate"
 *
 * const machine = setup({
 *   actors: { work: StateMachine.fromEffect(() => Effect.succeed(42)) }
 * }).createMachine({
 *   initial: "working",
 *   states: { working: { invoke: { src: "work", onDone: "ready" } }, ready: {} }
 * })
 * const system = System.make()
 * const pid = StateMachine.start(system, machine)
 * StateMachine.snapshot(pid).value // => "ready"
 * await System.stop(system)
 * ```
 */
import type * as Effect from "effect/Effect"
import type {
  Actor,
  ActorLogic,
  ActorRef,
  AnyActorLogic,
  AnyStateMachine,
  CallbackActorLogic,
  DoNotInfer,
  EventFromLogic,
  EventObject,
  InputFrom,
  InspectionEvent,
  MachineContext,
  Observer,
  OutputFrom,
  Snapshot,
  SnapshotFrom,
  Subscription
} from "xstate"
import {
  type CallExit,
  type ExitReason,
  type Name,
  NameTaken,
  type OfKind,
  type Pid,
  StopMessage,
  type System
} from "../core/index.ts"
import * as xstate from "xstate"
import {
  type Action,
  type ActorScope,
  addQueue,
  type Args,
  bindMachine,
  checkStored,
  ChartTable,
  EnvironmentPerSystem,
  hostedActorOf,
  makeCallback,
  makeEffect,
  type Params as ActionParams,
  registerChild,
  reply as replyTo,
  type Resolvable,
  type RunningCallback,
  type StartCallback
} from "./chart/index.ts"
import { cellOfFacade, chartOf, ChartProcess, facadeOf, hostChart } from "./host/index.ts"
import { type AnyActorSystem, hostOf as hostCell, processAt } from "./actorTable.ts"
import { actorAt, ActorProcess } from "./actorProcess.ts"
import { type Cell, cellOf, deliver, die, join, type Kernel, kernelOf } from "../kernel/index.ts"
import { host } from "./machineHost.ts"
import { spawnedBy } from "./processActor.ts"
import { callAt, callEffectAt, type CallOptions, type From, register } from "../process/index.ts"

declare const machineOf: unique symbol

interface Running<in out L extends AnyActorLogic> extends OfKind<"machine"> {
  readonly [machineOf]?: (machine: L) => L
}

/** A process that runs a machine; its messages are the machine's events. */
export interface MachinePid<in out L extends AnyActorLogic> extends Running<L>, Pid<EventFromLogic<L>> {}

type Inspector = ((event: InspectionEvent) => void) | Observer<InspectionEvent>

/** How a machine is started. */
export interface Options<L extends AnyActorLogic> {
  /** The input of the machine, as in XState. */
  readonly input?: InputFrom<L>
  /** A result of `persisted`, from which the machine goes on. Default: the machine starts in its initial state. */
  readonly snapshot?: Snapshot<unknown>
  /** Registers the process. Default: the process has no name. */
  readonly name?: string
  /** The displayed name. Default: `name`, else the machine's id. */
  readonly label?: string
  /** Whether exit signals become `process.exit` events, except the signal of the parent. Default: false. */
  readonly trapExit?: boolean
  /**
   * A function or an observer that is called with the inspection events of XState, for example `createBrowserInspector().inspect` of
   * `@statelyai/inspect`. Its errors are reported as crashes and do not affect the machine.
   */
  readonly inspect?: Inspector
  /** Called with the arguments of XState's `log`, as in XState. */
  readonly logger?: (...args: Array<unknown>) => void
  /** The environment of the machine's effects and callback actors, see `effect` and `fromCallback`. */
  readonly env?: unknown
  /** Whether the code of a hosted machine is checked, for tests and development, see `hosted`. Default: false. */
  readonly strict?: boolean
}

/** The start options. A machine with an input requires `input`, or a `snapshot` to resume from. */
export type StartOptions<L extends AnyActorLogic> =
  undefined extends InputFrom<L>
    ? [options?: Options<L>]
    : [options: Options<L> & ({ readonly input: InputFrom<L> } | { readonly snapshot: Snapshot<unknown> })]

const idOf = (machine: AnyActorLogic): string | undefined =>
  "id" in machine && typeof machine.id === "string" ? machine.id : undefined

const idle = { kind: "machine" }

const launch = <L extends AnyActorLogic>(
  kernel: Pick<Kernel, "names" | "make" | "current" | "as" | "report">,
  parent: Cell | undefined,
  machine: L,
  options: Options<L> = {}
): MachinePid<L> => {
  const { name, label, trapExit, strict = false, ...actorOptions } = options
  if (typeof (machine as Partial<L> | undefined)?.transition !== "function")
    throw new TypeError(
      "StateMachine.start takes a machine of XState, as createMachine returns it, or other actor logic"
    )
  const table = tableOf(machine, actorOptions, strict)
  const { input, snapshot: stored, env, inspect } = actorOptions
  if (stored !== undefined) checkStored(machine, stored)
  const chart = table && chartOf(table, stored)
  const holder = name === undefined ? undefined : kernel.names.get(name)
  if (name !== undefined && holder !== undefined) throw new NameTaken({ name, pid: holder })
  const cell = kernel.make(idle, parent ?? kernel.current, label ?? name ?? idOf(machine) ?? "machine")
  cell.trap = trapExit === true
  if (name !== undefined) register(name, cell)
  if (parent?.dead === true) {
    die(cell, "noproc", "signal")
    return cell
  }
  if (parent !== undefined) join(parent, cell)
  if (chart === undefined) {
    const guarded = { ...actorOptions, inspect: inspect && guardedInspector(kernel, cell, inspect) }
    kernel.as(cell, () => host(cell, asXStateRuns(machine, env), parent, guarded))
  } else kernel.as(cell, () => hostChart(cell, chart, { input, snapshot: stored, env }, parent))
  return cell
}

/** An error of an inspector is reported as a crash, and does not affect the machine. */
const guardedInspector = (kernel: Pick<Kernel, "report">, cell: Cell, inspect: Inspector) => {
  const { next } = xstate.toObserver(inspect)
  return (event: InspectionEvent): void => {
    try {
      next?.(event)
    } catch (error) {
      kernel.report(cell, error)
    }
  }
}

/** A hosted machine, as XState runs it: restored, it schedules its delayed events again. */
const asXStateRuns = (machine: AnyActorLogic, env: unknown): AnyActorLogic =>
  machine instanceof xstate.StateMachine && hostedActorOf(machine) !== undefined ? bindMachine(machine, env) : machine

/** The table of a hosted machine without an inspector. */
const tableOf = (
  machine: AnyActorLogic,
  { inspect, logger }: Options<AnyActorLogic>,
  strict: boolean
): ChartTable | undefined => {
  const isPlain = inspect === undefined && logger === undefined
  if (!isPlain || !(machine instanceof xstate.StateMachine) || hostedActorOf(machine) === undefined) return undefined
  const table = ChartTable.of(machine, strict)
  return table instanceof ChartTable ? table : undefined
}

/**
 * Starts a machine in a process without a link.
 *
 * **Details**
 *
 * The machine is in its initial state when this returns. A message to the process is an event. A machine that is done
 * ends the process `normal`; a machine that fails ends it with the error. When the process ends, the machine and its
 * children are stopped. Each child is a process linked to it, see `pidOf`. `Exit` and `Down` become the events
 * `process.exit` `{ from, reason }` and `process.down` `{ ref, pid, reason }`.
 *
 * **Errors**
 *
 * Throws `NameTaken` if the name is taken, `SystemStopped` in a stopped system.
 */
export const start = <L extends AnyActorLogic>(
  system: System,
  machine: L,
  ...[options]: StartOptions<L>
): MachinePid<L> => launch(kernelOf(system), undefined, machine, options)

/** Starts a machine in a process linked to its parent. It ends with the parent, even if it traps exits. */
export const startLink = <L extends AnyActorLogic>(
  parent: Pid,
  machine: L,
  ...[options]: StartOptions<L>
): MachinePid<L> => launch(cellOf(parent).kernel, cellOf(parent), machine, options)

/** Asks a machine to end after the events that were sent before. */
export const stop = (pid: Pid, reason: ExitReason = "normal"): void => deliver(cellOf(pid), new StopMessage(reason))

/** The XState actor of a process, for user interfaces and inspectors. */
export const actor = <L extends AnyActorLogic>(pid: MachinePid<L>): Actor<L> => {
  const { behaviour } = cellOf(pid)
  const node = behaviour instanceof ChartProcess ? facadeOf(behaviour.root) : actorAt(cellOf(pid)).actor.ref
  return node as unknown as Actor<L>
}

/** The machine's current snapshot; the last one if the process is dead. */
export const snapshot = <L extends AnyActorLogic>(pid: MachinePid<L>): SnapshotFrom<L> => actor(pid).getSnapshot()

/** The machine's snapshot as data that can be stored, and passed to `start`. */
export const persisted = <L extends AnyActorLogic>(pid: MachinePid<L>): Snapshot<unknown> =>
  actor(pid).getPersistedSnapshot()

/** The output of a machine that is done; `undefined` before that, and for other processes. */
export const output = <L extends AnyActorLogic>(pid: MachinePid<L>): OutputFrom<L> | undefined => {
  const { behaviour } = cellOf(pid)
  if (behaviour instanceof ChartProcess) return behaviour.root.chart.output as OutputFrom<L> | undefined
  return behaviour instanceof ActorProcess ? (behaviour.actor.ref.getSnapshot().output as OutputFrom<L>) : undefined
}

/**
 * Subscribes to the machine's snapshots.
 *
 * **Gotchas**
 *
 * An error of the observer is reported as a crash and does not affect the machine.
 */
export const subscribe = <L extends AnyActorLogic>(
  pid: MachinePid<L>,
  observer: ((snapshot: SnapshotFrom<L>) => void) | Observer<SnapshotFrom<L>>
): Subscription => {
  const target = actor(pid)
  return typeof observer === "function" ? target.subscribe(observer) : target.subscribe(observer)
}

/**
 * Calls the watcher with the machine's present state, and after each change.
 *
 * **When to use**
 *
 * To follow a `hosted` machine: no snapshot is made, unlike in `subscribe`.
 *
 * **Details**
 *
 * The state of a hosted machine is live: its properties are always the present ones. A `context` that was read does not
 * change later; reading it makes the machine copy it at its next change. Read `current` for what is needed only now.
 *
 * **Gotchas**
 *
 * An error of the watcher is reported as a crash and does not affect the machine.
 */
export const watch = <L extends AnyStateMachine>(
  pid: MachinePid<L>,
  watcher: (state: WatchedState<L>) => void
): Subscription => {
  const { behaviour } = cellOf(pid)
  if (behaviour instanceof ChartProcess) {
    return { unsubscribe: behaviour.root.watch(watcher as (state: object) => void) }
  }
  const watched = (state: SnapshotFrom<L>): void => {
    const { status, value, context } = state
    watcher({ status, value, context, current: context })
  }
  watched(snapshot(pid))
  return subscribe(pid, watched)
}

/** The state of a machine, as `watch` passes it. */
export interface WatchedState<L extends AnyStateMachine> extends Pick<SnapshotFrom<L>, "status" | "value" | "context"> {
  /** The context during the call of the watcher: the next change may change it. */
  readonly current: SnapshotFrom<L>["context"]
}

/** The process that runs an actor system; `undefined` under a bare `createActor`. */
export const hostOf = (system: AnyActorSystem): Pid<unknown> | undefined => hostCell(system)

export type { ActorArgs } from "./actorTable.ts"

export { fromEffect, fromStream } from "./effectActor.ts"

export { fromProcess } from "./processActor.ts"
export type { ProcessActorLogic, ProcessSnapshot } from "./processActor.ts"

/**
 * XState's `assign`, `raise`, `cancel`, `sendTo`, `sendParent`, `spawnChild` and `stopChild`.
 *
 * **When to use**
 *
 * In machines that are `hosted`. Under `createActor` there is no difference.
 */
export {
  assign,
  cancel,
  raise,
  sendParent,
  sendTo,
  sendToChild,
  spawnChild,
  stopChild,
  eventTimeout,
  insert,
  postpone,
  stateTimeout,
  timeout
} from "./chart/index.ts"

/**
 * The actions of `gen_statem`, for machines that are `hosted`. They do the same under a bare `createActor`.
 *
 * **Details**
 *
 * - `postpone` keeps the event. After the next change of the state, all kept events are taken again, the oldest first. They are in
 *   the context, as `postponed`.
 * - `insert(event)` puts an event before all events that wait. `raise` comes before both, in the order of the raises.
 * - `timeout(id, event, ms)` sends the event after so many milliseconds. Set again, it starts again. `cancel(id)` ends it.
 * - `stateTimeout(event, ms)` ends when the state changes, `eventTimeout(event, ms)` when an event is taken. There is one of each.
 * - A timeout of 0 comes before the events that the machine has not received. One of `Infinity` only ends the one before.
 *   Any other delay, such as a negative number, `NaN` or a text, is an error of the machine.
 *
 * An event and a delay may be functions of `{ context, event }`.
 */

/** The events of a machine that are calls, by their types. */
type Calls<L extends AnyActorLogic> = {
  readonly [E in Extract<EventFromLogic<L>, { readonly from: From<never> }> as E["type"]]: E
}

/** The reply to a call. */
type ReplyTo<E> = E extends { readonly from: From<infer Reply> } ? Reply : never

/** The reply to any of the events; unknown when none is a call. */
type ReplyToAny<E> = [ReplyTo<E>] extends [never] ? unknown : ReplyTo<E>

/**
 * An action of a machine that is called: replies to the `from` of the event, or to the one that `to` returns, for example from the
 * context. The value may be a function of `{ context, event }`.
 *
 * **Details**: the value has the type that the `from` of the events requires: that of one event in the actions of its transition, that
 * of any event in the actions of `setup`.
 */
export const reply: {
  <C extends MachineContext, H extends EventObject, E extends EventObject, P extends ActionParams>(
    value: Resolvable<C, H, P, DoNotInfer<ReplyToAny<H>>>
  ): Action<C, H, E, P>
  <C extends MachineContext, H extends EventObject, E extends EventObject, P extends ActionParams, Reply>(
    value: Resolvable<C, H, P, Reply>,
    to: (args: Args<C, H>, params: P) => From<NoInfer<Reply>> | undefined
  ): Action<C, H, E, P>
} = replyTo

/** A machine that is called: its process, or the address of one. */
type CallTarget<L extends AnyActorLogic> = (Pid & Running<L>) | Name<never, Pid & Running<L>>

const asEvent = (request: unknown, from: unknown): object => Object.assign({}, request, { from })

/**
 * Sends a machine an event and waits for the reply.
 *
 * **When to use**
 *
 * For events that have `from: StateMachine.From<Reply>` in the types of the machine. The call adds it. The machine replies with the
 * action `reply`, in this state or in a later one; `postpone` keeps a call like any event.
 *
 * **Errors**
 *
 * Rejects with `CallExit`, like `GenServer.call`: `timeout`, `noproc`, `calling_self`, or the exit reason of the machine.
 *
 * **Gotchas**
 *
 * An event that the machine ignores gets no reply. A stored snapshot has no callers: restored, it replies to none.
 *
 * @example
 * ```ts import.meta.vitest
 * import { StateMachine, System } from "@troupe/otp"
 * import { setup } from "xstate"
 *
 * const counter = StateMachine.hosted(
 *   setup({
 *     types: { context: {} as { count: number }, events: {} as { type: "next"; from: StateMachine.From<number> } },
 *     actions: {
 *       add: StateMachine.assign({ count: ({ context }) => context.count + 1 }),
 *       answer: StateMachine.reply(({ context }) => context.count)
 *     }
 *   }).createMachine({ context: { count: 41 }, on: { next: { actions: ["add", "answer"] } } })
 * )
 * const system = System.make()
 * const pid = StateMachine.start(system, counter)
 * await StateMachine.call(pid, { type: "next" }) // => 42
 * await System.stop(system)
 * ```
 */
export const call = <L extends AnyActorLogic, const T extends keyof Calls<L>>(
  target: CallTarget<L>,
  event: { readonly type: T } & Omit<Calls<L>[T], "from" | "type">,
  options?: CallOptions
): Promise<ReplyTo<Calls<L>[T]>> => callAt(target, event, asEvent, "StateMachine.call", options)

/** Sends a machine an event and waits for the reply, like `call`; interrupting the effect cancels the call. */
export const callEffect = <L extends AnyActorLogic, const T extends keyof Calls<L>>(
  target: CallTarget<L>,
  event: { readonly type: T } & Omit<Calls<L>[T], "from" | "type">,
  options?: CallOptions
): Effect.Effect<ReplyTo<Calls<L>[T]>, CallExit> => callEffectAt(target, event, asEvent, "StateMachine.call", options)

export type { CallOptions, From } from "../process/index.ts"

export type { ActorScope, RunningCallback } from "./chart/index.ts"

export { published } from "./publishedChart.ts"
export type { PublishedChart } from "./publishedChart.ts"

/**
 * Makes callback logic: `run` is called with the input, and may return functions that receive events and close it.
 *
 * **Details**
 *
 * It is XState's `fromCallback` with an environment: live things such as connections, which are no data, come from the
 * `env` of `start` or `bind`. After the actor was stopped, `send` does nothing.
 */
export const fromCallback = <
  Input,
  Env = unknown,
  Received extends EventObject = EventObject,
  Sent extends EventObject = EventObject
>(
  run: (args: ActorScope<Env, Sent> & { readonly input: Input }) => RunningCallback<Received> | undefined | void
): CallbackActorLogic<Received, Input> => makeCallback(run as unknown as StartCallback)

/**
 * Makes a named action that performs an effect with data as parameters.
 *
 * **Details**
 *
 * `run` is called after the transition, with the parameters and the environment of `start` or `bind`.
 */
export const effect = <Params, Env = unknown, Sent extends EventObject = EventObject>(
  run: (params: Params, scope: ActorScope<Env, Sent>) => void
): ((args: object, params: Params) => void) =>
  makeEffect(run as unknown as Parameters<typeof makeEffect>[0]) as (args: object, params: Params) => void

/**
 * Makes a machine run from a table, without XState actors, when a process or a hosted machine starts it. Returns the
 * machine.
 *
 * **When to use**
 *
 * For machines that are started very often. A hosted machine costs a fraction of an XState actor.
 *
 * **Details**
 *
 * - The host performs states that are not parallel and have no history; guards, delays and actors that are named in
 *   `setup`; named actions; and the built-in actions of this module. XState runs a machine that uses anything else:
 *   `unhosted` lists what that is. XState also runs a machine that is inspected.
 * - Its callback actors and effects have no processes of their own. Its child machines are hosted too: each in a process
 *   of its own, or, with `inside`, in the process of its parent.
 * - The functions of `fromEffect` are called with `input` and `host` only.
 * - `provide` makes another machine, which is not hosted.
 * - `label`: the displayed name of the process of a child machine; by default the child's id.
 * - With the start option `strict`, contexts and events are frozen, and reading `self` or `system` throws outside actions.
 *   Use it in tests: the host does not pass them, and later transitions change a context that the code kept.
 * - Its actions are called without `system`, and with a `self` that has `id`, `send`, `subscribe` and snapshots.
 */
export const hosted = <M extends AnyStateMachine>(machine: M, options: HostedOptions<M> = {}): M => {
  registerChild(machine, options)
  addQueue(machine)
  return machine
}

/** How a hosted machine runs as a child, see `hosted`. */
export interface HostedOptions<M extends AnyStateMachine> {
  /** Returns the displayed name of a child from its input. Default: the name that `start` chooses. */
  readonly label?: (input: InputFrom<M>) => string
  /** Whether a child runs in the process of its parent. Default: false, it has a process of its own. */
  readonly inside?: boolean
  /**
   * Returns why the machine does not continue from this stored snapshot, for example one of an earlier version. The error is thrown where
   * the snapshot is restored; under a bare `createActor`, for a machine of `bind`, it is the error of the actor. Default: it
   * continues from every snapshot.
   */
  readonly refuses?: (snapshot: Snapshot<unknown>) => Error | undefined
  /**
   * Returns what crash reports, `Sys.status` and the observer show of the machine and of the event that it handles. Default: all of it.
   *
   * **Contract**: it is short, and has no effects. When it throws, the shown text says so.
   */
  readonly formatStatus?: (status: {
    readonly state: Pick<SnapshotFrom<M>, "value" | "context">
    readonly message: unknown
  }) => { readonly state?: unknown; readonly message?: unknown }
}

/** What a machine uses that the host does not perform; empty for a machine that can be hosted. */
export const unhosted = (machine: AnyStateMachine): ReadonlyArray<string> => {
  const table = ChartTable.of(machine)
  return table instanceof ChartTable ? [] : [...table]
}

/**
 * The same machine whose effects and callback actors have this environment, for a bare `createActor` or `useMachine`.
 *
 * **Details**: all actors of the machine share the environment. A bare `createActor` that restores a snapshot of a hosted
 * machine schedules its delayed events again: for the time that was left, or for their full delay if XState stored it.
 */
export const bind = <M extends AnyStateMachine>(machine: M, env: unknown): M => bindMachine(machine, env) as M

/** Like {@link bind}, with an environment for each root actor: `make` is called when an actor first needs its environment. */
export const bindEach = <M extends AnyStateMachine>(machine: M, make: () => unknown): M =>
  bindMachine(machine, new EnvironmentPerSystem(make)) as M

/**
 * The process of an actor of a machine that runs in a process: the machine itself, or a child at any depth.
 *
 * **Details**
 *
 * `undefined` before the actor is started, and under a bare `createActor`. For an actor made by `fromProcess` it is the
 * spawned process, also under `createActor`. The result can be passed to `actor`, `snapshot`, `subscribe` and the other
 * functions for machines.
 *
 * An actor that is done ends its process `normal`, one that fails with its error, one that is stopped with `shutdown`;
 * none of these is a crash. Ending the process stops the actor: the machine receives the actor's error, a `ProcessExit`,
 * or for `normal` its done event.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Process, StateMachine, System } from "@troupe/otp"
 * import { fromPromise, setup } from "xstate"
 *
 * const machine = setup({ actors: { fetch: fromPromise(() => new Promise(() => {})) } }).createMachine({
 *   initial: "busy",
 *   states: { busy: { invoke: { id: "page", src: "fetch", onError: "failed" } }, failed: {} }
 * })
 * const system = System.make()
 * const pid = StateMachine.start(system, machine)
 * const page = StateMachine.snapshot(pid).children.page
 * const child = page && StateMachine.pidOf(page)
 * child?.label // => "page"
 * const state = new Promise((resolve) => StateMachine.subscribe(pid, ({ value }) => resolve(value)))
 * if (child) Process.kill(child)
 * await state // => "failed"
 * await System.stop(system)
 * ```
 */
export const pidOf = <S extends Snapshot<unknown>, E extends EventObject>(
  ref: ActorRef<S, E>
): MachinePid<ActorLogic<S, E>> | undefined => spawnedBy(ref) ?? cellOfFacade(ref) ?? processAt(ref)
