/**
 * Statecharts as processes, and effects, streams and processes as their actors.
 *
 * `start` hosts any XState logic in a process: events are its messages, it can be linked, monitored and supervised, and
 * when it ends so does everything it invoked. Each actor it invokes or spawns is a process of its own. `fromEffect`,
 * `fromStream` and `fromProcess` make actor logic that runs there as well as under a bare `createActor`.
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
import type * as Stream from "effect/Stream"
import * as Streams from "effect/Stream"
import type {
  Actor,
  ActorLogic,
  ActorRef,
  AnyActorLogic,
  AnyActorRef,
  EventFromLogic,
  EventObject,
  InputFrom,
  InspectionEvent,
  NonReducibleUnknown,
  ObservableActorLogic,
  Observer,
  OutputFrom,
  PromiseActorLogic,
  Snapshot,
  SnapshotFrom,
  Subscription
} from "xstate"
import { type ExitReason, NameTaken, type OfKind, type Pid, StopMessage, type System } from "../core/index.ts"
import { processAt, standingForProcess } from "./xstateActor.ts"
import type { AnyActorSystem } from "./xstateActor.ts"
import { actorAt, ActorProcess } from "./actorProcess.ts"
import { hostOf as hostCell } from "./actorTree.ts"
import { type Cell, cellOf, deliver, die, join, type Kernel, kernelOf } from "../kernel/index.ts"
import { handOver, startFiber, stopFiber } from "./effectActor.ts"
import { host } from "./machineHost.ts"
import { startProcess, stopProcess } from "./processActor.ts"
import { afterEvent, beginning } from "./workSnapshot.ts"
import type { WorkEvent } from "./workSnapshot.ts"
import { register } from "../process/index.ts"

declare const machineOf: unique symbol

/** A process that hosts a machine; it takes the machine's events as messages. */
export interface MachinePid<in out L extends AnyActorLogic> extends Pid<EventFromLogic<L>>, OfKind<"machine"> {
  readonly [machineOf]?: (machine: L) => L
}

/**
 * How a machine is started.
 *
 * **Details**
 *
 * - `input`, `snapshot`, `inspect`, `logger`: as in XState; `snapshot` is one that `persisted` gave.
 * - `name`: registers the process. `label`: shown, by default the name, else the machine's id.
 * - `trapExit`: exit signals become `process.exit` events, that of the parent excepted.
 */
export interface Options<L extends AnyActorLogic> {
  readonly input?: InputFrom<L>
  readonly snapshot?: Snapshot<unknown>
  readonly name?: string
  readonly label?: string
  readonly trapExit?: boolean
  readonly inspect?: (event: InspectionEvent) => void
  readonly logger?: (...args: Array<unknown>) => void
}

/** The options, which a machine with an input is not started without, unless it goes on from a snapshot. */
export type StartOptions<L extends AnyActorLogic> =
  undefined extends InputFrom<L>
    ? [options?: Options<L>]
    : [options: Options<L> & ({ readonly input: InputFrom<L> } | { readonly snapshot: Snapshot<unknown> })]

const idOf = (machine: AnyActorLogic): string | undefined =>
  "id" in machine && typeof machine.id === "string" ? machine.id : undefined

const idle = { kind: "machine" }

const launch = <L extends AnyActorLogic>(
  kernel: Kernel,
  parent: Cell | undefined,
  machine: L,
  options: Options<L> = {}
): MachinePid<L> => {
  const { name, label, trapExit, ...actorOptions } = options
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
  kernel.as(cell, () => host(cell, machine, parent, actorOptions))
  return cell
}

/**
 * Starts a machine in a process that nobody is linked to.
 *
 * **Details**
 *
 * The machine is in its initial state when this returns. A message to the process is an event. A machine that is done
 * ends the process `normal`, one that fails ends it with the error; when the process ends, the machine is stopped and so
 * are its children: each is a process linked to it, found by `pidOf`. `Exit` and `Down` come as the events `process.exit`
 * `{ from, reason }` and `process.down` `{ ref, pid, reason }`.
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

/** Starts a machine in a process linked to its parent; it ends when the parent does, trapping exits or not. */
export const startLink = <L extends AnyActorLogic>(
  parent: Pid,
  machine: L,
  ...[options]: StartOptions<L>
): MachinePid<L> => launch(cellOf(parent).kernel, cellOf(parent), machine, options)

