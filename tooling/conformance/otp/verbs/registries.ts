/**
 * Registries, used by the process that runs the step.
 *
 * @module
 */
import { Process, Registry } from "@troupe/otp"
import type { Pid } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { number, text } from "../../runner/json.ts"
import type { Json } from "../../runner/json.ts"
import { now, wait } from "../actor.ts"
import type { Actor, Verb, Verbs } from "../actor.ts"
import { observed } from "./processes.ts"
import { callAndObserve, castAndObserve } from "./servers.ts"

const registry = (actor: Actor, name: Json | undefined): Pid => actor.world.pid(text(name))

const start =
  (linked: boolean): Verb =>
  ({ world, self }, [name, keys]) =>
    wait(() => {
      const options: Registry.Options = { label: text(name), keys: keys === "duplicate" ? "duplicate" : "unique" }
      return world.born(text(name), () =>
        linked ? Registry.startLink(self, options) : Registry.start(world.system, options)
      )
    })

const inOrder = (values: ReadonlyArray<Json>): ReadonlyArray<Json> =>
  values.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))

const register: Verb = now((actor, [name, key, value]) => {
  const made = Registry.register(registry(actor, name), actor.world.decode(key), actor.self, actor.world.decode(value))
  return observed(actor, "reg_register", made.ok ? ["ok", "registry"] : ["error", ["already_registered", made.pid]])
})

/** The new value: the given one, or, if the step has none, the next number. */
const changed = (before: unknown, value: Json | undefined): unknown =>
  value === undefined ? number(before as Json) + 1 : value

const update: Verb = now((actor, [name, key, value]) => {
  const found = Registry.update(registry(actor, name), actor.world.decode(key), actor.self, (before) =>
    changed(before, value)
  )
  return observed(actor, "reg_update", found === undefined ? "error" : [found.value, found.before])
})

export const registries: Verbs = {
  start_registry: start(true),
  start_registry_unlinked: start(false),
  reg_register: register,
  reg_unregister: now((actor, [name, key]) => {
    Registry.unregister(registry(actor, name), actor.world.decode(key), actor.self)
    return observed(actor, "reg_unregister", "ok")
  }),
  reg_lookup: now((actor, [name, key]) => {
    const found = Registry.lookup(registry(actor, name), actor.world.decode(key))
    const pairs = found.map(({ pid, value }) => actor.world.encode([pid, value]))
    return observed(actor, "reg_lookup", key, inOrder(pairs))
  }),
  reg_keys: now((actor, [name, member]) => {
    const keys = Registry.keys(registry(actor, name), actor.world.pid(text(member)))
    return observed(actor, "reg_keys", member, inOrder(keys.map((key) => actor.world.encode(key))))
  }),
  reg_count: now((actor, [name]) => observed(actor, "reg_count", Registry.count(registry(actor, name)))),
  reg_select_keys: now((actor, [name]) => {
    const pairs = Registry.entries(registry(actor, name)).map(([key, , value]) => actor.world.encode([key, value]))
    return observed(actor, "reg_select", inOrder(pairs))
  }),
  reg_update: update,
  reg_dispatch: now((actor, [name, key, message]) => {
    Registry.dispatch(registry(actor, name), actor.world.decode(key), (entries) => {
      for (const { pid } of entries) Process.send(pid, actor.world.decode(message))
    })
    return observed(actor, "reg_dispatch", "ok")
  }),
  via_call: (actor, [name, key, request, timeout]) =>
    Effect.suspend(() => {
      const target = Registry.via(registry(actor, name), actor.world.decode(key))
      return callAndObserve(actor, target, request, timeout)
    }),
  via_cast: now((actor, [name, key, message]) =>
    castAndObserve(actor, Registry.via(registry(actor, name), actor.world.decode(key)), message)
  )
}
