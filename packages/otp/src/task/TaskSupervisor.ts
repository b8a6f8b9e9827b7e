/**
 * Supervisors of tasks: their tasks are in the tree, end with it, and can crash without ending their owner.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Process, System, Task, TaskSupervisor } from "@troupe/otp"
 *
 * const system = System.make()
 * const tasks = await TaskSupervisor.start(system)
 * const outcome = await new Promise((resolve) => {
 *   Process.spawn(system, async (self) => {
 *     const task = await TaskSupervisor.asyncNolink(tasks, self, () => Process.exitSelf("no such page"))
 *     resolve(await Task.yield(task))
 *   })
 * })
 * outcome // => { exit: "no such page" }
 * await System.stop(system)
 * ```
 *
 * **Source**
 *
 * Elixir's `Task.Supervisor`.
 */
import {
  CallExit,
  type ChildSpec,
  type ExitReason,
  type Pid,
  type Restart,
  type Rules,
  type Shutdown,
  type System,
  type Timeout
} from "../core/index.ts"
import * as DynamicSupervisor from "../supervisor/DynamicSupervisor.ts"
import { supervisorAt, type SupervisorTarget } from "../supervisor/index.ts"
import { type Cell, cellOf, sameSystem } from "../kernel/index.ts"
import type { TaskHandle } from "./taskHandle.ts"
import { checkWork, launchTask, ownedTask, tie } from "./taskStart.ts"
import { streamRules, streamTasks } from "./taskStream.ts"
import type * as Task from "./Task.ts"

/** The options of a task supervisor: those of a dynamic one. `label` is the name, else `TaskSupervisor`. */
export type Options = Omit<DynamicSupervisor.Options, "extraArguments">

const shown = (options: Options | undefined): Options => ({
  label: options?.name ?? options?.via?.name ?? "TaskSupervisor",
  ...options
})

/** Starts a supervisor of tasks without a link. */
export const start = (system: System, options?: Options): Promise<Pid> =>
  DynamicSupervisor.start(system, shown(options))

/** Starts a supervisor of tasks linked to its parent. */
export const startLink = (parent: Pid, options?: Options): Promise<Pid> =>
  DynamicSupervisor.startLink(parent, shown(options))

/** Makes the spec of a supervisor of tasks that is the child of a supervisor. */
export const childSpec = <const Id extends string>(id: Id, options?: Options, rules?: Rules): ChildSpec<Id> =>
  DynamicSupervisor.childSpec(id, options, rules)

/** The options of a supervised task. */
export interface TaskOptions extends Task.Options {
  /** How long the task may take to end before it is killed, as for any child. Default: 5000 milliseconds. */
  readonly shutdown?: Shutdown
}

const underSupervisor = (
  supervisor: SupervisorTarget,
  options: (TaskOptions & { readonly restart?: Restart }) | undefined,
  begin: (parent: Cell) => Cell
): Promise<Pid<unknown>> =>
  DynamicSupervisor.startChild(supervisor, {
    restart: options?.restart ?? "temporary",
    ...(options?.shutdown !== undefined && { shutdown: options.shutdown }),
    start: (parent) => begin(cellOf(parent))
  })

const supervised = async <A>(
  supervisor: SupervisorTarget,
  owner: Cell,
  work: Task.Work<A>,
  options: TaskOptions | undefined,
  linked: boolean
): Promise<Task.Task<A>> => {
  checkWork(work)
  const made: { task?: TaskHandle<A> } = {}
  const cell = supervisorAt(supervisor)
  if (linked && cell !== undefined) sameSystem(cell, owner)
  await underSupervisor(supervisor, options, (parent) => {
    made.task = ownedTask(owner, parent, work, options?.label)
    if (linked) tie(owner, made.task.pid)
    return made.task.pid
  })
  if (made.task === undefined) throw new CallExit({ reason: "noproc", in: "TaskSupervisor.async" })
  return made.task
}

const linkedTask = <A>(
  supervisor: SupervisorTarget,
  owner: Pid,
  work: Task.Work<A>,
  options?: TaskOptions
): Promise<Task.Task<A>> => supervised(supervisor, cellOf(owner), work, options, true)

