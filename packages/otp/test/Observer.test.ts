import { afterEach, beforeEach, expect, test } from "vitest"
import { GenServer, Observer, Process, Supervisor, Sys, System } from "../src/index.ts"
import type { Pid } from "../src/index.ts"
import { hop } from "./double/hop.ts"
import { sleeper } from "./double/inProcess.ts"
import { Crew } from "./double/worker.ts"

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

test("a node tells what its process is registered as, and the text shows a name that is not the label", async () => {
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
