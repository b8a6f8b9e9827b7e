/** Runs a machine in a process that hosts it, in a process by XState, and under a bare `createActor`. */
import { expect } from "vitest"
import { type AnyActorRef, type AnyMachineSnapshot, type AnyStateMachine, createActor, SimulatedClock } from "xstate"
import { Clock, Process, StateMachine, System } from "../../../src/index.ts"
import { hop } from "../../double/hop.ts"

/** What the effects of a machine write to. */
export interface Env {
  readonly log: (line: string) => void
}

/** An event, or milliseconds that pass. */
export type Act = { readonly type: string; readonly [key: string]: unknown } | number

/** What is seen after an act. */
export interface Seen {
  readonly status: string
  readonly value: unknown
  readonly context: unknown
  readonly output: unknown
  readonly error: string | undefined
  readonly children: unknown
  readonly log: ReadonlyArray<string>
}

const seenIn = (ref: Pick<AnyActorRef, "getSnapshot">, log: Array<string>): Seen => {
  const { status, value, context, output, error, children } = ref.getSnapshot() as AnyMachineSnapshot
  const inner = Object.entries(children as Readonly<Record<string, AnyActorRef>>).map(([id, child]) => {
    const state = child.getSnapshot() as Partial<AnyMachineSnapshot>
    return [id, state.status, state.value, state.context] as const
  })
  return {
    status,
    value,
    context,
    output,
    error: error instanceof Error ? error.message : error === undefined ? undefined : JSON.stringify(error),
    children: status === "active" ? inner : [],
    log: log.splice(0)
  }
}

const inProcess = async (
  machine: AnyStateMachine,
  acts: ReadonlyArray<Act>,
  options: Pick<StateMachine.Options<AnyStateMachine>, "input" | "strict" | "inspect">
): Promise<ReadonlyArray<Seen>> => {
  const log: Array<string> = []
  const clock = Clock.test()
  const system = System.make({ clock })
  const env: Env = { log: (line) => void log.push(line) }
  const pid = StateMachine.start(system, machine, { ...options, env })
  await hop()
  const actor = StateMachine.actor(pid)
  const seen = [seenIn(actor, log)]
  for (const act of acts) {
    if (typeof act === "number") await clock.advance(act)
    else if (Process.isAlive(pid)) Process.send(pid, act)
    await hop()
    seen.push(seenIn(actor, log))
  }
  await System.stop(system)
  expect(System.stats(system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
  return seen
}

const byXState = async (
  machine: AnyStateMachine,
  acts: ReadonlyArray<Act>,
  input: unknown
): Promise<ReadonlyArray<Seen>> => {
  const log: Array<string> = []
  const clock = new SimulatedClock()
  const env: Env = { log: (line) => void log.push(line) }
  const actor = createActor(StateMachine.bind(machine, env), { clock, input })
  actor.subscribe({ error: () => {} })
  actor.start()
  await hop()
  const seen = [seenIn(actor, log)]
  for (const act of acts) {
    if (typeof act === "number") clock.increment(act)
    else if (actor.getSnapshot().status === "active") actor.send(act)
    await hop()
    seen.push(seenIn(actor, log))
  }
  actor.stop()
  return seen
}

/** The result of a machine, which must be the same wherever it runs. It must be hosted. */
export const sameEverywhere = async (
  machine: AnyStateMachine,
  acts: ReadonlyArray<Act>,
  input?: unknown
): Promise<ReadonlyArray<Seen>> => {
  expect(StateMachine.unhosted(machine)).toEqual([])
  const hosted = await inProcess(machine, acts, { input })
  expect(hosted).toEqual(await byXState(machine, acts, input))
  expect(await inProcess(machine, acts, { input, inspect: () => {} })).toEqual(hosted)
  expect(await inProcess(machine, acts, { input, strict: true })).toEqual(hosted)
  return hosted
}

/** The last of some results. */
export const last = (seen: ReadonlyArray<Seen>): Seen => {
  const end = seen.at(-1)
  if (end === undefined) throw new Error("nothing was seen")
  return end
}
