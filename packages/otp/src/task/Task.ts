/**
 * Tasks: processes that compute one value for the process that started them.
 *
 * A task is linked to its owner: if one of them crashes, so does the other. A task started with
 * `TaskSupervisor.asyncNolink` is not linked: its crash is an exit that `await` or `yield` reports. `asyncStream` runs a
 * task for each of many inputs, a few at a time.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Process, System, Task } from "@troupe/otp"
 *
 * const system = System.make()
 * const squares = await new Promise((resolve) => {
 *   Process.spawn(system, async (self) => {
 *     const seen: Array<unknown> = []
 *     const results = Task.asyncStream(self, [1, 2, 3], (n) => Promise.resolve(n * n), { maxConcurrency: 2 })
 *     for await (const result of results) seen.push(result)
 *     resolve(seen)
 *   })
 * })
 * squares // => [{ ok: 1 }, { ok: 4 }, { ok: 9 }]
 * await System.stop(system)
 * ```
 *
 * **Gotchas**
 *
 * The reply is a message in the owner's mailbox: only the owner can await it. The reply of a task that is never awaited
 * stays there.
 *
 * **Source**
 *
 * Elixir's `Task`.
 */
import type * as Effect from "effect/Effect"
import * as Effects from "effect/Effect"
import { endChild, Script, unlink } from "../process/index.ts"
import { checkCount, checkWord } from "../supervisor/index.ts"
import { cellOf, kernelOf } from "../kernel/index.ts"
import { type Outcome, TaskHandle, TaskReply } from "./taskHandle.ts"
import { launchTask, ownedTask, spawnTask, type Work } from "./taskStart.ts"
import {
  streamRules,
  streamTasks,
  type StreamWork,
  type StreamOptions,
  type StreamResult,
  type Options
} from "./taskStream.ts"
import {
  CallExit,
  type ExitReason,
  InvalidOption,
  milliseconds,
  type MonitorRef,
  NotTheOwner,
  type Pid,
  type System,
  type Timeout
} from "../core/index.ts"

export type { StreamWork, StreamOptions, StreamResult, Options } from "./taskStream.ts"

export type { Work } from "./taskStart.ts"

export type { Outcome, TaskReply } from "./taskHandle.ts"

/** A task and the reference in its messages. */
export interface Task<out A> {
  /** The process of the task. */
  readonly pid: Pid
  /** The process that started the task, and gets its reply. */
  readonly owner: Pid
  /** Part of the reply, `TaskReply`, and of the `Down` that follows it. */
  readonly ref: MonitorRef
  /** Waits so many milliseconds for the value or the exit of the task. */
  outcome(ms: number): Promise<Outcome<A>>
}

/** Starts a task linked to its owner. */
export const async = <A>(owner: Pid, work: Work<A>, options?: Options): Task<A> =>
  ownedTask(cellOf(owner), cellOf(owner), work, options?.label)

/** Starts a process that runs like a task, without a link and without a reply. */
export const start = (system: System, work: Work<unknown>, options?: Options): Pid =>
  spawnTask(kernelOf(system), undefined, kernelOf(system).current, work, options?.label)

/** Starts a process that runs like a task, linked to its parent, without a reply. */
export const startLink = (parent: Pid, work: Work<unknown>, options?: Options): Pid =>
  launchTask(cellOf(parent), cellOf(parent), work, options?.label)

/**
 * The options of a wait for a task.
 *
 * **Gotchas**: the current process is known only until a function awaits something, and never inside effects. A caller after that
 * counts as the owner, unless `from` is given or the owner already waits. If such a wait takes the outcome, the other waits get
 * it too, and it is kept for a wait whose `from` is the owner. If it times out and no other wait exists, the task is abandoned.
 */
export interface AwaitOptions {
  /** How long the wait lasts at most. Default: 5 seconds. */
  readonly timeout?: Timeout
  /** The waiting process. Default: the process that has its turn. */
  readonly from?: Pid
}

const waiterOf = (task: Task<unknown>, from: Pid | undefined): Pid | undefined =>
  from ?? cellOf(task.owner).kernel.current

const strangerTo = (task: Task<unknown>, from: Pid | undefined): NotTheOwner | undefined => {
  if (!(task instanceof TaskHandle)) {
    throw new InvalidOption({ option: "task", value: task, allowed: "a task: await TaskSupervisor.async(...) first" })
  }
  const waiter = waiterOf(task, from)
  const strange = waiter === undefined ? task.awaited : waiter !== task.owner
  return strange ? new NotTheOwner({ owner: task.owner }) : undefined
}

const handleOf = <A>(task: Task<A>, from?: Pid): TaskHandle<A> => {
  const stranger = strangerTo(task, from)
  if (stranger !== undefined) throw stranger
  return task as unknown as TaskHandle<A>
}

/** Whether the caller is known to be the owner. */
const isSure = (task: Task<unknown>, from: Pid | undefined): boolean => waiterOf(task, from) !== undefined

