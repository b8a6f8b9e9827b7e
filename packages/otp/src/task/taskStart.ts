/**
 * The start of a task's process.
 *
 * TSTART1. A task is linked to its parent, and to its owner if requested, before its first instruction runs. If one of
 *          them is dead, the task ends at once, with `noproc`.
 * TSTART2. A task knows the process that started it, also when its parent is a supervisor.
 */
import { type Cell, die, join, type Kernel, wake } from "../kernel/index.ts"
import { Script } from "../process/index.ts"
import { TaskHandle } from "./taskHandle.ts"
import type * as Effect from "effect/Effect"
import { InvalidOption, type Pid } from "../core/index.ts"

/** Refuses work that is not a function, such as a promise. */
export const checkWork = (work: unknown): void => {
  if (typeof work === "function") return
  throw new InvalidOption({ option: "the work of a task", value: work, allowed: "a function" })
}

/** Makes the process of a task, without a link; `result` is called before it ends. */
export const spawnTask = (
  kernel: Pick<Kernel, "make" | "current">,
  parent: Cell | undefined,
  caller: Cell | undefined,
  work: Work<unknown>,
  label: string | undefined,
  result?: (value: unknown) => void
): Cell => {
  checkWork(work)
  const cell = kernel.make(new Script("task", work, result, caller), parent ?? kernel.current, label ?? "task")
  wake(cell)
  return cell
}

/** Links a new task. */
export const tie = (owner: Cell, task: Cell): Cell => {
  if (owner.dead) die(task, "noproc", "signal")
  else join(owner, task)
  return task
}

/** Makes the process of a task, linked to its parent. */
export const launchTask = (
  parent: Cell,
  caller: Cell | undefined,
  work: Work<unknown>,
  label: string | undefined,
  result?: (value: unknown) => void
): Cell => tie(parent, spawnTask(parent.kernel, parent, caller, work, label, result))

/** Makes a task that is linked to its parent and replies to its owner. */
export const ownedTask = <A>(owner: Cell, parent: Cell, work: Work<A>, label: string | undefined): TaskHandle<A> => {
  const made: { task?: TaskHandle<A> } = {}
  const cell = launchTask(parent, owner, work, label, (value) => made.task?.reply(value))
  const task = new TaskHandle<A>(owner, cell)
  made.task = task
  return task
}

/** The work of a task: it returns a value, a promise or an effect. An effect is interrupted when the task is ended. */
export type Work<A> = (self: Pid<unknown>) => A | Promise<A> | Effect.Effect<A, unknown>
