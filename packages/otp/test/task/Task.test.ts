import { Effect } from "effect"
import { afterEach, beforeEach, expect, test } from "vitest"
import { Clock, Process, SystemMessage, System, Task, TaskSupervisor } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { flush, inProcess, sleeper } from "../double/inProcess.ts"

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

const owner = <A>(body: (self: Pid<unknown>) => Promise<A>): Promise<A> =>
  inProcess(system, (self) => {
    Process.trapExit(self, true)
    return body(self)
  })

const callExit = (reason: unknown) => expect.objectContaining({ _tag: "CallExit", reason, in: "Task.await" })
const caught = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error)
const forever = () => Effect.never
const kindOf = (message: unknown): unknown =>
  SystemMessage.isExit(message) || SystemMessage.isDown(message) ? [message._tag, message.reason] : message

test("task-001 await gives the value, of a promise and of an effect too, and leaves the mailbox clean", async () => {
  const seen = await inProcess(system, async (self) => [
    await Task.await(Task.async(self, () => 1)),
    await Task.await(Task.async(self, () => Promise.resolve(2))),
    await Task.await(Task.async(self, () => Effect.yieldNow.pipe(Effect.as(3)))),
    await flush(self)
  ])
  expect(seen).toEqual([1, 2, 3, []])
})

test("task-002 only the owner may await a task", async () => {
  const other = sleeper(system)
  const task = Task.async(other, forever)
  const error = await new Promise((resolve) => {
    Process.spawn(system, () => void caught(Task.await(task)).then(resolve))
  })
  expect(error).toMatchObject({ _tag: "NotTheOwner", owner: other })
})

test("task-003 an await that times out ends its owner, and by the link the task", async () => {
  let task: Task.Task<never> | undefined
  const pid = Process.spawn(system, (self) => Task.await((task = Task.async(self, forever)), { timeout: 10 }))
  await clock.advance(10)
  expect(Process.exitReason(pid)).toEqual(callExit("timeout"))
  expect(Process.isAlive((task as unknown as Task.Task<never>).pid)).toBe(false)
})

test("task-004 TASK2 a timeout that is caught leaves the task running, and its late reply is dropped", async () => {
  const running = owner(async (self) => {
    const task = Task.async(self, () => Effect.sleep(100).pipe(Effect.as("late")))
    const error = await caught(Task.await(task, { timeout: 10 }))
    const alive = Process.isAlive(task.pid)
    await Process.receive(self, { match: SystemMessage.isExit })
    return [error, alive, await flush(self)]
  })
  await clock.advance(200)
  expect(await running).toEqual([callExit("timeout"), true, []])
})

test("task-005 task-006 task-028 the crash of a task ends its owner; a trapping one gets it from await", async () => {
  const boom = new Error("boom")
  const plain = Process.spawn(system, (self) => Task.await(Task.async(self, () => Promise.reject(boom))))
  const seen = await owner(async (self) => {
    const error = await caught(Task.await(Task.async(self, () => Promise.reject(boom))))
    return [error, (await flush(self)).map(kindOf)]
  })
  expect(seen).toEqual([callExit(boom), [["Exit", boom]]])
  expect(Process.exitReason(plain)).toBe(boom)
})

test("task-007 a task dies with its owner", async () => {
  const pid = sleeper(system)
  const task = Task.async(pid, forever)
  await hop()
  Process.exit(pid, "boom")
  expect(Process.exitReason(task.pid)).toBe("boom")
})

test("task-009 task-010 task-022 TASK1 the reply of a task nobody awaits is a message, then comes its Down", async () => {
  const supervisor = await TaskSupervisor.start(system)
  const seen = await inProcess(system, async (self) => {
    const task = await TaskSupervisor.asyncNolink(supervisor, self, () => "value")
    await TaskSupervisor.asyncNolink(supervisor, self, () => Process.exitSelf("boom"))
    await hop()
    const [reply, ...rest] = await flush(self)
    return [Task.isReply(reply) && reply.ref === task.ref && reply.value, rest.map(kindOf)]
  })
  expect(seen).toEqual([
    "value",
    [
      ["Down", "normal"],
      ["Down", "boom"]
    ]
  ])
})

