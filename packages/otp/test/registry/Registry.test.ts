import { afterEach, beforeEach, expect, test } from "vitest"
import { GenServer, Process, Registry, Supervisor, System } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { bank } from "../double/bank.ts"
import { hop } from "../double/hop.ts"
import { flush, inProcess, sleeper } from "../double/inProcess.ts"

let system: System.System
let registry: Pid

beforeEach(async () => {
  system = System.make()
  registry = await Registry.start(system)
})

afterEach(async () => {
  await System.stop(system)
  expect(System.stats(system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
})

test("reg-001 reg-002 a key has one process; the same one is refused too", () => {
  const [one, two] = [sleeper(system), sleeper(system)]
  expect(Registry.register(registry, "k", one)).toEqual({ ok: true })
  expect(Registry.register(registry, "k", two)).toEqual({ ok: false, pid: one })
  expect(Registry.register(registry, "k", one)).toEqual({ ok: false, pid: one })
  expect(Registry.whereis(registry, "k")).toBe(one)
})

test("reg-004 reg-011 REG1 an entry goes when its process dies, at once, and the key is free", () => {
  const [one, two] = [sleeper(system), sleeper(system)]
  Registry.register(registry, "k", one)
  Process.kill(one)
  expect([Registry.whereis(registry, "k"), Registry.keys(registry, one), Registry.count(registry)]).toEqual([
    undefined,
    [],
    0
  ])
  expect(Registry.register(registry, "k", two)).toEqual({ ok: true })
})

test("a dead process is not entered", () => {
  const one = sleeper(system)
  Process.kill(one)
  expect(Registry.register(registry, "k", one)).toEqual({ ok: false, pid: one })
  expect(Registry.whereis(registry, "k")).toBeUndefined()
})

test("reg-005 reg-006 a server is started, called and cast by key", async () => {
  const via = Registry.via(registry, "k")
  const pid = await GenServer.start(system, bank(), undefined, { via })
  GenServer.cast(via, { add: 2 })
  expect(await GenServer.call(via, "get")).toBe(2)
  await expect(GenServer.start(system, bank(), undefined, { via })).rejects.toMatchObject({
    reason: { _tag: "AlreadyStarted", pid }
  })
  await expect(GenServer.call(Registry.via(registry, "nobody"), "get")).rejects.toMatchObject({ reason: "noproc" })
  GenServer.cast(Registry.via(registry, "nobody"), { add: 1 })
})

test("reg-008 REG2 keys lists the keys of a process, unregister removes them and in the end the link", () => {
  const one = sleeper(system)
  Registry.register(registry, "k1", one)
  Registry.register(registry, "k2", one)
  expect(Registry.keys(registry, one)).toEqual(["k1", "k2"])
  expect(Registry.unregister(registry, "k1", one)).toBe(true)
  expect(Registry.unregister(registry, "k1", one)).toBe(false)
  expect([Registry.keys(registry, one), Registry.entries(registry)]).toEqual([["k2"], [["k2", one, undefined]]])
  expect(Process.info(one)?.links).toEqual([registry])
  Registry.unregister(registry, "k2", one)
  expect(Process.info(one)?.links).toEqual([])
})

test("reg-010 when the registry is killed its members end", () => {
  const [one, two] = [sleeper(system), sleeper(system)]
  Registry.register(registry, "k", one)
  Process.kill(registry)
  expect([Process.exitReason(one), Process.isAlive(two)]).toEqual(["killed", true])
  expect(Registry.whereis(registry, "k")).toBeUndefined()
})

test.each([1, 3])(
  "REG4 members get shutdown when a registry of %s partitions is stopped or its parent ends",
  async (n) => {
    for (const reason of ["normal", "boom"] as const) {
      const stopped = await Registry.start(system, { partitions: n })
      const one = sleeper(system)
      Registry.register(stopped, "k", one)
      await GenServer.stop(stopped, reason)
      expect([Process.exitReason(stopped), Process.exitReason(one)]).toEqual([reason, "shutdown"])
    }
    const parent = sleeper(system)
    const child = await Registry.startLink(parent, { partitions: n })
    const member = sleeper(system)
    Registry.register(child, "k", member)
    Process.exit(parent, "boom")
    await hop()
    expect([Process.exitReason(child), Process.exitReason(member)]).toEqual(["boom", "shutdown"])
  }
)

test("REG4 a member that traps exits gets one message, and is nobody's link after", async () => {
  const seen = await inProcess(system, async (self) => {
    Process.trapExit(self, true)
    Registry.register(registry, "k", self)
    await GenServer.stop(registry)
    await hop()
    return [await flush(self), Process.info(self)?.links]
  })
  expect(seen).toEqual([[expect.objectContaining({ _tag: "Exit", from: registry, reason: "shutdown" })], []])
})

const equalKeys: ReadonlyArray<[name: string, key: unknown, other: unknown]> = [
  ["of an array", ["chat", 42], ["chat", 42]],
  ["of an object", { room: "a", seats: [1, { row: undefined }] }, { seats: [1, { row: undefined }], room: "a" }],
  ["that is empty", [], []],
  ["of many primitives", [Number.NaN, -0, 1n, null, Symbol.for("s")], [Number.NaN, 0, 1n, null, Symbol.for("s")]],
  ["of a text with a zero", "\u0000[1]", "\u0000[1]"]
]

test.each(equalKeys)("REGKEY1 a key %s leads to what was entered under an equal one", async (_name, key, other) => {
  for (const partitions of [1, 4]) {
    const unique = await Registry.start(system, { partitions })
    const [one, two] = [sleeper(system), sleeper(system)]
    expect(Registry.register(unique, key, one)).toEqual({ ok: true })
    expect(Registry.register(unique, other, two)).toEqual({ ok: false, pid: one })
    expect([Registry.whereis(unique, other), Registry.values(unique, other, one)]).toEqual([one, [undefined]])
    expect(Registry.unregister(unique, other, one)).toBe(true)
    expect([Registry.whereis(unique, key), Registry.count(unique)]).toEqual([undefined, 0])
    const duplicate = await Registry.start(system, { partitions, keys: "duplicate" })
    Registry.register(duplicate, key, one)
    Registry.register(duplicate, other, two)
    expect(Registry.lookup(duplicate, key).length).toBe(2)
    Registry.putMeta(unique, key, "kept")
    expect([Registry.meta(unique, other), Registry.deleteMeta(unique, other)]).toEqual(["kept", true])
  }
})

class Point {
  readonly x = 1
}

const named = (name: string) => [name, () => {}, Symbol("s"), new Point(), 1n] as const
const [, someFunction, someSymbol, somePoint] = named("a")
const distinctKeys: ReadonlyArray<unknown> = [
  ["chat", 42],
  ["chat", "42"],
  ["chat", 42n],
  ["chat"],
  ["chat", [42]],
  '["chat",42]',
  '\u0000["chat",42]',
  { chat: 42 },
  { chat: "42" },
  { chat: undefined },
  {},
  [],
  [null],
  [undefined],
  [someFunction],
  [named("a")[1]],
  [someSymbol],
  [Symbol.for("s")],
  [Symbol("s")],
  ["s"],
  somePoint,
  new Point(),
  [somePoint],
  [new Point()]
]

test("REGKEY1 keys that differ lead to different processes, and pids, functions and instances equal only themselves", () => {
  const pids = distinctKeys.map((key) => {
    const pid = sleeper(system)
    expect(Registry.register(registry, key, pid)).toEqual({ ok: true })
    return pid
  })
  expect(distinctKeys.map((key) => Registry.whereis(registry, key))).toEqual(pids)
  expect(Registry.whereis(registry, [someFunction])).toBe(pids[14])
  const [one, two] = [sleeper(system), sleeper(system)]
  Registry.register(registry, ["of", one], one)
  expect([Registry.whereis(registry, ["of", one]), Registry.whereis(registry, ["of", two])]).toEqual([one, undefined])
})

test("REGKEY1 a key that contains itself is refused before anything is entered", () => {
  const knot: Array<unknown> = []
  knot.push(knot)
  expect(() => Registry.register(registry, knot, sleeper(system))).toThrow(/use a string/)
  expect(Registry.count(registry)).toBe(0)
})

test("REGKEY2 a key that is changed later moves no entry", () => {
  const key = ["chat", 1]
  const one = sleeper(system)
  Registry.register(registry, key, one)
  key[1] = 2
  expect([Registry.whereis(registry, ["chat", 1]), Registry.whereis(registry, key)]).toEqual([one, undefined])
  Process.kill(one)
  expect(Registry.count(registry)).toBe(0)
})

test("the crash of a member leaves the registry alone", () => {
  const one = sleeper(system)
  Registry.register(registry, "k", one)
  Process.exit(one, "boom")
  expect(Process.isAlive(registry)).toBe(true)
})

test("reg-003 a duplicate key has many processes, and one many times, in the order they came", async () => {
  const topics = await Registry.start(system, { keys: "duplicate" })
  const [one, two] = [sleeper(system), sleeper(system)]
  for (const [pid, value] of [
    [one, "a"],
    [two, "b"],
    [one, "c"]
  ] as const) {
    expect(Registry.register(topics, "k", pid, value)).toEqual({ ok: true })
  }
  expect(Registry.lookup(topics, "k")).toEqual([
    { pid: one, value: "a" },
    { pid: two, value: "b" },
    { pid: one, value: "c" }
  ])
  expect(Registry.values(topics, "k", one)).toEqual(["a", "c"])
  expect([Registry.keys(topics, one), Registry.count(topics), Registry.whereis(topics, "k")]).toEqual([
    ["k", "k"],
    3,
    one
  ])
  expect(Registry.unregister(topics, "k", one)).toBe(true)
  expect(Registry.lookup(topics, "k")).toEqual([{ pid: two, value: "b" }])
  Process.kill(two)
  expect([Registry.lookup(topics, "k"), Registry.entries(topics)]).toEqual([[], []])
})

test("reg-007 dispatch hands over the entries of a key, and is silent where there are none", async () => {
  const topics = await Registry.start(system, { keys: "duplicate" })
  const [one, two] = [sleeper(system), sleeper(system)]
  Registry.register(topics, "news", one)
  Registry.register(topics, "news", two)
  const seen: Array<ReadonlyArray<Pid>> = []
  const note = (entries: ReadonlyArray<Registry.Entry>) => void seen.push(entries.map(({ pid }) => pid))
  Registry.dispatch(topics, "news", note)
  Registry.dispatch(topics, "sport", note)
  expect(seen).toEqual([[one, two]])
})

test("reg-009 only the holder of a unique key changes its value", () => {
  const [one, two] = [sleeper(system), sleeper(system)]
  Registry.register(registry, "k", one, 1)
  expect(Registry.update(registry, "k", two, () => 9)).toBeUndefined()
  expect(Registry.update(registry, "nobody", one, () => 9)).toBeUndefined()
  expect(Registry.update(registry, "k", one, (n) => Number(n) + 1)).toEqual({ value: 2, before: 1 })
  expect(Registry.lookup(registry, "k")).toEqual([{ pid: one, value: 2 }])
})

test("a server started under a key has the value it was entered with", async () => {
  const pid = await GenServer.start(system, bank(), undefined, { via: Registry.via(registry, "k", "value") })
  expect(Registry.lookup(registry, "k")).toEqual([{ pid, value: "value" }])
})

test("a duplicate key is no name: it is refused as an address, and as one to update", async () => {
  const topics = await Registry.start(system, { keys: "duplicate" })
  expect(() => Registry.via(topics, "k")).toThrow(TypeError)
  expect(() => Registry.update(topics, "k", registry, () => 1)).toThrow(TypeError)
})

const over = (least: number) => (value: unknown) => Number(value) > least

test("match and select find entries by what they are, of one key and of all", async () => {
  const topics = await Registry.start(system, { keys: "duplicate" })
  const [one, two] = [sleeper(system), sleeper(system)]
  Registry.register(topics, "a", one, 1)
  Registry.register(topics, "a", two, 5)
  Registry.register(topics, "b", one, 9)
  expect(Registry.match(topics, "a", over(2))).toEqual([{ pid: two, value: 5 }])
  expect(Registry.match(topics, "a", (_value, pid) => pid === one)).toEqual([{ pid: one, value: 1 }])
  expect([Registry.countMatch(topics, "a", over(0)), Registry.countMatch(topics, "c", over(0))]).toEqual([2, 0])
  expect(Registry.select(topics, ({ key, pid, value }) => (over(2)(value) ? [key, pid] : undefined))).toEqual([
    ["a", two],
    ["b", one]
  ])
  expect(Registry.countSelect(topics, ({ key }) => key === "a")).toBe(2)
})

test("unregisterMatch takes out the entries of a process whose value passes, and no others", async () => {
  const topics = await Registry.start(system, { keys: "duplicate" })
  const [one, two] = [sleeper(system), sleeper(system)]
  for (const value of [1, 5, 9]) Registry.register(topics, "k", one, value)
  Registry.register(topics, "k", two, 9)
  expect(Registry.unregisterMatch(topics, "k", one, over(2))).toBe(2)
  expect(Registry.unregisterMatch(topics, "k", one, over(2))).toBe(0)
  expect(Registry.lookup(topics, "k").map(({ value }) => value)).toEqual([1, 9])
  expect(Registry.values(topics, "k", one)).toEqual([1])
})

test("a registry keeps metadata, from its start on or put later", async () => {
  const known = await Registry.start(system, { meta: [["region", "north"]] })
  expect([Registry.meta(known, "region"), Registry.meta(known, "none")]).toEqual(["north", undefined])
  Registry.putMeta(known, "region", "south")
  expect(Registry.meta(known, "region")).toBe("south")
  expect([Registry.deleteMeta(known, "region"), Registry.deleteMeta(known, "region")]).toEqual([true, false])
  expect(Registry.meta(known, "region")).toBeUndefined()
})

test("REG3 a listener is notified of every entry that is added or removed, whatever removed it", async () => {
  const seen = await inProcess(system, async (self) => {
    const listeners = [self, Process.named<Registry.Change>(system, "nobody")]
    const watched = await Registry.start(system, { keys: "duplicate", listeners })
    const [one, two, three] = [sleeper(system), sleeper(system), sleeper(system)]
    Registry.register(watched, "a", one, 1)
    Registry.register(watched, "a", two, 2)
    Registry.unregister(watched, "a", one)
    Process.kill(two)
    Registry.register(watched, "b", three, 3)
    Process.kill(watched)
    expect(Process.exitReason(three)).toBe("killed")
    const changes = (await flush(self)) as ReadonlyArray<Registry.Change>
    expect(changes[0]).toEqual({ _tag: "Register", registry: watched, key: "a", pid: one, value: 1 })
    return changes.map(({ _tag, key, value }) => [_tag, key, value])
  })
  expect(seen).toEqual([
    ["Register", "a", 1],
    ["Register", "a", 2],
    ["Unregister", "a", 1],
    ["Unregister", "a", 2],
    ["Register", "b", 3],
    ["Unregister", "b", 3]
  ])
})

test("REG3 no listener is notified of a refused entry", async () => {
  const seen = await inProcess(system, async (self) => {
    const watched = await Registry.start(system, { listeners: [self] })
    Registry.register(watched, "k", self)
    Registry.register(watched, "k", sleeper(system))
    return (await flush(self)).length
  })
  expect(seen).toBe(1)
})

/** A section whose beginning a test observes, and whose end it decides. */
const section = (log: Array<string>, name: string) => {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const run = (): Promise<string> => {
    log.push(name)
    return promise
  }
  return { run, end: () => resolve(name), fail: () => reject(new Error(name)) }
}

test("LOCK1 sections of a key take turns in the order they came, those of other keys do not wait", async () => {
  const log: Array<string> = []
  const self = sleeper(system)
  const [one, two, three] = [section(log, "one"), section(log, "two"), section(log, "three")]
  const other = section(log, "other")
  const results = [
    ...[one, two, three].map(({ run }) => Registry.lock(registry, "k", self, run)),
    Registry.lock(registry, "l", self, other.run)
  ]
  expect(log).toEqual(["one", "other"])
  one.end()
  await hop()
  expect(log).toEqual(["one", "other", "two"])
  for (const { end } of [two, three, other]) end()
  expect(await Promise.all(results)).toEqual(["one", "two", "three", "other"])
})

test("REGKEY1 LOCK1 sections of equal keys take turns", async () => {
  const log: Array<string> = []
  const inTurn = (name: string) => () =>
    Registry.lock(registry, ["room", { floor: 1 }], sleeper(system), async () => {
      log.push(`${name} in`)
      await hop()
      log.push(`${name} out`)
    })
  await Promise.all([inTurn("one")(), inTurn("two")()])
  expect(log).toEqual(["one in", "one out", "two in", "two out"])
})

test("LOCK2 a section that fails is over, and only its own caller gets the error", async () => {
  const log: Array<string> = []
  const self = sleeper(system)
  const one = section(log, "one")
  const failed = Registry.lock(registry, "k", self, one.run)
  const thrown = Registry.lock(registry, "k", self, () => {
    throw new Error("two")
  })
  const next = Registry.lock(registry, "k", self, () => "three")
  one.fail()
  await expect(failed).rejects.toThrow("one")
  await expect(thrown).rejects.toThrow("two")
  expect(await next).toBe("three")
})

test("LOCK2 the death of a process gives its lock to the next, and takes it out of the queue", async () => {
  const log: Array<string> = []
  const [holder, waiting, last] = [sleeper(system), sleeper(system), sleeper(system)]
  const held = section(log, "held")
  void Registry.lock(registry, "k", holder, held.run)
  void Registry.lock(registry, "k", waiting, section(log, "waiting").run)
  const done = Registry.lock(registry, "k", last, () => "last")
  Process.kill(waiting)
  expect(log).toEqual(["held"])
  Process.kill(holder)
  expect(await done).toBe("last")
  held.end()
  await hop()
  expect(await Registry.lock(registry, "k", last, () => "again")).toBe("again")
})

test.each(["a registered name", "a child of a supervisor"])(
  "a registry is found by the address of %s, also after its restart",
  async (kind) => {
    const child = Registry.childSpec("rooms", { name: "rooms" })
    const top = await Supervisor.start(system, { children: [child] })
    const rooms: Registry.RegistryTarget =
      kind === "a registered name" ? Process.named(system, "rooms") : Supervisor.via(top, "rooms")
    const hall = Registry.via(rooms, "hall")
    const first = await GenServer.start(system, bank(), undefined, { via: hall })
    expect([Registry.whereis(rooms, "hall"), hall.whereis(), Registry.count(rooms)]).toEqual([first, first, 1])
    Process.kill(rooms.whereis() as Pid)
    await hop()
    expect([Registry.lookup(rooms, "hall"), hall.whereis(), Process.isAlive(first)]).toEqual([[], undefined, false])
    const second = await GenServer.start(system, bank(), undefined, { via: hall })
    expect([Registry.lookup(rooms, "hall"), await GenServer.call(hall, "get")]).toEqual([
      [{ pid: second, value: undefined }],
      0
    ])
  }
)

test("what is no registry is refused with what to pass, and the address of none has no process", async () => {
  expect(() => Registry.lookup(undefined as never, "k")).toThrow("pass a pid or an address")
  expect(() => Registry.count(sleeper(system) as never)).toThrow("pass what Registry.start resolved with")
  const nowhere = Process.named(system, "nowhere")
  const noproc = expect.objectContaining({ _tag: "CallExit", reason: "noproc" })
  expect(() => Registry.lookup(nowhere, "k")).toThrow(noproc)
  expect(Registry.via(nowhere, "k").whereis()).toBeUndefined()
  await expect(GenServer.call(Registry.via(nowhere, "k"), "get")).rejects.toEqual(noproc)
  const topics = await Registry.start(system, { keys: "duplicate", name: "topics" })
  expect(() => Registry.via(Process.named(system, "topics"), "k")).toThrow(TypeError)
  expect(Registry.count(topics)).toBe(0)
})
