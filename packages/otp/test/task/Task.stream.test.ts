import { afterEach, beforeEach, expect, test } from "vitest"
import { Clock, Process, SystemMessage, System, Task } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { flush, inProcess } from "../double/inProcess.ts"
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

const ok = (...values: ReadonlyArray<unknown>) => values.map((value) => ({ ok: value }))
/** Runs an owner, lets time pass, and gives what it gave. */
const after = async <A>(ms: number, body: (self: Pid<unknown>) => Promise<A>): Promise<A> => {
  const [outcome] = await Promise.allSettled([inProcess(system, body), clock.advance(ms)])
  if (outcome.status === "rejected") throw outcome.reason
  return outcome.value
}
const crashing = (input: string) => (input === "bad" ? Process.exitSelf("boom") : input)

test("stream-001 stream-002 results come in the order of the inputs, or, unordered, of completion", async () => {
  const watched = new Watched()
  const seen = await after(200, async (self) => [
    await take(Task.asyncStream(self, [60, 10, 30], watched.work)),
    await take(Task.asyncStream(self, [60, 10, 30], watched.work, { ordered: false }))
  ])
  expect(seen).toEqual([ok(60, 10, 30), ok(10, 30, 60)])
})

test("stream-003 stream-017 ASTREAM2 at most maxConcurrency tasks run at once", async () => {
  const [three, one] = [new Watched(), new Watched()]
  await after(500, async (self) => {
    await take(Task.asyncStream(self, [50, 40, 30, 20, 10], three.work, { maxConcurrency: 3 }))
    await take(Task.asyncStream(self, one.inputs(20, 10), one.work, { maxConcurrency: 1 }))
  })
  expect([three.peak, one.peak]).toEqual([3, 1])
  expect(one.events).toEqual(["pulled 20", "done 20", "pulled 10", "done 10"])
})

test("stream-004 ASTREAM1 building a stream pulls and starts nothing", async () => {
  const watched = new Watched()
  await after(10, async (self) => void Task.asyncStream(self, watched.inputs(1), watched.work))
  expect([watched.events, watched.pids]).toEqual([[], []])
})

test("stream-005 stream-014 stream-020 ASTREAM4 when the consumer stops or fails, running tasks are killed", async () => {
  const watched = new Watched()
  const stubborn = (ms: number, self: Pid) => {
    Process.trapExit(self, true)
    return watched.work(ms, self)
  }
  const seen = await after(5, async (self) => {
    for await (const _result of Task.asyncStream(self, [5, 300], stubborn)) break
    return Process.info(self)?.links
  })
  const failed = after(5, async (self) => {
    for await (const _result of Task.asyncStream(self, [5, 300], watched.work)) throw new Error("enough")
  })
  await expect(failed).rejects.toThrow("enough")
  expect(seen).toEqual([])
  expect(watched.pids.map((pid) => Process.exitReason(pid))).toEqual(["normal", "killed", "normal", "killed"])
})

test("stream-006 stream-021 ASTREAM3 a task over its time fails the stream, by default after 5 seconds", async () => {
  const watched = new Watched()
  const seen: Array<unknown> = []
  const failed = inProcess(system, (self) =>
    take(Task.asyncStream(self, [1, 9000, 9000], watched.work), seen).catch((error: unknown) => error)
  )
  await clock.advance(4999)
  expect(watched.running).toBe(2)
  await clock.advance(1)
  expect(await failed).toMatchObject({ _tag: "CallExit", reason: "timeout", in: "Task.asyncStream" })
  expect([seen, watched.running]).toEqual([ok(1), 0])
})

test("stream-007 stream-008 stream-022 with killTask the time is a result, with its input if asked for", async () => {
  const watched = new Watched()
  const options = { timeout: 60, onTimeout: "killTask" } as const
  const seen = await after(200, async (self) => [
    await take(Task.asyncStream(self, [1, 300, 2], watched.work, options)),
    await take(Task.asyncStream(self, [300, 1], watched.work, { ...options, ordered: false, zipInputOnExit: true }))
  ])
  expect(seen).toEqual([
    [{ ok: 1 }, { exit: "timeout" }, { ok: 2 }],
    [{ ok: 1 }, { exit: "timeout", input: 300 }]
  ])
})