/** The error of a wait that got no value. */
const exitOf = (outcome: { readonly exit: ExitReason } | undefined, place: string): CallExit =>
  new CallExit({ reason: outcome === undefined ? "timeout" : outcome.exit, in: place })

const awaitTask = async <A>(task: Task<A>, options?: AwaitOptions): Promise<A> => {
  const own = handleOf(task, options?.from)
  const sure = isSure(task, options?.from)
  const outcome = await own.outcome(milliseconds(options?.timeout ?? 5000), sure)
  if (outcome === undefined) own.despair(sure)
  if (outcome !== undefined && "ok" in outcome) return outcome.ok
  throw exitOf(outcome, "Task.await")
}

export {
  /**
   * Waits for the value of a task.
   *
   * **Errors**
   *
   * Rejects with `CallExit`: the exit reason of the task, or `timeout`; after a timeout the task continues and its reply is
   * discarded. Rejects with `NotTheOwner` in another process.
   */
  awaitTask as await
}

/**
 * Waits for the value of a task, like `await`. Interrupting the effect ends only the wait: the task continues, and can be
 * awaited again.
 *
 * **Errors**
 *
 * Fails with `CallExit` or `NotTheOwner`, like `await`.
 */
export const awaitEffect = <A>(task: Task<A>, options?: AwaitOptions): Effect.Effect<A, CallExit | NotTheOwner> =>
  Effects.callback((resume) => {
    const stranger = strangerTo(task, options?.from)
    if (stranger !== undefined) return resume(Effects.fail(stranger))
    const own = handleOf(task, options?.from)
    const sure = isSure(task, options?.from)
    const notified = (outcome: Outcome<A>): void => {
      if (outcome !== undefined && "ok" in outcome) return resume(Effects.succeed(outcome.ok))
      if (outcome === undefined) own.despair(sure)
      resume(Effects.fail(exitOf(outcome, "Task.awaitEffect")))
    }
    const ms = milliseconds(options?.timeout ?? 5000)
    return Effects.sync(own.wait(ms, (outcome) => own.owner.kernel.as(own.owner, () => notified(outcome)), sure))
  })

/** Waits for a task without abandoning it: on a timeout the result is `undefined`, and it can be awaited again. */
const yieldTask = async <A>(task: Task<A>, options?: AwaitOptions): Promise<Outcome<A>> =>
  handleOf(task, options?.from).outcome(milliseconds(options?.timeout ?? 5000), isSure(task, options?.from))

export { yieldTask as yield }

/**
 * Waits for the values of several tasks, in the order of the list, with one timeout for all. A task may be in it more than once.
 *
 * **Errors**
 *
 * Rejects like `await`, with the first failure. The other tasks then continue, and their replies are discarded.
 */
export const awaitMany = async <A>(
  tasks: ReadonlyArray<Task<A>>,
  options?: AwaitOptions
): Promise<ReadonlyArray<A>> => {
  const ms = milliseconds(options?.timeout ?? 5000)
  const waits = [...new Set(tasks)].map((task) => ({
    task,
    own: handleOf(task, options?.from),
    sure: isSure(task, options?.from)
  }))
  const stops: Array<() => void> = []
  const wait = ({ own, sure }: (typeof waits)[number]) =>
    new Promise<A>((resolve, reject) => {
      const taken = (outcome: Outcome<A>): void => {
        if (outcome !== undefined && "ok" in outcome) resolve(outcome.ok)
        else reject(exitOf(outcome, "Task.awaitMany"))
      }
      stops.push(own.wait(ms, taken, sure))
    })
  const values = new Map(waits.map((each) => [each.task, wait(each)]))
  try {
    return await Promise.all(tasks.map((task) => values.get(task) as Promise<A>))
  } catch (error) {
    for (const stop of stops) stop()
    for (const { own, sure } of waits) own.despair(sure)
    throw error
  }
}

/** How a wait for several tasks ends. */
export interface YieldManyOptions extends AwaitOptions {
  /** How many outcomes end the wait; `onTimeout` then does not apply. Default: all. */
  readonly limit?: number
  /**
   * What happens to a task that has no outcome in time. `"nothing"`: it can be awaited again. `"ignore"`: it is abandoned, like by
   * `ignore`. `"killTask"`: it is killed, like by `shutdown` with `"brutalKill"`. Default: `"nothing"`.
   */
  readonly onTimeout?: "nothing" | "ignore" | "killTask"
}

/**
 * Waits for several tasks without abandoning them, with one timeout for all; returns outcomes in the order of the list. A task may be in
 * it more than once.
 *
 * **Errors**
 *
 * Rejects with `NotTheOwner`, or with `InvalidOption` for an invalid `limit` or `onTimeout`.
 */