test("task-011 a yield that finds nothing leaves the task usable", async () => {
  const running = inProcess(system, async (self) => {
    const task = Task.async(self, () => Effect.sleep(100).pipe(Effect.as("value")))
    return [await Task.yield(task, { timeout: 10 }), await Task.yield(task), await Task.yield(task, { timeout: 10 })]
  })
  await clock.advance(200)
  expect(await running).toEqual([undefined, { ok: "value" }, undefined])
})

test("task-013 task-015 shutdown ends a running task and gives nothing", async () => {
  const seen = await inProcess(system, async (self) => {
    const [one, two] = [Task.async(self, forever), Task.async(self, forever)]
    await hop()
    const outcomes = [await Task.shutdown(one), await Task.shutdown(two, "brutalKill")]
    return [outcomes, Process.exitReason(one.pid), Process.exitReason(two.pid)]
  })
  expect(seen).toEqual([[undefined, undefined], "shutdown", "killed"])
})

test("task-014 task-017 shutdown of a finished task gives its value, of a crashed one its exit", async () => {
  const supervisor = await TaskSupervisor.start(system)
  const seen = await inProcess(system, async (self) => {
    const done = Task.async(self, () => "value")
    const crashed = await TaskSupervisor.asyncNolink(supervisor, self, () => Process.exitSelf("boom"))
    await hop()
    return [await Task.shutdown(done), await Task.shutdown(crashed), await flush(self)]
  })
  expect(seen).toEqual([{ ok: "value" }, { exit: "boom" }, []])
})

/** What came before a shutdown: after each of these the owner has no outcome left to take. */
const taken: ReadonlyArray<[string, () => unknown, (task: Task.Task<unknown>) => unknown]> = [
  ["an await that succeeded", () => "value", (task) => Task.await(task)],
  ["a yield that gave a value", () => "value", (task) => Task.yield(task)],
  ["a yield that gave an exit", () => Process.exitSelf("boom"), (task) => Task.yield(task)],
  ["an ignore of a task that is done", () => "value", (task) => hop().then(() => Task.ignore(task))],
  ["a shutdown that gave a value", () => "value", (task) => hop().then(() => Task.shutdown(task))],
  ["a shutdown that gave an exit", () => Process.exitSelf("boom"), (task) => hop().then(() => Task.shutdown(task))],
  ["a shutdown that ended it", forever, (task) => Task.shutdown(task)]
]

test.each(taken)("TASK4 shutdown after %s gives the exit noproc", async (_name, work, before) => {
  const supervisor = await TaskSupervisor.start(system)
  const seen = await owner(async (self) => {
    const outcomes: Array<unknown> = []
    for (const how of [undefined, "brutalKill"] as const) {
      const linked = Task.async(self, work)
      const alone = await TaskSupervisor.asyncNolink(supervisor, self, work)
      for (const task of [linked, alone]) {
        await before(task)
        outcomes.push(await Task.shutdown(task, how))
      }
    }
    return outcomes
  })
  expect(seen).toEqual(Array.from({ length: 4 }, () => ({ exit: "noproc" })))
})

test("TASK4 shutdown of a running task that the owner gave up gives nothing, and ends it", async () => {
  const running = owner(async (self) => {
    const [late, ignored] = [Task.async(self, forever), Task.async(self, forever)]
    await caught(Task.await(late, { timeout: 10 }))
    Task.ignore(ignored)
    const outcomes = [await Task.shutdown(late), await Task.shutdown(ignored, "brutalKill")]
    return [outcomes, Process.exitReason(late.pid), Process.exitReason(ignored.pid), await flush(self)]
  })
  await hop()
  await clock.advance(10)
  expect(await running).toEqual([[undefined, undefined], "shutdown", "killed", []])
})

test("TASK4 a shutdown resolves beside a wait that takes the outcome, and beside a second shutdown", async () => {
  const seen = await owner(async (self) => {
    const [one, two] = [Task.async(self, forever), Task.async(self, forever)]
    await hop()
    return Promise.all([caught(Task.await(one)), Task.shutdown(one), Task.shutdown(two), Task.shutdown(two)])
  })
  expect(seen).toEqual([callExit("shutdown"), undefined, undefined, undefined])
})

