import { afterEach, beforeEach, expect, test } from "vitest"
import { createMachine } from "xstate"
import { GenServer, Observer, Process, StateMachine, Supervisor, Sys, System } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { sleeper } from "../double/inProcess.ts"
import { Crew } from "../double/worker.ts"

let system: System.System

beforeEach(() => {
  system = System.make()
})

afterEach(() => System.stop(system))

test("the tree follows who spawned whom, and counts restarts and queued messages", async () => {
  const crew = new Crew()
  const inner = Supervisor.childSpec("inner", { children: [crew.spec("b")] })
  await Supervisor.start(system, { label: "top", children: [crew.spec("a"), inner, crew.spec("c")] })
  const alone = sleeper(system, "alone")
  Process.send(alone, "unread")
  crew.stop("c", "boom")
  await hop()
  const shown = Observer.format(Observer.tree(system)).replaceAll(/<0\.\d+\.0>/g, "<>")
  expect(shown.split("\n").every((line) => /, \d+\.\d kB$/.test(line))).toBe(true)
  expect(shown.replaceAll(/, [\d.]+ kB/g, "")).toBe(
    [
      "top <> idle, 1 restarts",
      "├─ a <> idle",
      "├─ inner <> idle",
      "│  └─ b <> idle",
      "└─ c <> idle",
      "alone <> busy, 1 queued"
    ].join("\n")
  )
})

test("a process is running in its turn, queued before it, and idle in a receive", async () => {
  let seen: string | undefined
  const pid = Process.spawn(system, (self) => {
    seen = Process.info(self)?.status
    return Process.receive(self)
  })
  expect(Process.info(pid)?.status).toBe("queued")
  await hop()
  expect([seen, Process.info(pid)?.status]).toEqual(["running", "idle"])
})

test("the children of a dead process are roots", async () => {
  const parent = Process.spawn(system, (self) => {
    Process.spawnLink(self, () => new Promise(() => {}), { label: "child" })
  })
  await hop()
  expect(Process.isAlive(parent)).toBe(false)
  expect(Observer.tree(system).map((node) => node.label)).toEqual(["child"])
})

const keeper = GenServer.make<unknown, unknown>({ init: (state) => GenServer.ok(state) })

test("a node has the registered name of its process, and the text shows a name that is not the label", async () => {
  await GenServer.start(system, keeper, null, { name: "ledger", label: "accounts" })
  expect(Observer.tree(system)[0]).toMatchObject({ name: "ledger", label: "accounts", kind: "server" })
  expect(Observer.format(Observer.tree(system))).toMatch(/^accounts \(ledger\) <0\.1\.0> idle, [\d.]+ kB$/)
})

const memoryOf = (pid: Pid): number | undefined => Observer.tree(system).find((node) => node.pid === pid)?.memory

test("the memory estimate grows with the state and with the mail", async () => {
  const small = await GenServer.start(system, keeper, null)
  const large = await GenServer.start(system, keeper, new Map([["text", "x".repeat(100_000)]]))
  expect(memoryOf(large)).toBeGreaterThan(200_000)
  expect(memoryOf(small)).toBeLessThan(1000)
  const alone = sleeper(system)
  for (let index = 0; index < 1000; index++) Process.send(alone, "x".repeat(100))
  expect(memoryOf(alone)).toBeGreaterThan(200_000)
})

test("MEM1 a state that is huge, circular, or throws when looked at is estimated all the same", async () => {
  let looked = 0
  const circular: Array<unknown> = Array.from({ length: 100_000 }, () => ({
    get value() {
      return looked++
    }
  }))
  circular[0] = circular
  await GenServer.start(system, keeper, circular)
  await GenServer.start(system, keeper, {
    get value() {
      throw new Error("do not look")
    }
  })
  expect(Observer.tree(system).every((node) => node.memory > 0)).toBe(true)
  expect(looked).toBeLessThan(1000)
})

test("a suspended process is shown as suspended", async () => {
  const pid = await GenServer.start(system, keeper, null)
  await Sys.suspend(pid)
  expect(Observer.tree(system)[0]?.status).toBe("suspended")
  await Sys.resume(pid)
  expect(Observer.tree(system)[0]?.status).toBe("idle")
})

const sized = (nodes: ReadonlyArray<Observer.Node>): number =>
  nodes.reduce((sum, { children }) => sum + 1 + sized(children), 0)

const family = (label: string, below: number): Pid => {
  const parent = sleeper(system, label)
  for (let index = 0; index < below; index++) {
    Process.spawnLink(parent, () => new Promise(() => {}), { label: `${label}${index}` })
  }
  return parent
}

test("CUT1 a tree with room for all processes is the whole tree", () => {
  family("a", 3)
  expect(Observer.tree(system, { maxProcesses: 4 })).toEqual(Observer.tree(system))
})

