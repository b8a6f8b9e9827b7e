/**
 * Processes: spawned, signalled, linked, monitored, named.
 *
 * @module
 */
import { Process } from "@troupe/otp"
import type { Pid, SystemMessage, Target } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { object, text } from "../../runner/json.ts"
import type { Json } from "../../runner/json.ts"
import { Actor, Returned, now } from "../actor.ts"
import type { Verbs } from "../actor.ts"
import { ArgumentError, decodeReason } from "../terms.ts"
import type { World } from "../actor.ts"

/** The body of a plain process: its script, which returns its value. */
export const bodyOf =
  (world: World, name: string) =>
  (self: Pid<unknown>): Effect.Effect<unknown, unknown> =>
    Effect.suspend(() => {
      world.adopt(name, self)
      const { trap_exit: traps, script } = object(object(world.given["procs"])[name])
      if (traps === true) Process.trapExit(self, true)
      return new Actor(world, self).script(script).pipe(
        Effect.catchCause((cause) => {
          const [reason] = cause.reasons
          const error = reason?._tag === "Fail" ? reason.error : undefined
          return error instanceof Returned ? Effect.succeed(error.value) : Effect.failCause(cause)
        })
      )
    })

const known = (actor: Actor, name: Json | undefined): Pid<unknown> => actor.world.pid(text(name))

const watch = (actor: Actor, target: Target, name: Json | undefined): void =>
  void actor.world.refs.set(text(name), Process.monitor(actor.self, target))

const labels = (actor: Actor, pids: ReadonlyArray<Pid>): ReadonlyArray<string> =>
  pids.map((pid) => actor.world.labelOf(pid) ?? "?").toSorted()

const information = (actor: Actor, pid: Pid, what: string): unknown => {
  const info = Process.info(pid)
  if (info === undefined) return null
  const facts: Readonly<Record<string, unknown>> = {
    message_queue_len: info.queueLength,
    trap_exit: info.trapExit,
    registered_name: info.name ?? [],
    links: labels(actor, info.links)
  }
  return facts[what] ?? null
}

export const processes: Verbs = {
  spawn: now(({ world }, [name]) => {
    const body = bodyOf(world, text(name))
    world.adopt(text(name), Process.spawn(world.system, body, { label: text(name) }))
  }),
  spawn_link: now(({ world, self }, [name]) => {
    world.adopt(text(name), Process.spawnLink(self, bodyOf(world, text(name)), { label: text(name) }))
  }),
  spawn_monitor: now(({ world, self }, [name, ref]) => {
    const made = Process.spawnMonitor(self, bodyOf(world, text(name)), { label: text(name) })
    world.adopt(text(name), made.pid)
    world.refs.set(text(ref), made.ref)
  }),
  link: now((actor, [name]) => observed(actor, "link", Process.link(actor.self, known(actor, name)))),
  unlink: now((actor, [name]) => observed(actor, "unlink", Process.unlink(actor.self, known(actor, name)))),
  monitor: now((actor, [name, ref]) => watch(actor, known(actor, name), ref)),
  monitor_name: now((actor, [name, ref]) => watch(actor, Process.named(actor.world.system, text(name)), ref)),
  demonitor: now((actor, [ref, ...options]) => {
    const asked = options.flat()
    const chosen = { flush: asked.includes("flush"), info: asked.includes("info") }
    return observed(
      actor,
      "demonitor",
      Process.demonitor(actor.world.ref(text(ref)) as SystemMessage.MonitorRef, chosen)
    )
  }),
  exit_signal: (actor, [name, reason]) =>
    Effect.suspend(() => {
      actor.signal(known(actor, name), decodeReason(actor.world, reason))
      return Process.isAlive(actor.self) ? Effect.sync(() => observed(actor, "exit_signal", true)) : Effect.never
    }),
  trap_exit: now((actor, [trap]) => observed(actor, "trap_exit_was", Process.trapExit(actor.self, trap === true))),
  alive: now((actor, [name]) => observed(actor, "alive", name, Process.isAlive(known(actor, name)))),
  links: now((actor) => observed(actor, "links", labels(actor, Process.info(actor.self)?.links ?? []))),
  info: now((actor, [name, what]) =>
    observed(actor, "info", name, what, information(actor, known(actor, name), text(what)))
  ),
  whereis: now((actor, [name]) =>
    observed(actor, "whereis", name, Process.whereis(actor.world.system, text(name)) ?? null)
  ),
  register: now((actor, [name, as]) => {
    Process.register(text(as), known(actor, name))
    return observed(actor, "register", name, as, true)
  }),
  unregister: now((actor, [name]) => {
    if (!Process.unregister(actor.world.system, text(name))) throw new ArgumentError(text(name))
    return observed(actor, "unregister", name, true)
  })
}

/** Records an observation, and returns its last value. */
export function observed(actor: Actor, ...entry: ReadonlyArray<unknown>): unknown {
  actor.observe(...entry)
  return entry.at(-1)
}
