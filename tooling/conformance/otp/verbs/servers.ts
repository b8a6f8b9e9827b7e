/**
 * Servers, the steps of their handlers, and agents that keep a number.
 *
 * @module
 */
import { Agent, GenServer, type Name, OtpError, type Pid } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { isList, number, present } from "../../runner/json.ts"
import { type Actor, arg, act, verb, type Verbs } from "../actor.ts"
import { definitionOf, startOptionsOf } from "../serverDefinition.ts"
import { RuntimeError } from "../terms.ts"

/** The result of a start in OTP's form: `["ok", pid]`, `["error", reason]` or `"ignore"`. */
export const started = async (start: () => Promise<Pid | undefined>, reasonOf = (reason: unknown) => reason) => {
  try {
    return ["ok", (await start()) ?? "undefined"]
  } catch (error) {
    if (error instanceof OtpError.StartIgnored) return "ignore"
    if (error instanceof OtpError.StartFailed) return ["error", reasonOf(error.reason)]
    throw error
  }
}

/** `"ok"` after a promise. */
export const done = async (promise: Promise<unknown>): Promise<"ok"> => promise.then(() => "ok")

const start = (isLinked: boolean) =>
  verb("start 0", [arg.text, arg.time], ({ world, self }, name, timeout) =>
    started(async () => {
      const definition = definitionOf(world, name)
      const options = { ...startOptionsOf(world, name), ...present({ timeout: timeout && Number(timeout) }) }
      return world.born(name, () =>
        isLinked
          ? GenServer.startLink(self, definition, undefined, options)
          : GenServer.start(world.system, definition, undefined, options)
      )
    })
  )

/** Calls a server. */
export const call = ({ self }: Actor, target: Pid | Name, request: unknown, timeout: number | "infinity" | undefined) =>
  GenServer.callEffect<unknown, unknown>(target, request, { from: self, ...present({ timeout }) })

const cast = (_: Actor, target: Pid | Name, message: unknown): "ok" => {
  GenServer.cast<unknown>(target, message)
  return "ok"
}

const failing = (): never => {
  throw new RuntimeError("boom")
}

const agent = (value: Parameters<typeof arg.pid>[0], world: Parameters<typeof arg.pid>[1]): Agent.Agent<number> =>
  arg.pid(value, world)

export const servers: Verbs = {
  start: start(false),
  start_link: start(true),
  start_timeout: start(false),
  call: verb("reply", [arg.pid, arg.term, arg.time], call),
  call_name: verb("reply", [arg.name, arg.term, arg.time], call),
  cast: verb("cast", [arg.pid, arg.term], cast),
  cast_name: verb("cast", [arg.name, arg.term], cast),
  stop: verb("stop 0", [arg.pid, arg.reason, arg.time], (_, pid, reason, timeout) =>
    done(GenServer.stop(pid, reason, timeout))
  ),
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
  agent_start: verb("agent_start", [arg.text, arg.number], ({ world, self }, label, value) =>
    started(async () => world.born(label, () => Agent.startLink(self, () => value, { label })))
  ),
  agent_get: verb("agent_get", [agent], ({ self: from }, to) => Agent.get(to, (n) => n, { from })),
  agent_add: verb("agent_update", [agent, arg.number], ({ self: from }, to, amount) =>
    done(Agent.update(to, (n) => n + amount, { from }))
  ),
  agent_get_and_add: verb("agent_get_and_update", [agent, arg.number], ({ self: from }, to, amount) =>
    Agent.getAndUpdate(to, (n) => [n, n + amount] as const, { from })
  ),
  agent_cast_add: verb("agent_cast", [agent, arg.number], (_, to, amount) => {
    Agent.cast(to, (n) => n + amount)
    return "ok"
  }),
  agent_update_raise: verb("agent_update", [agent], ({ self: from }, to) =>
    done(Agent.update<number>(to, failing, { from }))
  ),
  agent_update_sleep: verb("agent_update", [agent, arg.number, arg.number], ({ self: from }, to, ms, timeout) =>
    done(Agent.update(to, (n) => Effect.as(Effect.sleep(ms), n + 1), { from, timeout }))
  ),
  agent_stop: verb("agent_stop", [agent], (_, to) => done(Agent.stop(to)))
}