test("TASK4 shutdown gives nothing of a task that had ended with shutdown, and the last reply of one that traps it", async () => {
  const seen = await owner(async (self) => {
    const ended = Task.async(self, () => Process.exitSelf("shutdown"))
    const killed = Task.async(self, (me) => Process.kill(me))
    const polite = Task.async(self, async (me) => {
      Process.trapExit(me, true)
      return kindOf(await Process.receive(me))
    })
    await hop()
    return [await Task.shutdown(ended), await Task.shutdown(killed), await Task.shutdown(polite)]
  })
  expect(seen).toEqual([undefined, { exit: "killed" }, { ok: ["Exit", "shutdown"] }])
})

test("task-016 a task that traps the shutdown is killed after its time", async () => {
  const running = inProcess(system, async (self) => {
    const task = Task.async(self, (me) => {
      Process.trapExit(me, true)
      return Effect.never
    })
    await hop()
    return Task.shutdown(task, 10)
  })
  await hop()
  await hop()
  await clock.advance(10)
  expect(await running).toEqual({ exit: "killed" })
})

test("task-018 a second await waits for its time: the reply was taken", async () => {
  const running = inProcess(system, async (self) => {
    const task = Task.async(self, () => "value")
    return [await Task.await(task), await caught(Task.await(task))]
  })
  await clock.advance(5000)
  expect(await running).toEqual(["value", callExit("timeout")])
})

test("task-019 awaitMany gives the values in the order of the list", async () => {
  const running = inProcess(system, (self) =>
    Task.awaitMany([30, 10, 20].map((ms) => Task.async(self, () => Effect.sleep(ms).pipe(Effect.as(ms)))))
  )
  await clock.advance(30)
  expect(await running).toEqual([30, 10, 20])
})

test("task-020 yieldMany returns each task in the order of the list, within one time", async () => {
  const running = inProcess(system, async (self) => {
    const tasks = [Task.async<string>(self, forever), Task.async(self, () => "done")]
    return [await Task.yieldMany(tasks, { timeout: 30 }), clock.now()]
  })
  await clock.advance(30)
  expect(await running).toEqual([[undefined, { ok: "done" }], 30])
})

test("task-002 whoever waits can say who it is, also outside its turn", async () => {
  const other = sleeper(system)
  const seen = await inProcess(system, async (self) => {
    const task = Task.async(self, forever)
    return caught(Task.await(task, { from: other }))
  })
  expect(seen).toMatchObject({ _tag: "NotTheOwner" })
})

/** Waits for a task outside any turn, as a function does that has awaited something. */
const anonymously = async <A>(wait: () => Promise<A>): Promise<unknown> => {
  await hop()
  return caught(wait())
}

test("TASK3 task-002 while the owner waits, nobody else does", async () => {
  const made: { task?: Task.Task<string> } = {}
  const owning = inProcess(system, (self) => {
    made.task = Task.async(self, () => Effect.sleep(10).pipe(Effect.as("value")))
    return Task.await(made.task)
  })
  const stranger = anonymously(() => Task.await(made.task as Task.Task<string>))
  expect(await stranger).toMatchObject({ _tag: "NotTheOwner" })
  await clock.advance(10)
  expect(await owning).toBe("value")
})

test("TASK3 a value that somebody took who may not be the owner is the owner's too, which waits then, or later by name", async () => {
  const made: { task?: Task.Task<string> } = {}
  const mine = () => made.task as Task.Task<string>
  const owning = inProcess(system, async (self) => {
    made.task = Task.async(self, () => Effect.sleep(10).pipe(Effect.as("value")))
    await hop()
    await hop()
    const first = await Task.await(mine())
    await hop()
    const again = () => caught(Task.await(mine(), { from: self, timeout: 0 }))
    return [first, await again(), await again(), await flush(self)]
  })
  const strangers = [anonymously(() => Task.await(mine(), { timeout: 1 })), anonymously(() => Task.await(mine()))]
  await hop()
  await hop()
  await clock.advance(10)
  expect(await Promise.all(strangers)).toEqual([callExit("timeout"), "value"])
  expect(await owning).toEqual(["value", "value", callExit("timeout"), []])
})

