/**
 * Actor logic whose work is a process.
 *
 * PACT1. The process is linked one way to its host, the process of the invoking actor. It ends with the host. The host
 *        receives its end as an event, even if it ends before `spawn` returns.
 * PACT2. Stopping the actor sends the process the exit signal `shutdown`; its end is then no event.
 * PACT3. Under a bare `createActor` the host is a process of a separate system, which ends with the actor.
 */
import type { ActorLogic, AnyActorRef, NonReducibleUnknown, Snapshot } from "xstate"
import { type ExitReason, type Pid, ProcessExit } from "../core/index.ts"
import { onExit, spawn as spawnProcess, trapExit } from "../process/index.ts"
import { make, stop } from "../system/index.ts"
import { type ActorArgs, argsOf, processOf, standingForProcess } from "./actorTable.ts"
import { sendToActor } from "./hostedActor.ts"
import { ActorProcess } from "./actorProcess.ts"
import { ChartProcess } from "./host/index.ts"
import { Absorbed, type Cell, cellOf, deliver, die, join, signal, startTimer } from "../kernel/index.ts"
import { afterEvent, beginning, processDone, processFailed, type WorkEvent } from "./workSnapshot.ts"

/** The milliseconds in which a stopped process must end before it is killed. */
const shutdownTime = 5000

interface Linked {
  readonly host: Cell
  readonly child: Cell
  readonly forget: () => void
  readonly release: () => void
}

const linked = new WeakMap<AnyActorRef, Linked>()

const outputOf = ({ behaviour }: Cell): unknown => {
  if (behaviour instanceof ChartProcess) return behaviour.root.chart.output
  return behaviour instanceof ActorProcess ? behaviour.actor.ref.getSnapshot().output : undefined
}

const endOf = (cell: Cell, reason: ExitReason): { readonly type: string; readonly data: unknown } =>
  reason === "normal"
    ? { type: processDone, data: outputOf(cell) }
    : { type: processFailed, data: new ProcessExit({ pid: cell, reason }) }

const privateHost = (): { readonly host: Cell; readonly release: () => void } => {
  const system = make({ name: "bare" })
  const pid = spawnProcess(system, () => new Promise(() => {}), { label: "bare host" })
  trapExit(pid, true)
  return { host: cellOf(pid), release: () => void stop(system) }
}

/** Runs a spawn, and keeps the exit signal of the child from its host, however early the child ends. */
const absorbing = (host: Cell, create: () => Pid): Cell => {
  const absorbs = host.absorbs ?? new Absorbed()
  host.absorbs = absorbs
  absorbs.after = host.kernel.lastId
  try {
    const child = host.kernel.as(host, () => cellOf(create()))
    absorbs.known.add(child)
    return child
  } finally {
    absorbs.after = Number.POSITIVE_INFINITY
  }
}

/** Starts the process of an actor. */
const startProcess = (self: AnyActorRef, create: (parent: Pid) => Pid): Pid => {
  const hosting = processOf(self)
  const { host, release } = hosting === undefined ? privateHost() : { host: hosting, release: () => {} }
  const child = absorbing(host, () => create(host))
  if (!child.dead) join(host, child)
  let now = true
  const forget = onExit(child, (reason) => {
    linked.delete(self)
    const event = endOf(child, reason)
    if (now) self.send(event)
    else sendToActor(self, event)
    release()
  })
  now = false
  if (!child.dead) linked.set(self, { host, child, forget, release })
  return child
}

/** Ends the process of an actor, if it is alive. */
const stopProcess = (self: AnyActorRef): void => {
  const entry = linked.get(self)
  if (entry === undefined) return
  linked.delete(self)
  entry.forget()
  const { host, child } = entry
  signal(host, child, "shutdown", "direct")
  if (!child.dead) startTimer(child.kernel, child, shutdownTime, () => die(child, "killed", "signal"))
  entry.release()
}

/** The snapshot of an actor that represents a process. */
export type ProcessSnapshot<A, I> = Snapshot<A> & { readonly input: I | undefined }

/** Actor logic that represents a process. Events sent to the actor are messages to the process. */
export type ProcessActorLogic<A, I = NonReducibleUnknown> = ActorLogic<ProcessSnapshot<A, I>, WorkEvent, I>

const processes = new WeakMap<AnyActorRef, Pid<unknown>>()

/** The process that an actor made by `fromProcess` spawned, living or dead. */
export const spawnedBy = (self: AnyActorRef): Pid<unknown> | undefined => processes.get(self)

/**
 * Makes actor logic that spawns a process, linked to the process of the invoking actor.
 *
 * **Details**
 *
 * - Its normal end is the actor's done event, with the output if it runs a machine.
 * - Any other end is the actor's error, a `ProcessExit`; the host process does not end.
 * - It ends with the host. Stopping the actor sends it the exit signal `shutdown`.
 * - An event sent to the actor is sent to the process.
 *
 * Under a bare `createActor` the parent is a process of a separate system.
 *
 * **Contract**
 *
 * `spawn` starts one process under `parent` and returns it. If `spawn` did not link it, the actor does. `onStart` is
 * called with it before any of its events.
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
