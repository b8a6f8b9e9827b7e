/**
 * Tasks, alone and under a supervisor.
 *
 * @module
 */
import { type Pid, Task, TaskSupervisor } from "@troupe/otp"
import { fieldsOf, optional, present } from "../../runner/json.ts"
import { type Actor, arg, act, begin, confirm, verb, type Verbs } from "../actor.ts"
import { dynamicOptionsOf, shutdownOf } from "../childSpecs.ts"
import { bodyOf, labels } from "./processes.ts"

const remember = ({ world }: Actor, name: string, work: string, task: Task.Task<unknown>): void => {
  world.tasks.set(name, task)
  world.refs.set(name, task.ref)
  world.adopt(work, task.pid)
}

const supervised = (start: typeof TaskSupervisor.asyncNolink) =>
  act([arg.pid, arg.text, arg.text], async (actor, supervisor, name, label) => {
    remember(actor, name, label, await start(supervisor, actor.self, bodyOf(actor.world, label), { label }))
  })

const within = ({ self: from }: Actor, timeout: number | "infinity" | undefined): Task.AwaitOptions => ({
  from,
  ...present({ timeout })
})

const outcome = (found: Task.Outcome<unknown>): unknown => {
  if (found === undefined) return null
  return "ok" in found ? ["ok", found.ok] : ["exit", found.exit]
}

const yielded = (
  as: string,
  wait: (task: Task.Task<unknown>, options: Task.AwaitOptions) => Promise<Task.Outcome<unknown>>
) => verb(`${as} 0`, [arg.task, arg.time], async (actor, task, ms) => outcome(await wait(task, within(actor, ms))))

const loose = (start: (actor: Actor, work: ReturnType<typeof bodyOf>) => Pid) =>
  act([arg.text], (actor, work) => actor.world.adopt(work, start(actor, bodyOf(actor.world, work))))

const startTask = (as: string) =>
  begin(as, [arg.pid, arg.text, arg.raw], async ({ world }, supervisor, label, given) => {
    const { restart, shutdown } = fieldsOf(given)
    const options = present({
      restart: restart as "permanent" | "transient" | "temporary" | undefined,
      shutdown: optional(shutdownOf, shutdown)
    })
    const pid = await TaskSupervisor.startChild(supervisor, bodyOf(world, label), { label, ...options })
    world.adopt(label, pid)
    return pid
  })

export const tasks: Verbs = {
  task_async: act([arg.text, arg.text], (actor, name, label) =>
    remember(actor, name, label, Task.async(actor.self, bodyOf(actor.world, label), { label }))
  ),
  task_start: loose(({ world }, work) => Task.start(world.system, work)),
  task_start_link: loose(({ self }, work) => Task.startLink(self, work)),
  start_tasksup: act([arg.text], ({ world, self }, name) =>
    world.born(name, () => TaskSupervisor.startLink(self, dynamicOptionsOf(world, "tasksups", name)))
  ),
  async_nolink: supervised(TaskSupervisor.asyncNolink),
  sup_async: supervised(TaskSupervisor.async),
  start_child_task: startTask("start_child"),
  ts_start: startTask("ts_start"),
  ts_children: verb("ts_children", [arg.pid], async ({ world }, supervisor) =>
    labels(world, await TaskSupervisor.children(supervisor))
  ),
  ts_terminate: confirm("ts_terminate 1", [arg.pid, arg.pid], (_, ...at) => TaskSupervisor.terminateChild(...at)),
  await: verb("await 0", [arg.task, arg.time], (actor, task, ms) => Task.await(task, within(actor, ms))),
  await_many: verb("await_many", [arg.tasks, arg.time], (actor, all, ms) => Task.awaitMany(all, within(actor, ms))),
  yield: yielded("yield", Task.yield),
  yield_many: verb("yield_many", [arg.tasks, arg.time], async (actor, all, ms) =>
    (await Task.yieldMany(all, within(actor, ms))).map(outcome)
  ),
  yield_or_shutdown: yielded(
    "yield_or_shutdown",
    async (task, options) => (await Task.yield(task, options)) ?? Task.shutdown(task, undefined, options.from)
  ),
  task_shutdown: verb("task_shutdown 0", [arg.task, arg.raw], async ({ self }, task, time) =>
    outcome(await Task.shutdown(task, optional(shutdownOf, time), self))
  ),
  task_ignore: verb("task_ignore 0", [arg.task], ({ self }, task) => {
    Task.ignore(task, self)
    return null
  }),
  share_task: act([], () => undefined)
}
