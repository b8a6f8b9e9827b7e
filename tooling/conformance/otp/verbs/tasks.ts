/**
 * Tasks, alone and under a supervisor.
 *
 * @module
 */
import { Task, TaskSupervisor } from "@troupe/otp"
import type { Pid } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { list, number, optional, text } from "../../runner/json.ts"
import type { Json } from "../../runner/json.ts"
import { now, wait } from "../actor.ts"
import type { Actor, Verb, Verbs } from "../actor.ts"
import { dynamicOptionsOf } from "../childSpecs.ts"
import { bodyOf, observed } from "./processes.ts"

const remember = (actor: Actor, name: string, work: string, task: Task.Task<unknown>): void => {
  actor.world.tasks.set(name, task)
  actor.world.refs.set(name, task.ref)
  actor.world.adopt(work, task.pid)
}

type Supervised = typeof TaskSupervisor.asyncNolink

const supervised =
  (start: Supervised): Verb =>
  (actor, [supervisor, name, work]) =>
    wait(() => {
      const body = bodyOf(actor.world, text(work))
      return start(actor.world.pid(text(supervisor)), actor.self, body, { label: text(work) })
    }).pipe(Effect.map((task) => remember(actor, text(name), text(work), task)))

const taskOf = (actor: Actor, name: Json | undefined): Task.Task<unknown> => {
  const task = actor.world.tasks.get(text(name))
  if (task === undefined) throw new TypeError(`no task is called ${text(name)}`)
  return task
}

const within = (actor: Actor, ms: Json | undefined): Task.AwaitOptions => {
  const timeout = ms === "infinity" ? "infinity" : optional(number, ms)
  return { from: actor.self, ...(timeout === undefined ? {} : { timeout }) }
}

const outcome = (found: Task.Outcome<unknown>): unknown => {
  if (found === undefined) return null
  return "ok" in found ? ["ok", found.ok] : ["exit", found.exit]
}

const shutdownTime = (value: Json): number | "infinity" | "brutalKill" => {
  if (value === "brutal_kill") return "brutalKill"
  return value === "infinity" ? value : number(value)
}

const yieldOrShutdown = async (actor: Actor, task: Task.Task<unknown>, ms: Json | undefined) =>
  (await Task.yield(task, within(actor, ms))) ?? (await Task.shutdown(task))

const loose = (start: (actor: Actor, work: (self: Pid<unknown>) => Effect.Effect<unknown, unknown>) => Pid): Verb =>
  now((actor, [work]) => actor.world.adopt(text(work), start(actor, bodyOf(actor.world, text(work)))))

export const tasks: Verbs = {
  task_async: now((actor, [name, work]) => {
    const task = Task.async(actor.self, bodyOf(actor.world, text(work)), { label: text(work) })
    remember(actor, text(name), text(work), task)
  }),
  task_start: loose((actor, work) => Task.start(actor.world.system, work)),
  task_start_link: loose((actor, work) => Task.startLink(actor.self, work)),
  start_tasksup: (actor, [name]) =>
    wait(() =>
      actor.world.born(text(name), () =>
        TaskSupervisor.startLink(actor.self, dynamicOptionsOf(actor.world, "tasksups", text(name)))
      )
    ),
  async_nolink: supervised(TaskSupervisor.asyncNolink),
  sup_async: supervised(TaskSupervisor.async),
  start_child_task: (actor, [supervisor, work, options]) =>
    wait(() => {
      const given = typeof options === "object" && options !== null && "restart" in options ? options["restart"] : null
      const restart = optional(text, given) as "permanent" | "transient" | "temporary" | undefined
      return TaskSupervisor.startChild(actor.world.pid(text(supervisor)), bodyOf(actor.world, text(work)), {
        label: text(work),
        ...(restart === undefined ? {} : { restart })
      })
    }).pipe(
      Effect.map((pid) => {
        actor.world.adopt(text(work), pid)
        return observed(actor, "start_child", ["ok", pid])
      })
    ),
  await: (actor, [name, ms]) =>
    wait(() => Task.await(taskOf(actor, name), within(actor, ms))).pipe(
      Effect.map((value) => observed(actor, "await", name, value))
    ),
  await_many: (actor, [names, ms]) =>
    wait(() =>
      Task.awaitMany(
        list(names).map((name) => taskOf(actor, name)),
        within(actor, ms)
      )
    ).pipe(Effect.map((values) => observed(actor, "await_many", values))),
  yield: (actor, [name, ms]) =>
    wait(() => Task.yield(taskOf(actor, name), within(actor, ms))).pipe(
      Effect.map((found) => observed(actor, "yield", name, outcome(found)))
    ),
  yield_many: (actor, [names, ms]) =>
    wait(() =>
      Task.yieldMany(
        list(names).map((name) => taskOf(actor, name)),
        within(actor, ms)
      )
    ).pipe(Effect.map((found) => observed(actor, "yield_many", found.map(outcome)))),
  yield_or_shutdown: (actor, [name, ms]) =>
    wait(() => yieldOrShutdown(actor, taskOf(actor, name), ms)).pipe(
      Effect.map((found) => observed(actor, "yield_or_shutdown", name, outcome(found)))
    ),
  task_shutdown: (actor, [name, time]) =>
    wait(() => Task.shutdown(taskOf(actor, name), optional(shutdownTime, time))).pipe(
      Effect.map((found) => observed(actor, "task_shutdown", name, outcome(found)))
    ),
  task_ignore: now((actor, [name]) => {
    Task.ignore(taskOf(actor, name))
    return observed(actor, "task_ignore", name, null)
  }),
  share_task: () => Effect.void
}
