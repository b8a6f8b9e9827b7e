/**
 * Agents that keep a number.
 *
 * @module
 */
import { Agent } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { number, text } from "../../runner/json.ts"
import type { Json } from "../../runner/json.ts"
import { now, wait } from "../actor.ts"
import type { Actor, Verb, Verbs } from "../actor.ts"
import { RuntimeError } from "../terms.ts"
import { observed } from "./processes.ts"
import { startResult } from "./servers.ts"

const agent = (actor: Actor, name: Json | undefined): Agent.Agent<number> => actor.world.pid(text(name))

const asked =
  (verb: string, ask: (actor: Actor, args: ReadonlyArray<Json>) => Promise<unknown>): Verb =>
  (actor, args) =>
    wait(() => ask(actor, args)).pipe(Effect.map((value) => observed(actor, verb, value ?? "ok")))

const failing = (): never => {
  throw new RuntimeError("boom")
}

export const agents: Verbs = {
  agent_start: (actor, [name, value]) =>
    startResult(() =>
      actor.world.born(text(name), () => Agent.startLink(actor.self, () => value, { label: text(name) }))
    ).pipe(Effect.map((result) => observed(actor, "agent_start", result))),
  agent_get: asked("agent_get", (actor, [name]) => Agent.get(agent(actor, name), (n) => n, { from: actor.self })),
  agent_add: asked("agent_update", (actor, [name, amount]) =>
    Agent.update(agent(actor, name), (n) => n + number(amount), { from: actor.self })
  ),
  agent_get_and_add: asked("agent_get_and_update", (actor, [name, amount]) =>
    Agent.getAndUpdate(agent(actor, name), (n) => [n, n + number(amount)] as const, { from: actor.self })
  ),
  agent_cast_add: now((actor, [name, amount]) => {
    Agent.cast(agent(actor, name), (n) => n + number(amount))
    return observed(actor, "agent_cast", "ok")
  }),
  agent_update_raise: asked("agent_update", (actor, [name]) =>
    Agent.update<number>(agent(actor, name), failing, { from: actor.self })
  ),
  agent_update_sleep: asked("agent_update", (actor, [name, ms, timeout]) =>
    Agent.update(agent(actor, name), (n) => Effect.as(Effect.sleep(number(ms)), n + 1), {
      from: actor.self,
      timeout: number(timeout)
    })
  ),
  agent_stop: asked("agent_stop", (actor, [name]) => Agent.stop(agent(actor, name)))
}
