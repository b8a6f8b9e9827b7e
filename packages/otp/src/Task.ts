/**
 * Tasks: processes that compute one value for the process that started them.
 *
 * A task is linked to its owner: if it crashes the owner crashes, and it does not outlive its owner's crash. One started
 * under a task supervisor with `asyncNolink` is not: its crash is an exit that `await` or `yield` tells.
 *
 * **Gotchas**
 *
 * The reply is a message in the owner's mailbox: only the owner can await it, and a task that is never awaited leaves
 * its reply there.
 *
 * **Source**
 *
 * Elixir's `Task` and `Task.Supervisor`.
 */
import type { Effect } from "effect"
import * as DynamicSupervisor from "./DynamicSupervisor.ts"
import type { ChildSpec, Restart, Shutdown } from "./ChildSpec.ts"
import { cellOf } from "./internal/cell.ts"
import type { Cell } from "./internal/cell.ts"
import { die, join, signal } from "./internal/death.ts"
import { Script } from "./internal/script.ts"
import * as Handle from "./internal/taskHandle.ts"
import { TaskHandle } from "./internal/taskHandle.ts"
import { milliseconds } from "./internal/timeout.ts"
import type { Timeout } from "./internal/timeout.ts"
import { wake } from "./internal/wake.ts"
import { CallExit, NotTheOwner } from "./OtpError.ts"
import type { Pid } from "./Pid.ts"
import { unlink } from "./Process.ts"
import type { MonitorRef } from "./SystemMessage.ts"
import type { System } from "./System.ts"

/** What came of a task: `ok` with its value, `exit` with the reason it ended with, or nothing yet. */
export type Outcome<A> = Handle.Outcome<A>

/** The reply of a task that was not awaited, as a message in its owner's mailbox. */
export type TaskReply<A> = Handle.TaskReply<A>

/** A task and the reference its messages carry. */
export interface Task<out A> {
  readonly pid: Pid
  readonly owner: Pid
  /** In the reply, `TaskReply`, and in the `Down` that follows it. */
  readonly ref: MonitorRef
  outcome(ms: number): Promise<Outcome<A>>
}

/** What a task computes: a value, a promise or an effect of one. An effect is interrupted when the task is ended. */
export type Work<A> = (self: Pid<unknown>) => A | Promise<A> | Effect.Effect<A, unknown>

/** How a task is shown. */
export interface Options {
  readonly label?: string
}

const launch = (
  parent: Cell,
  work: Work<unknown>,
  label: string | undefined,
  result?: (value: unknown) => void
): Cell => {
  const cell = parent.kernel.make(new Script(work, result), parent, label ?? "task")
  if (parent.dead) die(cell, "noproc", "signal")
  else join(parent, cell)
  wake(cell)
  return cell
}

const handle = <A>(owner: Cell, parent: Cell, work: Work<A>, options: Options | undefined): TaskHandle<A> => {
  const made: { task?: TaskHandle<A> } = {}
  const cell = launch(parent, work, options?.label, (value) => made.task?.reply(value))
  const task = new TaskHandle<A>(owner, cell)
  made.task = task
  return task
}

/** Starts a task linked to its owner. */
export const async = <A>(owner: Pid, work: Work<A>, options?: Options): Task<A> =>
  handle(cellOf(owner), cellOf(owner), work, options)

/** Starts a process that runs like a task, linked to its parent, and replies to nobody. */
export const startLink = (parent: Pid, work: Work<unknown>, options?: Options): Pid =>
  launch(cellOf(parent), work, options?.label)

const handleOf = <A>(task: Task<A>): TaskHandle<A> => {
  const { current } = cellOf(task.owner).kernel
  if (current !== undefined && current !== task.owner) throw new NotTheOwner({ owner: task.owner })
  return task as unknown as TaskHandle<A>
}

const awaitOutcome = async <A>(task: Task<A>, place: string, timeout: Timeout = 5000): Promise<A> => {
  const own = handleOf(task)
  const outcome = await own.outcome(milliseconds(timeout))
  if (outcome === undefined) own.forget()
  if (outcome !== undefined && "ok" in outcome) return outcome.ok
  throw new CallExit({ reason: outcome === undefined ? "timeout" : outcome.exit, in: place })
}

const awaitTask = <A>(task: Task<A>, options?: { readonly timeout?: Timeout }): Promise<A> =>
  awaitOutcome(task, "Task.await", options?.timeout)

