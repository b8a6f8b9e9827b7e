import { Effect } from "effect"
import { afterEach, beforeEach, expect, test } from "vitest"
import { Clock, Process, Supervisor, System, Task, TaskSupervisor } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { flush, inProcess, sleeper } from "../double/inProcess.ts"
import { Watched, take } from "../double/watched.ts"

let system: System.System
let clock: Clock.TestClock

beforeEach(() => {
  clock = Clock.test()
  system = System.make({ clock })
})

afterEach(async () => {
  await System.stop(system)
  expect([System.stats(system), clock.pending]).toEqual([{ processes: 0, fibers: 0, timers: 0, closing: 0 }, 0])
})

const callExit = (reason: unknown) => expect.objectContaining({ _tag: "CallExit", reason, in: "Task.await" })
const caught = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error)
const forever = () => Effect.never
/** Runs an owner, lets time pass, and gives what it gave. */
const after = async <A>(ms: number, body: (self: Pid<unknown>) => Promise<A>): Promise<A> => {
  const [outcome] = await Promise.allSettled([inProcess(system, body), clock.advance(ms)])
  if (outcome.status === "rejected") throw outcome.reason
  return outcome.value
}
const crashing = (input: string) => (input === "bad" ? Process.exitSelf("boom") : input)

test("task-008 task-012 await and yield return the crash of an unlinked task", async () => {
  const supervisor = await TaskSupervisor.start(system)
  const seen = await inProcess(system, async (self) => {
    const crash = () => TaskSupervisor.asyncNolink(supervisor, self, () => Process.exitSelf("boom"))
    return [await caught(Task.await(await crash())), await Task.yield(await crash()), await flush(self)]
  })
  expect(seen).toEqual([callExit("boom"), { exit: "boom" }, []])
})

test("a task that is linked ends with its owner and with its supervisor, whichever is first", async () => {
  const supervisor = await TaskSupervisor.start(system)
  const owners = [sleeper(system), sleeper(system)] as const
  const tasks = await Promise.all(owners.map((pid) => TaskSupervisor.async(supervisor, pid, forever)))
  expect(await TaskSupervisor.children(supervisor)).toEqual(tasks.map(({ pid }) => pid))
  Process.exit(owners[0], "gone")
  await TaskSupervisor.terminateChild(supervisor, tasks[1]?.pid as Pid)
  expect(tasks.map(({ pid }) => Process.exitReason(pid))).toEqual(["gone", "shutdown"])
  expect(Process.exitReason(owners[1])).toBe("shutdown")
  expect(await TaskSupervisor.children(supervisor)).toEqual([])
})

test("task-023 task-024 a supervised task is temporary by default, and restarted if asked", async () => {
  const supervisor = await TaskSupervisor.start(system)
  let runs = 0
  const crash = () => {
    runs++
    Process.exitSelf("boom")
  }
  await TaskSupervisor.startChild(supervisor, crash)
  await hop()
  expect(runs).toBe(1)
  await TaskSupervisor.startChild(supervisor, crash, { restart: "transient" })
  await hop()
  expect(runs).toBe(5)
  expect(Process.exitReason(supervisor)).toBe("shutdown")
})

test("task-026 task-029 a supervised task outlives its owner and ends with its supervisor", async () => {
  const supervisor = await TaskSupervisor.start(system)
  let task: Task.Task<never> | undefined
  const pid = Process.spawn(system, async (self) => {
    task = await TaskSupervisor.asyncNolink(supervisor, self, forever)
    Process.exitSelf("boom")
  })
  await hop()
  const running = (task as unknown as Task.Task<never>).pid
  expect([Process.exitReason(pid), Process.isAlive(running)]).toEqual(["boom", true])
  Process.exit(supervisor, "shutdown")
  Process.kill(supervisor)
  expect(Process.isAlive(running)).toBe(false)
})

test("stream-010 stream-011 under a supervisor the crash of a task is its result, with its input if asked for", async () => {
  const supervisor = await TaskSupervisor.start(system)
  const words = ["one", "bad", "two"]
  const seen = await after(0, async (self) => [
    await take(TaskSupervisor.asyncStreamNolink(supervisor, self, words, crashing, { maxConcurrency: 2 })),
    await take(TaskSupervisor.asyncStreamNolink(supervisor, self, words, crashing, { zipInputOnExit: true }))
  ])
  expect(seen).toEqual([
    [{ ok: "one" }, { exit: "boom" }, { ok: "two" }],
    [{ ok: "one" }, { exit: "boom", input: "bad" }, { ok: "two" }]
  ])
})

test("stream-023 under a supervisor, too, running tasks are killed when the consumer stops", async () => {
  const watched = new Watched()
  const supervisor = await TaskSupervisor.start(system)
  await after(5, async (self) => {
    for await (const _result of TaskSupervisor.asyncStreamNolink(supervisor, self, [5, 300], watched.work)) break
  })
  expect([watched.running, await TaskSupervisor.children(supervisor)]).toEqual([0, []])
})