test("CUT2 never more processes are shown than there is room for, and those left out are counted", () => {
  family("a", 30)
  family("b", 3)
  for (let room = 0; room < 35; room++) {
    const shown = Observer.tree(system, { maxProcesses: room })
    expect(sized(shown)).toBeLessThanOrEqual(room)
    if (room >= 8) expect(shown.map(({ hidden = 0, children }) => hidden + children.length)).toEqual([30, 3])
  }
})

test("CUT3 small subtrees are shown whole, and the largest gives up its oldest", () => {
  family("a", 30)
  family("b", 3)
  const [a, b] = Observer.tree(system, { maxProcesses: 15 })
  expect(b?.children.map(({ label }) => label)).toEqual(["b0", "b1", "b2"])
  expect(b?.hidden).toBe(undefined)
  expect(a?.children.at(-1)?.label).toBe("a29")
  expect(a?.hidden).toBe(20)
  expect(Observer.format([a].filter((node) => node !== undefined))).toMatch(
    /^a <0\.1\.0> queued, .* kB, 20 more below\n/
  )
})

test("CUT3 of too many siblings those with something below them are shown", () => {
  for (let index = 0; index < 50; index++) family(`s${index}`, index === 7 ? 2 : 0)
  const shown = Observer.tree(system, { maxProcesses: 24 })
  expect(shown.find(({ label }) => label === "s7")?.children).toHaveLength(2)
  expect(sized(shown)).toBe(24)
})

test("crashes and restarts are counted whether or not anybody looks", async () => {
  const crew = new Crew()
  await Supervisor.start(system, { label: "top", children: [crew.spec("a")] })
  expect(Observer.counts(system)).toEqual({ processes: 2, crashes: 0, restarts: 0 })
  crew.stop("a", "boom")
  await hop()
  expect(Observer.counts(system)).toEqual({ processes: 2, crashes: 1, restarts: 1 })
})

test("a process is found by the text of its pid while it lives, and nothing by any other text", () => {
  const one = sleeper(system, "one")
  const two = sleeper(system, "two")
  expect([Observer.find(system, `${one}`), Observer.find(system, `${two}`)]).toEqual([one, two])
  Process.kill(one)
  const others = [`${one}`, "", "<0.99.0>", "<0.-1.0>", " <0.2.0>", "<0.2.0>\n", `<0.${"9".repeat(40)}.0>`]
  expect(others.filter((text) => Observer.find(system, text) !== undefined)).toEqual([])
})

const clerk = GenServer.make({
  init: (state: unknown) => GenServer.ok(state),
  handleCast: (_request: unknown, state) => GenServer.noreply(state)
})

test("an inspection shows mail, state, links and monitors without a turn of the process", async () => {
  const other = sleeper(system, "other")
  const watched = sleeper(system, "watched")
  const pid = await GenServer.start(system, clerk, { balance: 3 }, { label: "account" })
  Process.link(pid, other)
  Process.monitor(pid, watched)
  GenServer.cast(pid, { add: 1 })
  Process.send(pid as Pid<unknown>, "hello")
  expect(Observer.inspect(pid)).toMatchObject({
    label: "account",
    kind: "server",
    queueLength: 2,
    mailbox: ["cast { add: 1 }", '"hello"'],
    state: "{ balance: 3 }",
    links: [other],
    monitors: [watched],
    chart: undefined
  })
  Process.kill(pid)
  expect(Observer.inspect(pid)).toBe(undefined)
})

test("an inspection is bounded, however full the mailbox and large the state is", async () => {
  const pid = await GenServer.start(system, keeper, { text: "x".repeat(100_000) })
  for (let index = 0; index < 500; index++) {
    Process.send(pid as Pid<unknown>, "y".repeat(10_000))
    Process.link(pid, sleeper(system))
  }
  const seen = Observer.inspect(pid)
  expect(seen?.mailbox).toHaveLength(50)
  expect(seen?.links).toHaveLength(100)
  expect(JSON.stringify(seen).length).toBeLessThan(20_000)
})

test("of a machine the chart and its state are shown", async () => {
  const lamp = createMachine({ id: "lamp", initial: "off", states: { off: { on: { press: "on" } }, on: {} } })
  const pid = StateMachine.start(system, lamp)
  expect(Observer.inspect(pid)?.chart).toEqual({ machine: "lamp", value: "off" })
  Process.send(pid, { type: "press" })
  await hop()
  expect(Observer.inspect(pid)?.chart).toEqual({ machine: "lamp", value: "on" })
})

test("SENS1 of a sensitive process the mail, the state and the chart are withheld", async () => {
  const pid = await GenServer.start(system, clerk, "secret")
  Process.flag(pid, "sensitive", true)
  GenServer.cast(pid, "secret")
  const seen = Observer.inspect(pid)
  expect([seen?.mailbox, seen?.state]).toEqual([["(sensitive)"], "(sensitive)"])
  const lamp = createMachine({ id: "lamp", initial: "off", states: { off: {} } })
  const machine = StateMachine.start(system, lamp)
  Process.flag(machine, "sensitive", true)
  expect(Observer.inspect(machine)?.chart).toBe(undefined)
})
