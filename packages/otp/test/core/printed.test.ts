import { inspect } from "node:util"
import { expect, test } from "vitest"
import * as Process from "../../src/process/Process.ts"
import * as System from "../../src/system/System.ts"

test("SHOWN1. a pid is printed as one line with its label, dead or alive", async () => {
  const system = System.make()
  const pid = Process.spawn(system, () => new Promise(() => {}), { label: "worker" })
  expect(inspect(pid)).toBe(`${pid} worker`)
  expect(inspect({ pid }, { compact: true })).toBe(`{ pid: ${pid} worker }`)
  await System.stop(system)
  expect(inspect(pid)).toBe(`${pid} worker (dead)`)
})

test("SHOWN1. a system is printed as one line, and a name without the system's insides", async () => {
  const system = System.make({ name: "shop" })
  Process.spawn(system, () => new Promise(() => {}))
  expect(inspect(system)).toBe("System(shop, processes: 1)")
  expect(inspect(Process.named(system, "till"))).toContain("system: System(shop, processes: 1)")
  await System.stop(system)
  expect(inspect(system)).toBe("System(shop, processes: 0, stopped)")
})