export {
  /**
   * Waits for the value of a task.
   *
   * **Units and defaults**
   *
   * `timeout` is 5 seconds.
   *
   * **Errors**
   *
   * Rejects with `CallExit`: the reason the task ended with, or `timeout`; the task then goes on and its reply is
   * dropped. With `NotTheOwner` in the turn of another process.
   */
  awaitTask as await
}

/** Waits for a task without giving it up: `undefined` when the time is over, and it can be waited for again. */
const yieldTask = async <A>(task: Task<A>, options?: { readonly timeout?: Timeout }): Promise<Outcome<A>> =>
  handleOf(task).outcome(milliseconds(options?.timeout ?? 5000))

export { yieldTask as yield }

/** Waits for the values of several tasks, in the order of the list, with one time for all. */
export const awaitMany = async <A>(
  tasks: ReadonlyArray<Task<A>>,
  options?: { readonly timeout?: Timeout }
): Promise<ReadonlyArray<A>> => Promise.all(tasks.map((task) => awaitOutcome(task, "Task.awaitMany", options?.timeout)))

/**
 * Ends a task and tells what came of it: its value if that was there already, `undefined` if it was ended by this, else
 * the exit it ended with.
 *
 * **Units and defaults**
 *
 * It has `timeout`, 5 seconds, before it is killed; `"brutalKill"` gives it none.
 */
export const shutdown = async <A>(task: Task<A>, timeout: Timeout | "brutalKill" = 5000): Promise<Outcome<A>> => {
  const own = handleOf(task)
  const early = await own.outcome(0)
  if (early !== undefined) return early
  const { owner, pid } = own
  unlink(owner, pid)
  const brutal = timeout === "brutalKill"
  signal(owner, pid, brutal ? "kill" : "shutdown", "direct")
  const outcome = await own.outcome(brutal ? Number.POSITIVE_INFINITY : milliseconds(timeout))
  if (outcome === undefined) {
    signal(owner, pid, "kill", "direct")
    return own.outcome(Number.POSITIVE_INFINITY)
  }
  return "exit" in outcome && outcome.exit === (brutal ? "killed" : "shutdown") ? undefined : outcome
}

/** Gives a task up: it runs on, and its reply is dropped. */
export const ignore = (task: Task<unknown>): void => handleOf(task).forget()

/** Whether a message is the reply of a task that was not awaited. */
export const isReply = (message: unknown): message is TaskReply<unknown> => message instanceof Handle.TaskReply

/** Starts a supervisor of tasks that nobody is linked to. */
export const startSupervisor = (system: System, options?: DynamicSupervisor.Options): Promise<Pid> =>
  DynamicSupervisor.start(system, { label: "Task.Supervisor", ...options })

/** Starts a supervisor of tasks linked to its parent. */
export const startSupervisorLink = (parent: Pid, options?: DynamicSupervisor.Options): Promise<Pid> =>
  DynamicSupervisor.startLink(parent, { label: "Task.Supervisor", ...options })

/** Makes the spec of a supervisor of tasks that is the child of a supervisor. */
export const supervisorSpec = (id: string, options?: DynamicSupervisor.Options): ChildSpec =>
  DynamicSupervisor.childSpec(id, options)

/** Starts a task under a supervisor, monitored by its owner and not linked to it: it outlives its owner. */
export const asyncNolink = async <A>(
  supervisor: Pid,
  owner: Pid,
  work: Work<A>,
  options?: Options & { readonly shutdown?: Shutdown }
): Promise<Task<A>> => {
  const made: { task?: TaskHandle<A> } = {}
  await DynamicSupervisor.startChild(supervisor, {
    restart: "temporary",
    ...(options?.shutdown === undefined ? {} : { shutdown: options.shutdown }),
    start: (parent) => {
      made.task = handle(cellOf(owner), cellOf(parent), work, options)
      return made.task.pid
    }
  })
  if (made.task === undefined) throw new CallExit({ reason: "noproc", in: "Task.asyncNolink" })
  return made.task
}

/** Starts a process that runs like a task under a supervisor; it replies to nobody and is not restarted by default. */
export const startChild = (
  supervisor: Pid,
  work: Work<unknown>,
  options?: Options & { readonly restart?: Restart; readonly shutdown?: Shutdown }
): Promise<Pid<unknown>> =>
  DynamicSupervisor.startChild(supervisor, {
    restart: options?.restart ?? "temporary",
    ...(options?.shutdown === undefined ? {} : { shutdown: options.shutdown }),
    start: (parent) => launch(cellOf(parent), work, options?.label)
  })