export const yieldMany = async <A>(
  tasks: ReadonlyArray<Task<A>>,
  options: YieldManyOptions = {}
): Promise<ReadonlyArray<Outcome<A>>> => {
  const { from, limit = Number.POSITIVE_INFINITY, onTimeout = "nothing" } = options
  checkCount("limit", limit, true)
  checkWord("onTimeout", onTimeout, ["nothing", "ignore", "killTask"])
  const ms = milliseconds(options.timeout ?? 5000)
  const each = [...new Set(tasks)]
  const waits = each.map((task) => ({ task, own: handleOf(task, from), sure: isSure(task, from) }))
  const outcomes = new Map<Task<A>, Outcome<A>>()
  const isTimeout = await new Promise<boolean>((resolve) => {
    const stops: Array<() => void> = []
    let settled = 0
    const settle = (task: Task<A>, outcome: Outcome<A>): void => {
      settled++
      if (outcome !== undefined) outcomes.set(task, outcome)
      if (outcomes.size < limit && settled < waits.length) return
      for (const stop of stops) stop()
      resolve(outcomes.size < limit)
    }
    if (waits.length === 0) resolve(false)
    for (const { task, own, sure } of waits) {
      if (outcomes.size < limit) stops.push(own.wait(ms, (outcome) => settle(task, outcome), sure))
    }
  })
  const late = isTimeout && onTimeout !== "nothing" ? each.filter((task) => !outcomes.has(task)) : []
  const end = async (task: Task<A>): Promise<void> => {
    outcomes.set(task, onTimeout === "ignore" ? ignore(task, from) : await shutdown(task, "brutalKill", from))
  }
  await Promise.all(late.map(end))
  return tasks.map((task) => outcomes.get(task))
}

/**
 * Ends a task and returns its outcome.
 *
 * **Details**
 *
 * - `{ ok }`: the task had replied, and the owner has not taken the reply yet.
 * - `undefined`: the task ended with `shutdown`, or with `"brutalKill"` by the kill.
 * - `{ exit: "noproc" }`: the task was dead, and the owner has taken its outcome or stopped waiting for it.
 * - `{ exit }`: the task ended with another reason.
 *
 * **Units and defaults**
 *
 * The task is killed after `timeout`, 5 seconds; `"brutalKill"` kills it at once. `from` is as in `AwaitOptions`.
 */
export const shutdown = async <A>(
  task: Task<A>,
  timeout: Timeout | "brutalKill" = 5000,
  from?: Pid
): Promise<Outcome<A>> => {
  const own = handleOf(task, from)
  const sure = isSure(task, from)
  const { owner, pid } = own
  const late = pid.dead
  const brutal = timeout === "brutalKill"
  if (!late) {
    unlink(owner, pid)
    await endChild(owner, pid, brutal ? timeout : milliseconds(timeout))
  }
  const outcome = await own.outcome(0, sure)
  own.forget()
  if (outcome !== undefined && "ok" in outcome) return outcome
  if (outcome === undefined && late) return { exit: "noproc" }
  return pid.reason === (brutal ? "killed" : "shutdown") ? undefined : { exit: pid.reason }
}

/** Abandons a task: it continues, its reply is discarded, and its end does not affect the owner. `from` is as in `AwaitOptions`. */
export const ignore = (task: Task<unknown>, from?: Pid): undefined => {
  const own = handleOf(task, from)
  unlink(own.owner, own.pid)
  own.forget()
}

/**
 * The process that started a living task, then the one that started that process if it is a living task too, and so on; none for other
 * processes.
 *
 * **When to use**
 *
 * To find data of the process that a task works for, such as the connection of a test.
 */
export const callers = (pid: Pid): ReadonlyArray<Pid> => {
  const { behaviour } = cellOf(pid)
  const caller = behaviour instanceof Script ? behaviour.caller : undefined
  return caller === undefined ? [] : [caller, ...callers(caller)]
}

/** Whether a message is the reply of a task that was not awaited. */
export const isReply = (message: unknown): message is TaskReply<unknown> => message instanceof TaskReply

/**
 * Runs a task for each input, linked to the owner, and returns their results on request.
 *
 * **Details**
 *
 * The first input is pulled when the first result is requested. After that, inputs are pulled while the consumer waits and
 * fewer than `maxConcurrency` tasks run: a slow consumer delays them (backpressure). When the consumer stops, breaks or
 * throws, the running tasks are killed. When the owner dies, they are killed too, no further input is pulled, and `return`
 * of the inputs is called. Each iteration of the stream takes the inputs anew and starts new tasks.
 *
 * **Errors**
 *
 * A task that crashes ends its owner; if the owner traps exits, it gets the `exit` as a result instead, and no message.
 *
 * **Contract**
 *
 * The owner is the process that consumes the stream.
 */
export const asyncStream = <I, A, Zip extends boolean = false>(
  owner: Pid,
  inputs: Iterable<I> | AsyncIterable<I>,
  work: StreamWork<I, A>,
  options?: StreamOptions<Zip>
): AsyncIterable<StreamResult<I, A, Zip>> =>
  streamTasks(inputs, {
    ...streamRules(cellOf(owner), options),
    linked: true,
    start: (input, made, finished) => {
      made(launchTask(cellOf(owner), cellOf(owner), (self) => work(input, self), options?.label, finished))
    }
  })
