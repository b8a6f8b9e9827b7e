import { expect, test } from "vitest"
import { createMachine, fromCallback, spawnChild } from "xstate"
import { Process, StateMachine, System } from "../../src/index.ts"
import { dearer } from "./cost.ts"

const child = fromCallback(() => {})

const storm = (count: number) => {
  const actions = Array.from({ length: count }, (_, index) => spawnChild(child, { id: `c${index}` }))
  return createMachine({ on: { go: { actions } } })
}

/** Spawns so many children in one step, and kills the machine with them. */
const spawning = (count: number) => {
  const system = System.make()
  const machine = storm(count)
  return () => {
    const pid = StateMachine.start(system, machine)
    Process.send(pid, { type: "go" })
    return new Promise<void>((resolve) =>
      setImmediate(() => {
        expect(System.stats(system).processes).toBe(count + 1)
        Process.kill(pid)
        expect(System.stats(system).processes).toBe(0)
        resolve()
      })
    )
  }
}

test("a machine starts and ends children at a cost that grows with their number, and no faster", async () => {
  const ratio = await dearer(5, { run: spawning(5_000) }, { run: spawning(500) })
  expect(ratio).toBeLessThan(30)
})
