import { afterEach, beforeEach, expect, test } from "vitest"
import { Observer, Process, Supervisor, System } from "../src/index.ts"
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
  expect(shown).toBe(
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
