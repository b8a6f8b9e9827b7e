/**
 * The children and the supervisors of a case.
 *
 * @module
 */
import { type DynamicSupervisor, GenServer, type Pid, Supervisor } from "@troupe/otp"
import { fieldsOf, type Json, list, number, object, optional, present, text } from "../runner/json.ts"
import type { World } from "./actor.ts"
import { definitionOf, startOptionsOf } from "./serverDefinition.ts"

const camel = (words: unknown): string =>
  text(words).replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase())

/** The time that a child or a task has to end. */
export const shutdownOf = (shutdown: unknown): Supervisor.Shutdown =>
  typeof shutdown === "number" ? shutdown : (camel(shutdown) as "brutalKill" | "infinity")

/** Starts a server of the case. */
export const startServer = (world: World, parent: Pid, name: string): Promise<Pid> =>
  world.born(name, () => GenServer.startLink(parent, definitionOf(world, name), undefined, startOptionsOf(world, name)))

/** The child of a supervisor: a server of the case, or one of its supervisors. */
export const childSpecOf = (world: World, child: Json | undefined): Supervisor.ChildSpec => {
  const { id, start, restart, shutdown, significant } = object(child)
  const name = text(start ?? id)
  const rules = {
    id: text(id ?? name),
    ...present({
      restart: restart as Supervisor.Restart | undefined,
      shutdown: optional(shutdownOf, shutdown),
      significant: significant === undefined ? undefined : significant === true
    })
  }
  return name in fieldsOf(world.given["sups"])
    ? { ...rules, type: "supervisor", start: (parent) => startSupervisor(world, parent, name) }
    : { ...rules, start: (parent) => startServer(world, parent, name) }
}

/** The options of a dynamic supervisor, of tasks or of servers. */
export const dynamicOptionsOf = (world: World, kind: "sups" | "tasksups", label: string): DynamicSupervisor.Options => {
  const given = fieldsOf(fieldsOf(world.given[kind])[label])
  const limits = {
    maxRestarts: optional(number, given["max_restarts"]),
    maxSeconds: optional(number, given["max_seconds"]),
    maxChildren: optional(number, given["max_children"])
  }
  return { label, ...present(limits) }
}

/** Starts a supervisor of the case. */
export const startSupervisor = (world: World, parent: Pid, name: string): Promise<Pid> => {
  const given = object(object(world.given["sups"])[name])
  const options: Supervisor.Options = {
    ...dynamicOptionsOf(world, "sups", name),
    strategy: camel(given["strategy"] ?? "one_for_one") as Supervisor.Strategy,
    autoShutdown: camel(given["auto_shutdown"] ?? "never") as Supervisor.AutoShutdown,
    children: list(given["children"] ?? []).map((child) => childSpecOf(world, child))
  }
  return world.born(name, () => Supervisor.startLink(parent, options))
}
