/**
 * Servers, the steps of their handlers, and agents that keep a number.
 *
 * @module
 */
import { Agent, GenServer, type Name, type Pid, Process, Sys } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { isList, type Json, list, number, present, text } from "../../runner/json.ts"
import { type Actor, arg, act, begin, confirm, type Turn, verb, type Verb, type Verbs, type World } from "../actor.ts"
import { definitionOf, startOptionsOf } from "../serverDefinition.ts"
import { decodeReason, RuntimeError } from "../terms.ts"

const start = (isLinked: boolean) =>
  begin("start 0", [arg.text, arg.time], ({ world, self }, name, timeout) => {
    const definition = definitionOf(world, name)
    const options = { ...startOptionsOf(world, name), ...present({ timeout: timeout && Number(timeout) }) }
    return world.born(name, () =>
      isLinked
        ? GenServer.startLink(self, definition, undefined, options)
        : GenServer.start(world.system, definition, undefined, options)
    )
  })

/** Calls a server. */
export const call = (
  { self }: Actor,
  target: Pid | Name,
  request: unknown,
  timeout: number | "infinity" | undefined
): Effect.Effect<unknown, unknown> =>
  GenServer.callEffect<unknown, unknown>(target, request, { from: self, ...present({ timeout }) })

const cast = (_: Actor, target: Pid | Name, message: unknown): void => GenServer.cast<unknown>(target, message)

const agent = (value: Parameters<typeof arg.pid>[0], world: Parameters<typeof arg.pid>[1]): Agent.Agent<number> =>
  arg.pid(value, world)

/** A function that fails: by an exception, an exit, a thrown value, or a bad result. */
const failing = (how: Json | undefined, world: World) => (): never => {
  if (how === "bad") return "junk" as never
  if (how === "raise") throw new RuntimeError("boom")
  const [kind, value] = list(how)
  if (kind === "exit") return Process.exitSelf(decodeReason(world, value))
  throw world.decode(value)
}

/** What an agent is called with: a function of its number. */
type Run = (n: number) => never
type AgentCall = (to: Agent.Agent<number>, run: Run, options: GenServer.CallOptions) => unknown

const agentCalls: Readonly<Record<string, AgentCall>> = {
  get: Agent.get,
  update: Agent.update,
  get_and_update: Agent.getAndUpdate,
  cast: Agent.cast
}

/** A call of an agent, with a function of the step's argument and of the number. */
const asked = (kind: string, runOf: (argument: Json | undefined, world: World) => (n: number) => unknown): Verb =>
  (kind === "update" || kind === "cast" ? confirm : verb)(
    `agent_${kind}`,
    [agent, arg.raw, arg.time],
    ({ self: from, world }, to, argument, timeout) =>
      agentCalls[kind]?.(to, runOf(argument, world) as Run, { from, ...present({ timeout }) })
  )

const plus = (amount: Json | undefined) => (n: number) => n + number(amount)

const startAgent = (valueOf: (value: Json | undefined, world: World) => () => number) =>
  begin("agent_start", [arg.text, arg.raw], ({ world, self }, label, value) =>
    world.born(label, () => Agent.startLink(self, valueOf(value, world), { label }))
  )

/** A process, and the time to wait for it. */
const system = [arg.pid, arg.time] as const

type State = Turn["state"]

export const servers: Verbs = {
  start: start(false),
  start_link: start(true),
  call: verb("reply", [arg.pid, arg.term, arg.time], call),
  call_name: verb("reply", [arg.name, arg.term, arg.time], call),
  cast: confirm("cast", [arg.pid, arg.term], cast),
  cast_name: confirm("cast", [arg.name, arg.term], cast),
  stop: confirm("stop 0", [arg.pid, arg.reason, arg.time], (_, ...how) => GenServer.stop(...how)),
  stash_from: act([arg.text], ({ world, handling: { from } }, key) => {
    if (from !== undefined) world.stashed.set(key, from)
  }),
  reply: act([arg.text, arg.raw], ({ world, turn }, key, value) => {
    const from = world.stashed.get(key)
    if (from !== undefined) GenServer.reply(from, world.decode(value, turn?.state.value))
  }),
  set: act([arg.raw], ({ handling: { state } }, value) => {
    state.value = value ?? null
  }),
  add: act([arg.number], ({ handling: { state } }, amount) => {
    state.value = number(isList(state.value) ? 0 : state.value) + amount
  }),
  note_msg: act([], ({ world, self, handling }) => world.note(self, "note", handling.message)),
  agent_start: startAgent((value) => () => number(value)),
  agent_start_fail: startAgent(failing),
  agent_fail: (actor, [to = null, kind, how = null]) => asked(text(kind), failing)(actor, [to, how]),
  agent_update_raise: asked("update", (_, world) => failing("raise", world)),
  agent_get: asked("get", () => (n) => n),
  agent_get_sleep: asked("get", (ms) => (n) => Effect.as(Effect.sleep(number(ms)), n)),
  agent_add: asked("update", plus),
  agent_get_and_add: asked("get_and_update", (amount) => (n) => [n, n + number(amount)]),
  agent_cast_add: asked("cast", plus),
  agent_update_sleep: asked("update", (ms) => (n) => Effect.as(Effect.sleep(number(ms)), n + 1)),
  agent_stop: confirm("agent_stop", [agent, arg.reason, arg.time], (_, ...how) => Agent.stop(...how)),
  sys_get: verb(
    "sys_get 0",
    system,
    async (_, pid, timeout) => (await Sys.getState<State>(pid, present({ timeout }))).value
  ),
  sys_replace: verb("sys_replace 0", [arg.pid, arg.number, arg.time], async (_, pid, amount, timeout) => {
    const changed = ({ value }: State): State => ({ value: number(value) + amount })
    return (await Sys.replaceState(pid, changed, present({ timeout }))).value
  }),
  sys_suspend: confirm("sys_suspend 0", system, (_, pid, timeout) => Sys.suspend(pid, present({ timeout }))),
  sys_resume: confirm("sys_resume 0", system, (_, pid, timeout) => Sys.resume(pid, present({ timeout }))),
  sys_status: verb(
    "sys_status 0",
    system,
    async (_, pid, timeout) => (await Sys.status(pid, present({ timeout }))).status
  ),
  sys_stats_on: confirm("sys_stats_on 0", [arg.pid], (_, pid) => Sys.setStatistics(pid, true)),
  sys_stats: verb("sys_stats 0", [arg.pid], (_, pid) => Sys.statistics(pid)?.handled)
}