test("stream-009 stream-024 the crash of a task ends an owner that does not trap exits, whatever it is at", async () => {
  const watched = new Watched()
  const pid = Process.spawn(system, async (self) => {
    const results = Task.asyncStream(self, ["good", "bad"], crashing)
    await results[Symbol.asyncIterator]().next()
    await Process.receive(self)
    watched.events.push("unreached")
  })
  await hop()
  expect([Process.exitReason(pid), watched.events]).toEqual(["boom", []])
})

test("stream-012 ASTREAM5 an owner that traps exits gets the crash as a result, and no message", async () => {
  const seen = await after(0, async (self) => {
    Process.trapExit(self, true)
    return [await take(Task.asyncStream(self, ["one", "bad", "two"], crashing)), await flush(self)]
  })
  expect(seen).toEqual([[{ ok: "one" }, { exit: "boom" }, { ok: "two" }], []])
})

test("stream-013 ASTREAM1 behind a slow first task the later ones are pulled and run meanwhile", async () => {
  const watched = new Watched()
  const seen = await after(100, (self) =>
    take(Task.asyncStream(self, watched.inputs(100, 1, 2, 3), watched.work, { maxConcurrency: 2 }))
  )
  expect([seen, watched.peak]).toEqual([ok(100, 1, 2, 3), 2])
  expect(watched.events.at(-1)).toBe("done 100")
})

test("stream-015 ASTREAM1 a slow consumer holds the inputs back: one more is pulled for each result", async () => {
  const watched = new Watched()
  await after(500, async (self) => {
    for await (const _result of Task.asyncStream(self, watched.inputs(1, 2, 3, 4), watched.work, {
      maxConcurrency: 2
    })) {
      watched.events.push("consumed")
      await Process.receive(self, { timeout: 50 })
    }
  })
  const consumed = watched.events.filter((event) => !event.startsWith("done"))
  const [one, two, three, four] = [1, 2, 3, 4].map((ms) => `pulled ${ms}`)
  expect(consumed).toEqual([one, two, "consumed", three, "consumed", four, "consumed", "consumed"])
})

test("stream-016 the time of a task counts from its own start", async () => {
  const watched = new Watched()
  const times = [40, 40, 40, 40, 40, 40]
  const seen = await after(300, (self) =>
    take(Task.asyncStream(self, times, watched.work, { maxConcurrency: 2, timeout: 80 }))
  )
  expect(seen).toEqual(ok(...times))
})

test("stream-018 no input is no result", async () => {
  expect(await after(0, (self) => take(Task.asyncStream(self, [], () => 1)))).toEqual([])
})

test("stream-019 when the owner dies its tasks die", async () => {
  const watched = new Watched()
  const pid = Process.spawn(system, (self) => take(Task.asyncStream(self, [300, 300], watched.work)))
  await hop()
  Process.exit(pid, "gone")
  expect(watched.pids.map((task) => Process.exitReason(task))).toEqual(["gone", "gone"])
})

test("inputs that fail fail the stream, and inputs that come later are waited for", async () => {
  const watched = new Watched()
  async function* late(): AsyncGenerator<number> {
    yield await Promise.resolve(20)
    await new Promise((resolve) => clock.setTimeout(() => resolve(undefined), 10))
    throw new Error("no more")
  }
  const failed = after(50, (self) => take(Task.asyncStream(self, late(), watched.work)))
  await expect(failed).rejects.toThrow("no more")
  expect(watched.pids.map((pid) => Process.exitReason(pid))).toEqual(["killed"])
})

const counting = () => {
  const seen = { pulled: 0, returned: 0 }
  function* inputs() {
    try {
      for (;;) yield seen.pulled++
    } finally {
      seen.returned++
    }
  }
  return { seen, inputs }
}

test("ASTREAM4 a stream ends with its owner: its tasks are killed, its inputs return, and nothing more is pulled", async () => {
  const { seen, inputs } = counting()
  let results = 0
  const owner = Process.spawn(system, async (self) => {
    for await (const _ of Task.asyncStream(self, inputs(), () => hop())) results++
  })
  await hop()
  await hop()
  Process.kill(owner)
  const [pulled, handed] = [seen.pulled, results]
  await hop()
  await hop()
  expect([seen, results, System.stats(system).processes]).toEqual([{ pulled, returned: 1 }, handed, 0])
})

