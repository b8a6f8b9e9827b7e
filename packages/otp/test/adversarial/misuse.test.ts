import { afterEach, beforeEach, describe, expect, test } from "vitest"
import {
  Application,
  Clock,
  DynamicSupervisor,
  GenServer,
  OtpError,
  PartitionSupervisor,
  Process,
  Registry,
  Supervisor,
  System,
  Task,
  TaskSupervisor,
  Timer
} from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { bank } from "../double/bank.ts"
import { sleeper } from "../double/inProcess.ts"

let system: System.System

beforeEach(() => {
  system = System.make({ clock: Clock.test() })
})

afterEach(async () => {
  await System.stop(system)
  expect(System.stats(system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
})

/** What only untyped code can pass. */
const untyped = (value: unknown): never => value as never

const sleeping = (parent: Pid): Pid => Process.spawnLink(parent, () => new Promise<void>(() => {}))
const spec = { id: "a", start: sleeping }
const refused = (reason: string) => expect.objectContaining({ _tag: "ChildRefused", reason })
const invalid = (option: string) => expect.objectContaining({ _tag: "InvalidOption", option })
const notStarted = (option: string) => expect.objectContaining({ _tag: "StartFailed", reason: invalid(option) })

describe("SUPS3 no request kills a supervisor", () => {
  test("terminateChild of what is no child is refused", async () => {
    const dynamic = await DynamicSupervisor.start(system)
    const child = await DynamicSupervisor.startChild(dynamic, spec)
    const top = await Supervisor.start(system, { children: [] })
    for (const nobody of [undefined, null, "x", 1, {}]) {
      await expect(DynamicSupervisor.terminateChild(dynamic, untyped(nobody))).rejects.toEqual(refused("notFound"))
      await expect(Supervisor.terminateChild(top, untyped(nobody))).rejects.toEqual(refused("notFound"))
    }
    expect([Process.isAlive(dynamic), Process.isAlive(child)]).toEqual([true, true])
  })

  test("startChild of what is no child spec is refused, and names what is wrong with it", async () => {
    const top = await Supervisor.start(system, { children: [spec] })
    const dynamic = await DynamicSupervisor.start(system)
    const wrong = [
      [{ id: 1, start: sleeping }, "id"],
      [{ id: "b" }, "start"],
      [{ id: "b", start: sleeping, restart: "permament" }, "restart"],
      [{ id: "b", start: sleeping, shutdown: -1 }, "shutdown"],
      [{ id: "b", start: sleeping, shutdown: Number.NaN }, "shutdown"],
      [{ id: "b", start: sleeping, type: "boss" }, "type"]
    ] as const
    for (const [given, option] of wrong) {
      await expect(Supervisor.startChild(top, untyped(given))).rejects.toEqual(invalid(option))
      await expect(DynamicSupervisor.startChild(dynamic, untyped(given))).rejects.toEqual(invalid(option))
    }
    for (const nothing of [null, undefined, 1]) {
      await expect(Supervisor.startChild(top, untyped(nothing))).rejects.toEqual(invalid("child spec"))
      await expect(DynamicSupervisor.startChild(dynamic, untyped(nothing))).rejects.toEqual(invalid("child spec"))
    }
    expect(await Supervisor.countChildren(top)).toMatchObject({ specs: 1, active: 1 })
    expect(await DynamicSupervisor.countChildren(dynamic)).toMatchObject({ specs: 0 })
  })

  test("a child whose start answers with no process fails with what to answer", async () => {
    const top = await Supervisor.start(system, { children: [] })
    for (const answer of [undefined, 1, {}, Promise.resolve(undefined)]) {
      const error = await Supervisor.startChild(top, { id: "a", start: untyped(() => answer) }).catch((e: unknown) => e)
      expect(String(error)).toContain('the start of child "a" answered')
      expect(String(error)).toContain('or "ignore"')
    }
    expect(Process.isAlive(top)).toBe(true)
  })
})

test("a request for supervisors to another process is refused, and that is not asked", async () => {
  const server = await GenServer.start(system, bank(), undefined)
  const plain = sleeper(system)
  for (const other of [server, plain]) {
    const error = expect.objectContaining({ _tag: "NotASupervisor", pid: other })
    await expect(Supervisor.whichChildren(untyped(other))).rejects.toEqual(error)
    await expect(Supervisor.startChild(untyped(other), spec)).rejects.toEqual(error)
    await expect(DynamicSupervisor.countChildren(untyped(other))).rejects.toEqual(error)
    expect(Process.isAlive(other)).toBe(true)
  }
})

test("SUPREQ1 a value that is neither a process nor an address is refused with a typed error, not with a TypeError", async () => {
  for (const other of [undefined, null, "top", 7, {}, []]) {
    const typed = expect.objectContaining({ _tag: "NotASupervisor" })
    await expect(Supervisor.whichChildren(untyped(other))).rejects.toEqual(typed)
    await expect(Supervisor.stop(untyped(other))).rejects.toEqual(typed)
    await expect(DynamicSupervisor.startChild(untyped(other), spec)).rejects.toEqual(typed)
    await expect(TaskSupervisor.children(untyped(other))).rejects.toEqual(typed)
    expect(() => Supervisor.child(untyped(other), "a")).toThrow(typed)
    expect(() => PartitionSupervisor.partitions(untyped(other))).toThrow(typed)
  }
})

test("SUPREQ2 a request that changes children is refused by a supervisor of another kind", async () => {
  const [top, dynamic] = [await Supervisor.start(system, { children: [] }), await DynamicSupervisor.start(system)]
  const other = (pid: Pid, kind: string, required: string) =>
    expect.objectContaining({ _tag: "NotASupervisor", pid, kind, required })
  const isStatic = other(top, "Supervisor", "DynamicSupervisor")
  await expect(DynamicSupervisor.startChild(untyped(top), spec)).rejects.toEqual(isStatic)
  await expect(TaskSupervisor.startChild(untyped(top), () => 1)).rejects.toEqual(isStatic)
  await expect(DynamicSupervisor.terminateChild(untyped(top), dynamic)).rejects.toEqual(isStatic)
  const isDynamic = other(dynamic, "DynamicSupervisor", "Supervisor")
  await expect(Supervisor.startChild(untyped(dynamic), spec)).rejects.toEqual(isDynamic)
  await expect(Supervisor.deleteChild(untyped(dynamic), "a")).rejects.toEqual(isDynamic)
  const hasNone = other(top, "Supervisor", "PartitionSupervisor")
  expect(() => PartitionSupervisor.partitions(untyped(top))).toThrow(hasNone)
  expect(() => PartitionSupervisor.whereis(untyped(top), 1)).toThrow(hasNone)
  expect(
    new OtpError.NotASupervisor({ pid: top, kind: "Supervisor", required: "DynamicSupervisor" }).message
  ).toContain("is a Supervisor, not a DynamicSupervisor: call the function of Supervisor, or start a DynamicSupervisor")
  expect([await Supervisor.countChildren(top), await DynamicSupervisor.countChildren(dynamic)]).toMatchObject([
    { specs: 0 },
    { specs: 0 }
  ])
})

describe("an option that makes no sense is refused by its name, before anything is started", () => {
  const wrong: ReadonlyArray<readonly [options: object, option: string]> = [
    [{ maxRestarts: -1 }, "maxRestarts"],
    [{ maxRestarts: Number.NaN }, "maxRestarts"],
    [{ maxSeconds: -3 }, "maxSeconds"],
    [{ maxSeconds: "5" }, "maxSeconds"],
    [{ maxSeconds: 0 }, "maxSeconds"],
    [{ strategy: "one_for_one" }, "strategy"],
    [{ autoShutdown: "any_significant" }, "autoShutdown"],
    [{ children: undefined }, "children"],
    [{ children: [null] }, "child spec"],
    [{ children: [{ ...spec, restart: "permament" }] }, "restart"],
    [{ children: [{ ...spec, shutdown: -1 }] }, "shutdown"]
  ]

  test.each(wrong)("of a supervisor: %j", async (options, option) => {
    const given = { children: [], ...options }
    await expect(Supervisor.start(system, untyped(given))).rejects.toEqual(notStarted(option))
    expect(System.stats(system).processes).toBe(0)
  })

  test.each([
    [{ maxChildren: -1 }, "maxChildren"],
    [{ maxChildren: Number.NaN }, "maxChildren"],
    [{ maxSeconds: 0 }, "maxSeconds"],
    [{ maxRestarts: -1 }, "maxRestarts"]
  ])("of a dynamic supervisor: %j", async (options, option) => {
    await expect(DynamicSupervisor.start(system, options)).rejects.toEqual(notStarted(option))
  })

  test("of a registry and of a partition supervisor", async () => {
    await expect(Registry.start(system, untyped({ keys: "dup" }))).rejects.toEqual(notStarted("keys"))
    await expect(Registry.start(system, { partitions: 0 })).rejects.toEqual(notStarted("partitions"))
    const child = { start: sleeping }
    await expect(PartitionSupervisor.start(system, { partitions: 0.5, child })).rejects.toEqual(
      notStarted("partitions")
    )
  })

  test("of a child of a dynamic supervisor that is significant", async () => {
    const supervisor = await DynamicSupervisor.start(system)
    await expect(DynamicSupervisor.startChild(supervisor, untyped({ ...spec, significant: true }))).rejects.toEqual(
      expect.objectContaining({ _tag: "InvalidOption", option: "significant" })
    )
  })

  test("of a stream of tasks", async () => {
    const stream = (maxConcurrency: number) =>
      Task.asyncStream(sleeper(system), [1], (n: number) => n, { maxConcurrency })
    for (const wrongly of [Number.NaN, 0, -1, 1.5]) expect(() => stream(wrongly)).toThrow(OtpError.InvalidOption)
    expect(() => stream(Number.POSITIVE_INFINITY)).not.toThrow()
  })

  test("the message says what is allowed", () => {
    const error = new OtpError.InvalidOption({ option: "strategy", value: "one_for_one", allowed: '"oneForOne"' })
    expect(error.message).toBe('strategy is "one_for_one": make it "oneForOne"')
  })
})

test("APPT4 applications that depend on each other in a circle do not start, and the circle is named", async () => {
  const dependsOn: Array<Application.Definition> = []
  const app = (name: string, on: ReadonlyArray<Application.Definition>) =>
    Application.make({ name, dependsOn: on, start: (parent) => Supervisor.startLink(parent, { children: [] }) })
  const a = app("a", dependsOn)
  const b = app("b", [a])
  dependsOn.push(b)
  const error = expect.objectContaining({ _tag: "ApplicationCycle", names: ["a", "b", "a"] })
  await expect(Application.ensureAllStarted(system, app("top", [a]))).rejects.toEqual(error)
  expect(Application.running(system)).toEqual([])
})

describe("two systems", () => {
  let other: System.System
  beforeEach(() => {
    other = System.make({ name: "other", clock: Clock.test() })
  })
  afterEach(() => System.stop(other))

  test("a link between them is refused, by whatever would make it", async () => {
    const here = sleeper(system)
    const there = sleeper(other)
    expect(() => Process.link(here, there)).toThrow(OtpError.OtherSystem)
    const registry = await Registry.start(system)
    expect(() => Registry.register(registry, "k", there)).toThrow(OtpError.OtherSystem)
    const tasks = await TaskSupervisor.start(system)
    await expect(TaskSupervisor.async(tasks, there, () => 1)).rejects.toThrow(OtpError.OtherSystem)
    const top = await Supervisor.start(system, { children: [] })
    await expect(Supervisor.startChild(top, { id: "a", start: () => there })).rejects.toEqual(
      expect.objectContaining({ reason: expect.objectContaining({ _tag: "OtherSystem" }) })
    )
    expect([Process.isAlive(here), Process.isAlive(there)]).toEqual([true, true])
    expect([Process.info(here)?.links, Process.info(there)?.links]).toEqual([[], []])
  })

  test("messages and monitors go from one to the other", async () => {
    const there = sleeper(other)
    const down = new Promise((resolve) => {
      Process.spawn(system, async (self) => {
        Process.monitor(self, there)
        resolve(await Process.receive(self))
      })
    })
    await Promise.resolve().then(() => new Promise((resolve) => setImmediate(resolve)))
    Process.exit(there, "gone")
    expect(await down).toMatchObject({ _tag: "Down", reason: "gone" })
  })
})

test("what is no process and no address is refused with what to pass", async () => {
  for (const nobody of [undefined, null, 1, "x", {}]) {
    expect(() => Process.send(untyped(nobody), 1)).toThrow(/pass a pid or an address/)
    await expect(GenServer.call(untyped(nobody), 1)).rejects.toThrow(/pass a pid or an address/)
    expect(() => GenServer.cast(untyped(nobody), 1)).toThrow(/pass a pid or an address/)
  }
})

test("a definition without init does not start, and the callback is named", async () => {
  const error = expect.objectContaining({ _tag: "NoCallback", callback: "init" })
  await expect(GenServer.start(system, untyped({}), 0)).rejects.toEqual(
    expect.objectContaining({ _tag: "StartFailed", reason: error })
  )
})

describe("a mistake in an argument is refused by its name, with what to write instead", () => {
  const counter = GenServer.make({
    init: (from: number) => GenServer.ok(from),
    handleCall: (_request: "next", _from, state) => GenServer.replying(state, state + 1)
  })
  const refusal = async (run: () => unknown): Promise<unknown> => {
    try {
      return await run()
    } catch (error) {
      return error instanceof Error ? error.message : error
    }
  }

  test.each([
    ["a value that is no system", () => GenServer.start(untyped({}), counter, 0), "what System.make returns"],
    [
      "a process in place of a system",
      (pid: Pid) => Process.spawn(untyped(pid), () => {}),
      "startLink and spawnLink take"
    ],
    [
      "a system in place of a parent",
      () => GenServer.startLink(untyped(system), counter, 0),
      "start and spawn take a system"
    ],
    [
      "a time that is none",
      (pid: Pid) => Timer.sendAfter(untyped(pid), 1_000, untyped("tick")),
      '"tick" is no time to wait'
    ],
    [
      "a bare timeout of a call",
      (pid: Pid) => GenServer.call(untyped(pid), "next", untyped(5)),
      "make it { timeout: 5000 }"
    ]
  ])("%s", async (_name, run, text) => {
    const pid = await GenServer.start(system, counter, 0)
    expect(await refusal(() => run(pid))).toContain(text)
  })

  test.each([
    ["a number, as in Elixir", 5],
    ["a timeout that is none", { timeout: "soon" }],
    ["an unknown word", "sleep"]
  ])("the action of init: %s. The server does not start", async (_name, next) => {
    const hasty = GenServer.make({ init: () => GenServer.ok(0, untyped(next)) })
    expect(await refusal(() => GenServer.start(system, hasty, undefined))).toMatch(
      /^the process did not start: .*(make it|give)/
    )
  })
})
