/**
 * Actor logic whose work is a process.
 *
 * PACT1. The process is linked one way to its host, the process of the invoking actor. It ends with the host. The host
 *        receives its end as an event, even if it ends before `spawn` returns.
 * PACT2. Stopping the actor sends the process the exit signal `shutdown`; its end is then no event.
 * PACT3. Under a bare `createActor` the host is a process of a separate system, which ends with the actor.
 */
import type { AnyActorRef } from "xstate"
import { type ExitReason, type Pid, ProcessExit } from "../core/index.ts"
import { onExit, spawn, trapExit } from "../process/index.ts"
import { make, stop } from "../system/index.ts"
import { processOf } from "./actorTable.ts"
import { sendToActor } from "./hostedActor.ts"
import { ActorProcess } from "./actorProcess.ts"
import { ChartProcess } from "./host/index.ts"
import { Absorbed, type Cell, cellOf, die, join, signal, startTimer } from "../kernel/index.ts"

export const processDone = "xstate.process.done"
export const processFailed = "xstate.process.failed"

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
  const pid = spawn(system, () => new Promise(() => {}), { label: "bare host" })
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
export const startProcess = (self: AnyActorRef, create: (parent: Pid) => Pid): Pid => {
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
export const stopProcess = (self: AnyActorRef): void => {
  const entry = linked.get(self)
  if (entry === undefined) return
  linked.delete(self)
  entry.forget()
  const { host, child } = entry
  signal(host, child, "shutdown", "direct")
  if (!child.dead) startTimer(child.kernel, child, shutdownTime, () => die(child, "killed", "signal"))
  entry.release()
}