test("start runs a task that nobody is linked to", async () => {
  const pid = Task.start(system, () => Process.exitSelf("boom"))
  await hop()
  expect(Process.exitReason(pid)).toBe("boom")
})

test("task-021 startLink replies to nobody, and its crash ends the parent", async () => {
  const parent = sleeper(system)
  const pid = Task.startLink(parent, () => Process.exitSelf("boom"))
  await hop()
  expect([Process.exitReason(pid), Process.exitReason(parent)]).toEqual(["boom", "boom"])
})

test("TASK2 the crash of a task that is ignored does not reach its owner", async () => {
  const seen = await inProcess(system, async (self) => {
    const task = Task.async(self, async () => {
      await hop()
      Process.exitSelf("boom")
    })
    Task.ignore(task)
    await hop()
    await hop()
    return [Process.exitReason(task.pid), Process.isAlive(self), await flush(self)]
  })
  expect(seen).toEqual(["boom", true, []])
})

test("task-025 a task that is ignored runs on, and its reply is dropped", async () => {
  const seen = await inProcess(system, async (self) => {
    let ran = false
    const task = Task.async(self, () => {
      ran = true
    })
    Task.ignore(task)
    await hop()
    return [ran, await flush(self)]
  })
  expect(seen).toEqual([true, []])
})

test("ending a task interrupts its effect, and the finalizer runs once", async () => {
  let finalized = 0
  await inProcess(system, async (self) => {
    const task = Task.async(self, () => Effect.never.pipe(Effect.ensuring(Effect.sync(() => void finalized++))))
    await hop()
    await Task.shutdown(task)
  })
  expect(finalized).toBe(1)
})

test("TASK5 after the first failure awaitMany waits for no other task: these continue, and their replies are dropped", async () => {
  let late: Task.Task<unknown> | undefined
  const running = owner(async (self) => {
    late = Task.async(self, () => Effect.as(Effect.sleep(20), "late"))
    const error = await caught(Task.awaitMany([late, Task.async(self, () => Process.exitSelf("boom"))]))
    const end = await Task.shutdown(late, 5000, self)
    return [error, end, (await flush(self)).map(kindOf)]
  })
  await clock.advance(20)
  const failed = expect.objectContaining({ _tag: "CallExit", reason: "boom", in: "Task.awaitMany" })
  expect(await running).toEqual([failed, undefined, [["Exit", "boom"]]])
})

test("TASK5 when awaitMany times out, the replies are dropped", async () => {
  const running = inProcess(system, async (self) => {
    const tasks = [5, 20].map((ms) => Task.async(self, () => Effect.as(Effect.sleep(ms), ms)))
    const error = await caught(Task.awaitMany(tasks, { timeout: 10 }))
    await Process.receive(self, { match: () => false, timeout: 20 })
    return [error, await flush(self)]
  })
  await clock.advance(30)
  const failed = expect.objectContaining({ _tag: "CallExit", reason: "timeout", in: "Task.awaitMany" })
  expect(await running).toEqual([failed, []])
})

test("TASK3 an outcome that shutdown took is not given again, and shutdown and ignore take from", async () => {
  const running = inProcess(system, async (self) => {
    const [one, two] = [Task.async(self, () => "value"), Task.async(self, forever)]
    await hop()
    const shut = await anonymously(() => Task.shutdown(one))
    const again = await Task.yield(one, { timeout: 0, from: self })
    Task.ignore(two, self)
    const refused = await caught(anonymously(() => Task.shutdown(one, 0, sleeper(system))))
    return [shut, again, refused, Process.kill(two.pid)]
  })
  expect(await running).toEqual([{ ok: "value" }, undefined, expect.objectContaining({ _tag: "NotTheOwner" }), true])
})

