import { expect, test } from "vitest"
import { createActor, createMachine, fromCallback, spawnChild } from "xstate"
import { Process, StateMachine, System } from "../../src/index.ts"
import { dearer } from "./cost.ts"

const count = 500

const child = fromCallback(() => {})

const machine = createMachine({
  on: { go: { actions: Array.from({ length: count }, (_, index) => spawnChild(child, { id: `c${index}` })) } }
})

/** Spawns many children in one step, and kills the machine with them. */
const inProcesses = () => {
  const system = System.make()
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

const byXState = () => {
  const actor = createActor(machine).start()
  actor.send({ type: "go" })
  actor.stop()
}

// XState copies the list of children for each child, so its own cost grows faster than their number.
test("a machine starts and ends many children in processes at no more than three times XState's own cost", async () => {
  expect(await dearer(5, { run: inProcesses }, { run: byXState })).toBeLessThan(3)
})