export {
  /**
   * Starts a task under a supervisor, linked to its owner too: it ends with the first of the two that ends.
   *
   * **Errors**
   *
   * Rejects with `ChildRefused` (`maxChildren`), or `CallExit` if the supervisor is dead.
   */
  linkedTask as async
}

/**
 * Starts a task under a supervisor, monitored by its owner but not linked to it: it outlives its owner. Rejects like
 * `async`.
 */
export const asyncNolink = <A>(
  supervisor: SupervisorTarget,
  owner: Pid,
  work: Task.Work<A>,
  options?: TaskOptions
): Promise<Task.Task<A>> => supervised(supervisor, cellOf(owner), work, options, false)

/**
 * Starts a process that runs like a task under a supervisor and sends no reply.
 *
 * **Units and defaults**
 *
 * `restart` is `"temporary"`. With `"transient"` it is restarted when it crashes.
 */
export const startChild = async (
  supervisor: SupervisorTarget,
  work: Task.Work<unknown>,
  options?: TaskOptions & { readonly restart?: Restart }
): Promise<Pid<unknown>> => {
  checkWork(work)
  const caller = supervisorAt(supervisor)?.kernel.current
  return underSupervisor(supervisor, options, (parent) => launchTask(parent, caller, work, options?.label))
}

/** Ends a task or process of a task supervisor. Rejects with `ChildRefused` (`notFound`). */
export const terminateChild = (supervisor: SupervisorTarget, pid: Pid): Promise<void> =>
  DynamicSupervisor.terminateChild(supervisor, pid)

/** The processes of a task supervisor, in start order. */
export const children = async (supervisor: SupervisorTarget): Promise<ReadonlyArray<Pid>> => {
  const infos = await DynamicSupervisor.whichChildren(supervisor)
  return infos.flatMap(({ pid }) => (pid === undefined || pid === "restarting" ? [] : [pid]))
}

/** The options of a stream of tasks, and their shutdown rule. */
export interface StreamOptions<Zip extends boolean = boolean> extends Task.StreamOptions<Zip>, TaskOptions {}

const streamUnder = <I, A, Zip extends boolean>(
  supervisor: SupervisorTarget,
  owner: Cell,
  inputs: Iterable<I> | AsyncIterable<I>,
  work: Task.StreamWork<I, A>,
  options: StreamOptions<Zip> | undefined,
  linked: boolean
): AsyncIterable<Task.StreamResult<I, A, Zip>> =>
  streamTasks(inputs, {
    ...streamRules(owner, options),
    linked,
    start: async (input, made, finished) => {
      await underSupervisor(supervisor, options, (parent) => {
        const cell = launchTask(parent, owner, (self) => work(input, self), options?.label, finished)
        if (linked) tie(owner, cell)
        made(cell)
        return cell
      })
    }
  })

/**
 * Runs a task for each input under a supervisor, linked to the owner too, like `Task.asyncStream`.
 *
 * **Errors**
 *
 * Fails with `ChildRefused` (`maxChildren`) when the supervisor accepts no more tasks. A task that crashes ends its owner;
 * if the owner traps exits, it gets the `exit` as a result instead.
 */
export const asyncStream = <I, A, Zip extends boolean = false>(
  supervisor: SupervisorTarget,
  owner: Pid,
  inputs: Iterable<I> | AsyncIterable<I>,
  work: Task.StreamWork<I, A>,
  options?: StreamOptions<Zip>
): AsyncIterable<Task.StreamResult<I, A, Zip>> => streamUnder(supervisor, cellOf(owner), inputs, work, options, true)

/** Runs a task for each input under a supervisor, like `asyncStream`, but a crash is only a result. */
export const asyncStreamNolink = <I, A, Zip extends boolean = false>(
  supervisor: SupervisorTarget,
  owner: Pid,
  inputs: Iterable<I> | AsyncIterable<I>,
  work: Task.StreamWork<I, A>,
  options?: StreamOptions<Zip>
): AsyncIterable<Task.StreamResult<I, A, Zip>> => streamUnder(supervisor, cellOf(owner), inputs, work, options, false)

/** Ends a supervisor of tasks and all its tasks; resolves when all are dead. */
export const stop = (supervisor: SupervisorTarget, reason?: ExitReason, timeout?: Timeout): Promise<void> =>
  DynamicSupervisor.stop(supervisor, reason, timeout)