test("yieldMany with onTimeout ignores or kills the tasks that have no outcome in time", async () => {
  const running = inProcess(system, async (self) => {
    const pair = () => [Task.async(self, () => "done"), Task.async<string>(self, forever)] as const
    const [ignored, killed, kept] = [pair(), pair(), pair()]
    const seen = [
      await Task.yieldMany(ignored, { timeout: 10, onTimeout: "ignore", from: self }),
      await Task.yieldMany(killed, { timeout: 10, onTimeout: "killTask", from: self }),
      await Task.yieldMany(kept, { timeout: 10, from: self })
    ]
    const living = [ignored, killed, kept].map((tasks) => Process.isAlive(tasks[1].pid))
    Process.kill(ignored[1].pid)
    return [seen, living, await flush(self)]
  })
  for (let waits = 0; waits < 3; waits++) {
    await hop()
    await clock.advance(10)
  }
  const each = [{ ok: "done" }, undefined]
  expect(await running).toEqual([[each, each, each], [true, false, true], []])
})

test("yieldMany has one outcome for a task that is in the list twice, and refuses an unknown onTimeout", async () => {
  const running = inProcess(system, async (self) => {
    const [quick, slow] = [Task.async(self, () => 1), Task.async<number>(self, () => new Promise(() => {}))]
    const options = { timeout: 10, onTimeout: "killTask", from: self } as const
    const outcomes = await Task.yieldMany([quick, slow, quick, slow], options)
    return [outcomes, Process.isAlive(slow.pid)]
  })
  await hop()
  await clock.advance(10)
  expect(await running).toEqual([[{ ok: 1 }, undefined, { ok: 1 }, undefined], false])
  const wrong = { onTimeout: "kill_task" as never }
  await expect(inProcess(system, () => Task.yieldMany([], wrong))).rejects.toMatchObject({ option: "onTimeout" })
})

test("yieldMany with a limit ends with so many outcomes, and the other tasks can be awaited", async () => {
  const running = inProcess(system, async (self) => {
    const tasks = [30, 10, 20].map((ms) => Task.async(self, () => Effect.as(Effect.sleep(ms), ms)))
    const some = await Task.yieldMany(tasks, { limit: 2, onTimeout: "killTask", from: self })
    return [some, clock.now(), await Task.yieldMany(tasks.slice(0, 1), { from: self })]
  })
  await clock.advance(20)
  await clock.advance(10)
  expect(await running).toEqual([[undefined, { ok: 10 }, { ok: 20 }], 20, [{ ok: 30 }]])
  await expect(inProcess(system, () => Task.yieldMany([], { limit: 0 }))).rejects.toMatchObject({ option: "limit" })
})

test("awaitMany gives the value of a task that is twice in the list twice, like Elixir", async () => {
  const seen = await inProcess(system, async (self) => {
    const [one, two] = [Task.async(self, () => 1), Task.async(self, () => 2)]
    return [await Task.awaitMany([one, two, one]), await flush(self)]
  })
  expect(seen).toEqual([[1, 2, 1], []])
})

test("a promise in place of a task, or of its work, is refused with what to write", async () => {
  const tasks = await TaskSupervisor.start(system)
  const seen = await owner(async (self) => {
    const forgotten = TaskSupervisor.async(tasks, self, () => 1)
    const asTask = forgotten as never
    const refusals = [
      Task.await(asTask),
      Task.awaitMany([asTask]),
      Task.yield(asTask),
      Task.yieldMany([asTask]),
      Task.shutdown(asTask),
      Promise.resolve().then(() => Task.ignore(asTask)),
      Effect.runPromise(Task.awaitEffect(asTask))
    ]
    const work = [
      Promise.resolve().then(() => Task.async(self, asTask)),
      TaskSupervisor.async(tasks, self, asTask),
      TaskSupervisor.startChild(tasks, asTask)
    ]
    const errors = await Promise.all([...refusals, ...work].map(caught))
    return [await Task.await(await forgotten), ...errors.map(String)]
  })
  expect(seen.slice(0, 8)).toEqual([
    1,
    ...Array.from({ length: 7 }, () => expect.stringContaining("await TaskSupervisor.async(...) first"))
  ])
  expect(seen.slice(8)).toEqual(
    Array.from({ length: 3 }, () => expect.stringMatching(/the work of a task is .*: make it a function/))
  )
})
