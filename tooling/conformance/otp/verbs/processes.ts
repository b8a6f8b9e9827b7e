/**
 * Processes: spawned, signalled, linked, monitored, named.
 *
 * @module
 */
import { type Pid, Process, type SystemMessage } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { object } from "../../runner/json.ts"
import { Actor, arg, Returned, act, verb, type Verbs, type World } from "../actor.ts"
import { ArgumentError } from "../terms.ts"

/** The body of a plain process: its script, which returns its value. */
export const bodyOf =
  (world: World, name: string) =>
  (self: Pid<unknown>): Effect.Effect<unknown, unknown> =>
    Effect.suspend(() => {
      world.adopt(name, self)
      const { trap_exit: traps, script } = object(object(world.given["procs"])[name])
      if (traps === true) Process.trapExit(self, true)
      const value = (error: unknown) => (error instanceof Returned ? Effect.succeed(error.value) : Effect.fail(error))
      return new Actor(world, self).script(script).pipe(Effect.catch(value))
    })

export const labels = (world: World, pids: ReadonlyArray<Pid> = []): ReadonlyArray<string> =>
  pids.map((pid) => world.labelOf(pid) ?? "?").toSorted()

const information = (world: World, pid: Pid, what: string): unknown => {
  const info = Process.info(pid)
  if (info === undefined) return null
  const facts: Readonly<Record<string, unknown>> = {
    message_queue_len: info.queueLength,
    trap_exit: info.trapExit,
    registered_name: info.name ?? [],
    links: labels(world, info.links)
  }
  return facts[what] ?? null
}

const monitor = (to: typeof arg.pid | typeof arg.name) =>
  act([to, arg.text], ({ world, self }, target, ref) => {
    world.refs.set(ref, Process.monitor(self, target))
  })

export const processes: Verbs = {
  spawn: act([arg.text], ({ world }, label) =>
    world.adopt(label, Process.spawn(world.system, bodyOf(world, label), { label }))
  ),
  spawn_link: act([arg.text], ({ world, self }, label) =>
    world.adopt(label, Process.spawnLink(self, bodyOf(world, label), { label }))
  ),
  spawn_monitor: act([arg.text, arg.text], ({ world, self }, label, ref) => {
    const made = Process.spawnMonitor(self, bodyOf(world, label), { label })
    world.adopt(label, made.pid)
    world.refs.set(ref, made.ref)
  }),
  link: verb("link", [arg.pid], ({ self }, pid) => Process.link(self, pid)),
  unlink: verb("unlink", [arg.pid], ({ self }, pid) => Process.unlink(self, pid)),
  monitor: monitor(arg.pid),
  monitor_name: monitor(arg.name),
  alias: act([arg.text, arg.raw], ({ world, self }, name, mode) => {
    world.aliases.set(name, Process.alias(self, mode === "reply" ? mode : undefined))
  }),
  monitor_alias: act([arg.pid, arg.text, arg.raw], ({ world, self }, pid, name, mode) => {
    const { ref, alias } = Process.monitorAlias(self, pid, mode === "demonitor" ? mode : undefined)
    world.aliases.set(name, alias)
    world.refs.set(name, ref)
  }),
  send_alias: act([arg.text, arg.term], ({ world }, name, message) => {
    const alias = world.aliases.get(name)
    if (alias !== undefined) Process.send(alias, message)
  }),
  unalias: verb("unalias 0", [arg.text], ({ world }, name) => {
    const alias = world.aliases.get(name)
    return alias !== undefined && Process.unalias(alias)
  }),
  demonitor: verb("demonitor", [arg.text, arg.raw, arg.raw], ({ world }, ref, ...options) => {
    const chosen = { flush: options.flat().includes("flush"), info: options.flat().includes("info") }
    return Process.demonitor(world.ref(ref) as SystemMessage.MonitorRef, chosen)
  }),
  exit_signal: act([arg.pid, arg.reason], (actor, pid, reason) => {
    actor.signal(pid, reason)
    return Process.isAlive(actor.self) ? Effect.sync(() => actor.observe("exit_signal", true)) : Effect.never
  }),
  trap_exit: verb("trap_exit_was", [arg.raw], ({ self }, trap) => Process.trapExit(self, trap === true)),
  alive: verb("alive 0", [arg.pid], (_, pid) => Process.isAlive(pid)),
  links: verb("links", [], ({ world, self }) => labels(world, Process.info(self)?.links)),
  info: verb("info 0 1", [arg.pid, arg.text], ({ world }, pid, what) => information(world, pid, what)),
  whereis: verb("whereis 0", [arg.text], ({ world }, name) => Process.whereis(world.system, name) ?? null),
  register: verb("register 0 1", [arg.pid, arg.text], (_, pid, name) => {
    Process.register(name, pid)
    return true
  }),
  unregister: verb("unregister 0", [arg.text], ({ world }, name) => {
    if (!Process.unregister(world.system, name)) throw new ArgumentError(name)
    return true
  })
}
