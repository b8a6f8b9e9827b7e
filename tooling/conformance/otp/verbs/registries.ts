/**
 * Registries, used by the process that runs the step.
 *
 * @module
 */
import { isDeepStrictEqual } from "node:util"
import { GenServer, Process, Registry } from "@troupe/otp"
import { fieldsOf, type Json, list, number, object, sorted, text } from "../../runner/json.ts"
import { arg, act, confirm, verb, type Verbs, type World } from "../actor.ts"
import { call } from "./servers.ts"

const start = (isLinked: boolean) =>
  act([arg.text, arg.raw, arg.raw], ({ world, self }, label, keys, given) => {
    const { partitions = 1, listeners = [], meta = {} } = fieldsOf(given)
    const options: Registry.Options = {
      label,
      keys: keys === "duplicate" ? "duplicate" : "unique",
      partitions: number(partitions),
      listeners: list(listeners).map((name) => Process.named<Registry.Change>(world.system, text(name))),
      meta: Object.entries(object(meta))
    }
    return world.born(label, () =>
      isLinked ? Registry.startLink(self, options) : Registry.start(world.system, options)
    )
  })

/** A registry, a key and a value. */
const matched = [arg.pid, arg.term, arg.term] as const

const is = (value: unknown) => (other: unknown) => isDeepStrictEqual(other, value)

const shown = (world: World, entries: ReadonlyArray<Registry.Entry>): ReadonlyArray<Json> =>
  sorted(entries.map(({ pid, value }) => world.encode([pid, value])))

export const registries: Verbs = {
  start_registry: start(true),
  start_registry_unlinked: start(false),
  reg_register: verb("reg_register", matched, ({ self }, registry, key, value) => {
    const made = Registry.register(registry, key, self, value)
    return made.ok ? ["ok", "registry"] : ["error", ["already_registered", made.pid]]
  }),
  reg_unregister: confirm("reg_unregister", [arg.pid, arg.term], ({ self }, registry, key) =>
    Registry.unregister(registry, key, self)
  ),
  reg_lookup: verb("reg_lookup 1", [arg.pid, arg.term], ({ world }, registry, key) =>
    shown(world, Registry.lookup(registry, key))
  ),
  reg_keys: verb("reg_keys 1", [arg.pid, arg.pid], ({ world }, registry, member) =>
    sorted(Registry.keys(registry, member).map((key) => world.encode(key)))
  ),
  reg_meta: verb("reg_meta", [arg.pid, arg.text], (_, registry, key) => {
    const value = Registry.meta(registry, key)
    return value === undefined ? "error" : ["ok", value]
  }),
  reg_put_meta: confirm("reg_put_meta", [arg.pid, arg.text, arg.term], (_, ...entry) => Registry.putMeta(...entry)),
  reg_delete_meta: confirm("reg_delete_meta", [arg.pid, arg.text], (_, ...key) => Registry.deleteMeta(...key)),
  reg_match: verb("reg_match", matched, ({ world }, registry, key, value) =>
    shown(world, Registry.match(registry, key, is(value)))
  ),
  reg_count_match: verb("reg_count_match", matched, (_, registry, key, value) =>
    Registry.countMatch(registry, key, is(value))
  ),
  reg_unregister_match: confirm("reg_unregister_match", matched, ({ self }, registry, key, value) =>
    Registry.unregisterMatch(registry, key, self, is(value))
  ),
  reg_values: verb("reg_values", [arg.pid, arg.term, arg.pid], ({ world }, registry, key, member) =>
    sorted(Registry.values(registry, key, member).map((value) => world.encode(value)))
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
  reg_dispatch: confirm("reg_dispatch", matched, (_, registry, key, message) =>
    Registry.dispatch(registry, key, (entries) => entries.forEach(({ pid }) => Process.send(pid, message)))
  ),
  via_call: verb("reply", [arg.pid, arg.term, arg.term, arg.time], (actor, registry, key, request, timeout) =>
    call(actor, Registry.via(registry, key), request, timeout)
  ),
  via_cast: confirm("cast", matched, (_, registry, key, message) =>
    GenServer.cast<unknown>(Registry.via(registry, key), message)
  )
}