test("ASTREAM4 a stream whose tasks are not linked ends with its owner too, and the supervisor lives", async () => {
  const supervisor = await TaskSupervisor.start(system)
  let [started, pulled] = [0, 0]
  function* inputs() {
    for (;;) yield pulled++
  }
  const owner = Process.spawn(system, async (self) => {
    const work = (): Promise<void> => {
      started++
      return hop()
    }
    for await (const _ of TaskSupervisor.asyncStreamNolink(supervisor, self, inputs(), work));
  })
  await hop()
  await hop()
  Process.kill(owner)
  const before = [started, pulled]
  await hop()
  await hop()
  expect([started, pulled]).toEqual(before)
  expect([await TaskSupervisor.children(supervisor), Process.isAlive(supervisor)]).toEqual([[], true])
})

test("a supervisor that takes no more tasks fails the stream, and those that run are killed", async () => {
  const watched = new Watched()
  const supervisor = await TaskSupervisor.start(system, { maxChildren: 1 })
  const failed = after(0, (self) => take(TaskSupervisor.asyncStreamNolink(supervisor, self, [300, 300], watched.work)))
  await expect(failed).rejects.toMatchObject({ _tag: "ChildRefused", reason: "maxChildren" })
  await hop()
  expect(watched.running).toBe(0)
})

test("stream-009 a linked stream's tasks are the supervisor's children, and a crash ends an owner that does not trap", async () => {
  const watched = new Watched()
  const supervisor = await TaskSupervisor.start(system)
  const pid = Process.spawn(system, (self) =>
    take(TaskSupervisor.asyncStream(supervisor, self, [300, 300], watched.work))
  )
  await hop()
  expect(await TaskSupervisor.children(supervisor)).toEqual(watched.pids)
  Process.exit(watched.pids[0] as Pid, "boom")
  expect([Process.exitReason(pid), ...watched.pids.map((task) => Process.exitReason(task))]).toEqual([
    "boom",
    "boom",
    "boom"
  ])
  expect([await TaskSupervisor.children(supervisor), Process.isAlive(supervisor)]).toEqual([[], true])
})

test("stream-012 ASTREAM5 an owner that traps exits gets the crash of a linked task as a result, and no message", async () => {
  const supervisor = await TaskSupervisor.start(system)
  const seen = await inProcess(system, async (self) => {
    Process.trapExit(self, true)
    const results = await take(TaskSupervisor.asyncStream(supervisor, self, ["one", "bad", "two"], crashing))
    return [results, await flush(self), Process.info(self)?.links]
  })
  expect(seen).toEqual([[{ ok: "one" }, { exit: "boom" }, { ok: "two" }], [], []])
})

test("task-026 the end of the supervisor ends the owner of a linked task", async () => {
  const supervisor = await TaskSupervisor.start(system)
  const owner = sleeper(system)
  await TaskSupervisor.async(supervisor, owner, forever)
  await TaskSupervisor.stop(supervisor)
  expect(Process.exitReason(owner)).toBe("shutdown")
})

test("ASTREAM4 when the consumer of a linked stream stops, its tasks are killed and its owner lives", async () => {
  const watched = new Watched()
  const supervisor = await TaskSupervisor.start(system)
  const running = inProcess(system, async (self) => {
    for await (const _result of TaskSupervisor.asyncStream(supervisor, self, [5, 300], watched.work)) break
    return Process.info(self)?.links
  })
  await hop()
  await clock.advance(5)
  expect([await running, watched.running, await TaskSupervisor.children(supervisor)]).toEqual([[], 0, []])
})

test("a task is shown by its label, and ended by its shutdown rule", async () => {
  const supervisor = await TaskSupervisor.start(system)
  const task = await TaskSupervisor.asyncNolink(supervisor, sleeper(system), forever, {
    label: "thumbnail",
    shutdown: "brutalKill"
  })
  await TaskSupervisor.terminateChild(supervisor, task.pid)
  expect([task.pid.label, Process.exitReason(task.pid)]).toEqual(["thumbnail", "killed"])
})

test("it is the child of a supervisor, by its label, and its tasks end before it", async () => {
  const parent = await Supervisor.start(system, { children: [TaskSupervisor.childSpec("tasks")] })
  const [child] = await Supervisor.whichChildren(parent)
  const pid = child?.pid as Pid
  expect(pid.label).toBe("tasks")
  const task = await TaskSupervisor.startChild(pid, forever)
  await Supervisor.stop(parent)
  expect([Process.exitReason(task), Process.exitReason(pid)]).toEqual(["shutdown", "shutdown"])
})

test("TSTART2 a task that ended has no callers, so that a chain of tasks keeps no dead process", async () => {
  const [first, second] = await inProcess(system, async (self) => {
    let next: Pid | undefined
    const task = Task.startLink(self, (me) => {
      next = Task.startLink(me, forever)
    })
    await hop()
    return [task, next as unknown as Pid] as const
  })
  expect(Task.callers(second)).toEqual([first])
  expect(Task.callers(first)).toEqual([])
})

test("TSTART2 callers returns who started a task, and who started that task, also under a supervisor", async () => {
  const supervisor = await TaskSupervisor.start(system)
  const seen = await inProcess(system, async (self) => {
    const outer = await TaskSupervisor.asyncNolink(supervisor, self, async (middle) => {
      const inner = Task.async(middle, (task) => Task.callers(task))
      return [middle, await Task.await(inner, { from: middle })] as const
    })
    const [middle, callers] = await Task.await(outer, { from: self })
    return [callers.length, callers[0] === middle, callers[1] === self, Task.callers(self)]
  })
  expect(seen).toEqual([2, true, true, []])
})