/** Asks a machine to end, after the events it was sent before. */
export const stop = (pid: Pid, reason: ExitReason = "normal"): void => deliver(cellOf(pid), new StopMessage(reason))

/** The actor behind a process: an XState actor reference, for user interfaces and inspectors. */
export const actor = <L extends AnyActorLogic>(pid: MachinePid<L>): Actor<L> =>
  actorAt(cellOf(pid)).node as unknown as Actor<L>

/** The machine's present snapshot; of a dead process, its last. */
export const snapshot = <L extends AnyActorLogic>(pid: MachinePid<L>): SnapshotFrom<L> => actor(pid).getSnapshot()

/** The machine's snapshot as data that can be stored, and started from again. */
export const persisted = <L extends AnyActorLogic>(pid: MachinePid<L>): Snapshot<unknown> =>
  actor(pid).getPersistedSnapshot()

/** The output of a machine that is done; `undefined` before, and for processes that host no machine. */
export const output = <L extends AnyActorLogic>(pid: MachinePid<L>): OutputFrom<L> | undefined => {
  const { behaviour } = cellOf(pid)
  return behaviour instanceof ActorProcess ? (behaviour.node.getSnapshot().output as OutputFrom<L>) : undefined
}

/**
 * Subscribes to the machine's snapshots.
 *
 * **Gotchas**
 *
 * What the observer throws is reported as a crash and changes nothing for the machine.
 */
export const subscribe = <L extends AnyActorLogic>(
  pid: MachinePid<L>,
  observer: ((snapshot: SnapshotFrom<L>) => void) | Observer<SnapshotFrom<L>>
): Subscription => {
  const target = actor(pid)
  return typeof observer === "function" ? target.subscribe(observer) : target.subscribe(observer)
}

/** The process that hosts an actor system; `undefined` under a bare `createActor`. */
export const hostOf = (system: AnyActorSystem): Pid<unknown> | undefined => hostCell(system)

/** What an effect or stream of an actor is made from. */
export interface ActorArgs<I> {
  readonly input: I
  readonly self: AnyActorRef
  readonly system: AnyActorSystem
  /** The process that hosts the actor, if one does. */
  readonly host: Pid<unknown> | undefined
}

const argsOf = <I>(input: I, self: AnyActorRef): ActorArgs<I> => ({
  input,
  self,
  system: self.system,
  host: hostCell(self.system)
})

/**
 * Makes actor logic from an effect: its success is the actor's output, its failure the actor's error.
 *
 * **Details**
 *
 * The fiber belongs to the actor's process, if there is one. Stopping the actor, or the end of the process, interrupts
 * it: its finalizers run once, and no event comes of it any more. An effect that ends synchronously is done in the same
 * step; the end of any other is handled in a turn of the process. A restored actor runs its effect again.
 *
 * **Gotchas**
 *
 * A defect is the actor's error too. An effect that interrupts itself fails with the reason `Shutdown`.
 */
export const fromEffect = <A, E = never, I = NonReducibleUnknown>(
  make: (args: ActorArgs<I>) => Effect.Effect<A, E>
): PromiseActorLogic<A, I> => ({
  config: make,
  getInitialSnapshot: (_scope, input) => beginning(input) as ReturnType<PromiseActorLogic<A, I>["getInitialSnapshot"]>,
  start: (state, { self }) => {
    if (state.status === "active") startFiber(self, () => make(argsOf(state.input as I, self)))
  },
  transition: (state, event, { self }) => afterEvent(state, event, () => stopFiber(self)),
  getPersistedSnapshot: (state) => state,
  restoreSnapshot: (stored) => stored as ReturnType<PromiseActorLogic<A, I>["getInitialSnapshot"]>
})

const streamValue = "xstate.stream.value"

const valueEvent = (value: unknown): WorkEvent => ({ type: streamValue, data: value })

/**
 * Makes actor logic from a stream: each value is the actor's `context`, its failure the actor's error.
 *
 * **Details**
 *
 * The stream is pulled by a fiber as `fromEffect` runs one: stopping the actor interrupts it. The next value is pulled
 * when the one before was handled. An invoking machine hears of each through `onSnapshot`.
 */