test.each(["boom", "shutdown", "kill"])(
  "ASTREAM4 tasks end with the owner's reason; one that traps exits is killed: %s",
  async (reason) => {
    const tasks: Array<Pid> = []
    const owner = Process.spawn(system, async (self) => {
      const stay = (trap: boolean, me: Pid<unknown>) => {
        tasks.push(me)
        Process.trapExit(me, trap)
        return new Promise(() => {})
      }
      for await (const _ of Task.asyncStream(self, [false, true], stay)) expect.unreachable()
    })
    await hop()
    Process.exit(owner, reason)
    const notified = reason === "kill" ? "killed" : reason
    expect(tasks.map((pid) => Process.exitReason(pid))).toEqual([notified, "killed"])
  }
)

test("ASTREAM4 an owner that is ended by its own inputs pulls no further, and they return", async () => {
  let [pulled, returned] = [0, 0]
  const owner = Process.spawn(system, async (self) => {
    function* inputs() {
      try {
        for (;;) {
          if (++pulled === 3) Process.kill(self)
          yield pulled
        }
      } finally {
        returned++
      }
    }
    for await (const _ of Task.asyncStream(self, inputs(), (n) => n));
  })
  await hop()
  expect([pulled, returned, Process.exitReason(owner), System.stats(system).processes]).toEqual([3, 1, "killed", 0])
})

test("ASTREAM4 inputs that fail to return are reported, and a dead owner pulls nothing at all", async () => {
  const reasons: Array<unknown> = []
  const loud = System.make({ onCrash: ({ reason }) => reasons.push(reason) })
  let pulled = 0
  const inputs: AsyncIterable<number> = {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        pulled++
        return new Promise(() => {})
      },
      return: () => Promise.reject(new Error("return"))
    })
  }
  const owner = Process.spawn(loud, (self) => take(Task.asyncStream(self, inputs, (n) => n)))
  await hop()
  Process.kill(owner)
  await hop()
  void take(Task.asyncStream(owner, inputs, (n) => n))
  await hop()
  expect([pulled, reasons]).toEqual([1, [new Error("return")]])
  await System.stop(loud)
})

test("ASTREAM4 ASTREAM5 a stream leaves its owner neither links nor mail", async () => {
  const seen = await after(0, async (self) => {
    Process.trapExit(self, true)
    await take(Task.asyncStream(self, [1, 2, 3], (n) => n))
    return [Process.info(self)?.links, (await flush(self)).filter(SystemMessage.isExit)]
  })
  expect(seen).toEqual([[], []])
})

test("a stream is iterated again: it takes the inputs anew, and starts new tasks", async () => {
  const seen = await inProcess(system, async (self) => {
    let started = 0
    const results = Task.asyncStream(self, [1, 2, 3], (n) => [n, ++started])
    const firsts: Array<unknown> = []
    for await (const result of results) {
      firsts.push(result)
      break
    }
    return [firsts, await take(results), await take(results)]
  })
  const oks = (from: number) => [1, 2, 3].map((n, index) => ({ ok: [n, from + index] }))
  const [first] = oks(1)
  const again = (seen[1] as ReadonlyArray<{ readonly ok: readonly [number, number] }>)[0]?.ok[1] ?? 0
  expect(seen).toEqual([[first], oks(again), oks(again + 3)])
})

test("messages that only look like the end of a task stay in the mailbox of the owner", async () => {
  const seen = await inProcess<unknown>(system, async (self) => {
    const lookalikes = [
      { _tag: "Down", ref: 1, pid: self, reason: "boom" },
      { _tag: "Exit", from: self, reason: "boom" }
    ]
    for (const message of lookalikes) Process.send(self, message)
    const results = await take(Task.asyncStream(self, [1, 2], (n) => n))
    const many = await Task.awaitMany([Task.async(self, () => 3), Task.async(self, () => 4)], { from: self })
    return [results, many, (await flush(self)).length]
  })
  expect(seen).toEqual([[{ ok: 1 }, { ok: 2 }], [3, 4], 2])
})
