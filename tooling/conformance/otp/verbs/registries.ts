/**
 * Registries, used by the process that runs the step.
 *
 * @module
 */
import { GenServer, Process, Registry } from "@troupe/otp"
import { number, sorted } from "../../runner/json.ts"
import { arg, act, verb, type Verbs } from "../actor.ts"
import { call } from "./servers.ts"

const start = (isLinked: boolean) =>
  act([arg.text, arg.raw], ({ world, self }, label, keys) => {
    const options: Registry.Options = { label, keys: keys === "duplicate" ? "duplicate" : "unique" }
    return world.born(label, () =>
      isLinked ? Registry.startLink(self, options) : Registry.start(world.system, options)
    )
  })

export const registries: Verbs = {
  start_registry: start(true),
  start_registry_unlinked: start(false),
  reg_register: verb("reg_register", [arg.pid, arg.term, arg.term], ({ self }, registry, key, value) => {
    const made = Registry.register(registry, key, self, value)
    return made.ok ? ["ok", "registry"] : ["error", ["already_registered", made.pid]]
  }),
  reg_unregister: verb("reg_unregister", [arg.pid, arg.term], ({ self }, registry, key) => {
    Registry.unregister(registry, key, self)
    return "ok"
  }),
  reg_lookup: verb("reg_lookup 1", [arg.pid, arg.term], ({ world }, registry, key) =>
    sorted(Registry.lookup(registry, key).map(({ pid, value }) => world.encode([pid, value])))
  ),
  reg_keys: verb("reg_keys 1", [arg.pid, arg.pid], ({ world }, registry, member) =>
    sorted(Registry.keys(registry, member).map((key) => world.encode(key)))
  ),
  reg_count: verb("reg_count", [arg.pid], (_, registry) => Registry.count(registry)),
  reg_select_keys: verb("reg_select", [arg.pid], ({ world }, registry) =>
    sorted(Registry.entries(registry).map(([key, , value]) => world.encode([key, value])))
  ),
  // The new value is the given one, or, if the step has none, the next number.
  reg_update: verb("reg_update", [arg.pid, arg.term, arg.raw], ({ self }, registry, key, value) => {
    const change = (before: unknown) => (value === undefined ? number(before) + 1 : value)
    const found = Registry.update(registry, key, self, change)
    return found === undefined ? "error" : [found.value, found.before]
  }),
  reg_dispatch: verb("reg_dispatch", [arg.pid, arg.term, arg.term], (_, registry, key, message) => {
    Registry.dispatch(registry, key, (entries) => {
      for (const { pid } of entries) Process.send(pid, message)
    })
    return "ok"
  }),
  via_call: verb("reply", [arg.pid, arg.term, arg.term, arg.time], (actor, registry, key, request, timeout) =>
    call(actor, Registry.via(registry, key), request, timeout)
  ),
  via_cast: verb("cast", [arg.pid, arg.term, arg.term], (_, registry, key, message) => {
    GenServer.cast<unknown>(Registry.via(registry, key), message)
    return "ok"
  })
}