export const fromStream = <A, E = never, I extends NonReducibleUnknown = NonReducibleUnknown>(
  make: (args: ActorArgs<I>) => Stream.Stream<A, E>
): ObservableActorLogic<A, I> => ({
  config: make,
  getInitialSnapshot: (_scope, input) => ({
    ...beginning(undefined),
    input,
    context: undefined,
    _subscription: undefined
  }),
  start: (state, { self }) => {
    if (state.status !== "active") return
    const pull = (value: A) => handOver(self, valueEvent(value))
    startFiber(self, () => Streams.runForEach(make(argsOf(state.input as I, self)), pull))
  },
  transition: (state, event, { self }) =>
    event.type === streamValue && state.status === "active"
      ? { ...state, context: event["data"] as A }
      : afterEvent(state, event, () => stopFiber(self)),
  getPersistedSnapshot: (state) => state,
  restoreSnapshot: (stored) => ({
    ...(stored as SnapshotFrom<ObservableActorLogic<A, I>>),
    _subscription: undefined
  })
})

/** The snapshot of an actor that stands for a process. */
export type ProcessSnapshot<A, I> = Snapshot<A> & { readonly input: I | undefined }

/** Actor logic that stands for a process. Events sent to the actor are messages to the process. */
export type ProcessActorLogic<A, I = NonReducibleUnknown> = ActorLogic<ProcessSnapshot<A, I>, WorkEvent, I>

const processes = new WeakMap<AnyActorRef, Pid<unknown>>()

/**
 * Makes actor logic that spawns a process, linked to that of the actor that invokes it.
 *
 * **Details**
 *
 * - Its normal end is the actor's done event, with the output if it hosts a machine.
 * - Any other end is the actor's error, a `ProcessExit`; the host is not ended by it.
 * - The end of the host ends it, and stopping the actor sends it the exit signal `shutdown`.
 * - An event sent to the actor is sent to the process.
 *
 * Under a bare `createActor` the parent is a process of a system of its own.
 *
 * **Contract**
 *
 * `spawn` starts one process under `parent` and returns it; if it did not link it, this does. `onStart` is called with
 * it before any of its events.
 */
export const fromProcess = <A = unknown, I = NonReducibleUnknown>(
  spawn: (args: ActorArgs<I> & { readonly parent: Pid }) => Pid,
  onStart?: (pid: Pid<unknown>, args: ActorArgs<I>) => void
): ProcessActorLogic<A, I> => ({
  config: spawn,
  ...standingForProcess,
  getInitialSnapshot: (_scope, input) => beginning(input) as ProcessSnapshot<A, I>,
  start: (state, { self }) => {
    if (state.status !== "active") return
    const args = argsOf(state.input as I, self)
    const pid = startProcess(self, (parent) => {
      const child = spawn({ ...args, parent })
      onStart?.(child as Pid<unknown>, args)
      return child
    })
    processes.set(self, pid as Pid<unknown>)
  },
  transition: (state, event, { self }) => {
    const after = afterEvent(state, event, () => stopProcess(self))
    const pid = processes.get(self)
    if (after === state && pid !== undefined && !event.type.startsWith("xstate.")) deliver(cellOf(pid), event)
    return after
  },
  getPersistedSnapshot: (state) => state,
  restoreSnapshot: (stored) => stored as ProcessSnapshot<A, I>
})

/**
 * The process of an actor of a hosted machine: the machine's own, or that of a child at any depth.
 *
 * **Details**
 *
 * `undefined` before the actor was started, and under a bare `createActor`. An actor made by `fromProcess` stands for a
 * process, there too; it is that one. `actor`, `snapshot`, `subscribe` and the like take the answer as they take the pid
 * of a machine.
 *
 * An actor that is done ends its process `normal`, one that fails with its error, one that is stopped with `shutdown`; none
 * of that is a crash. Ending the process stops the actor, and the machine hears of it as the actor's error, a
 * `ProcessExit`, or for `normal` as its done event.
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
): MachinePid<ActorLogic<S, E>> | undefined => processes.get(ref) ?? processAt(ref)
