/**
 * The children and the supervisors of a case.
 *
 * @module
 */
import { GenServer, Supervisor } from "@troupe/otp"
import type { DynamicSupervisor, Pid } from "@troupe/otp"
import { list, number, object, optional, text } from "../runner/json.ts"
import type { Json, JsonObject } from "../runner/json.ts"
import { definitionOf, startOptionsOf } from "./serverDefinition.ts"
import type { World } from "./actor.ts"

const camelCase = (words: string): string => words.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase())

const shutdownOf = (shutdown: Json): Supervisor.Shutdown =>
  typeof shutdown === "number" ? shutdown : (camelCase(text(shutdown)) as "brutalKill" | "infinity")

/** The child of a supervisor: a server of the case, or one of its supervisors. */
export const childSpecOf = (world: World, child: Json | undefined): Supervisor.ChildSpec => {
  const given = object(child)
  const name = text(given["start"] ?? given["id"])
  const shutdown = optional(shutdownOf, given["shutdown"])
  const restart = optional(text, given["restart"]) as Supervisor.Restart | undefined
  const rules = {
    id: text(given["id"] ?? name),
    ...(restart === undefined ? {} : { restart }),
    ...(shutdown === undefined ? {} : { shutdown }),
    ...(given["significant"] === undefined ? {} : { significant: given["significant"] === true })
  }
  const isSupervisor = optional(object, world.given["sups"])?.[name] !== undefined
  if (isSupervisor) return { ...rules, type: "supervisor", start: (parent) => startSupervisor(world, parent, name) }
  return { ...rules, start: (parent) => startServer(world, parent, name) }
}

const startServer = (world: World, parent: Pid, name: string): Promise<Pid> =>
  world.born(name, () => GenServer.startLink(parent, definitionOf(world, name), undefined, startOptionsOf(world, name)))

const limitsOf = (given: JsonObject): Pick<Supervisor.Options, "maxRestarts" | "maxSeconds"> => {
  const maxRestarts = optional(number, given["max_restarts"])
  const maxSeconds = optional(number, given["max_seconds"])
  return { ...(maxRestarts === undefined ? {} : { maxRestarts }), ...(maxSeconds === undefined ? {} : { maxSeconds }) }
}

/** The options of a dynamic supervisor, of tasks or of servers. */
export const dynamicOptionsOf = (world: World, kind: "sups" | "tasksups", name: string): DynamicSupervisor.Options => {
  const given = optional(object, optional(object, world.given[kind])?.[name]) ?? {}
  const maxChildren = optional(number, given["max_children"])
  return { label: name, ...limitsOf(given), ...(maxChildren === undefined ? {} : { maxChildren }) }
}

const supervisorOptionsOf = (world: World, name: string): Supervisor.Options => {
  const given = object(object(world.given["sups"])[name])
  const strategy = camelCase(text(given["strategy"] ?? "one_for_one")) as Supervisor.Strategy
  const autoShutdown = camelCase(text(given["auto_shutdown"] ?? "never")) as Supervisor.AutoShutdown
  const children = list(given["children"] ?? []).map((child) => childSpecOf(world, child))
  return { label: name, strategy, autoShutdown, children, ...limitsOf(given) }
}

/** Starts a supervisor of the case. */
export const startSupervisor = (world: World, parent: Pid, name: string): Promise<Pid> =>
  world.born(name, () => Supervisor.startLink(parent, supervisorOptionsOf(world, name)))
