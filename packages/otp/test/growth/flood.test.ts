import { expect, test } from "vitest"
import { GenServer, Process } from "../../src/index.ts"
import { until } from "../double/hop.ts"
import { Storm } from "../adversarial/storm.ts"

const million = 1_000_000

const collect = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const adder = GenServer.make<void, number, "total", number, number, number>({
  init: () => GenServer.ok(0),
  handleCall: (_request, _from, total) => GenServer.replying(total, total),
  handleCast: (message, total) => GenServer.noreply(total + message),
  handleInfo: (message, total) => GenServer.noreply(typeof message === "number" ? total + message : total)
})

test("MBOX1 a million messages to one process are all taken, in their order", async () => {
  const storm = new Storm()
  let expected = 0
  const orderly = GenServer.make<void, null, never, never, never, number>({
    init: () => GenServer.ok(null),
    handleInfo: (message, state) => {
      if (message !== expected) throw new Error(`something else came instead of ${expected}`)
      expected++
      return GenServer.noreply(state)
    }
  })
  const pid = storm.watch(GenServer.spawnLink(storm.ground, orderly, undefined))
  for (let index = 0; index < million; index++) Process.send(pid, index)
  expect(Process.info(pid)?.queueLength).toBe(million)
  await until(() => expected === million || !Process.isAlive(pid))
  await storm.settled(() => [pid])
  await storm.over()
})

test("RUN2 others are served while one process takes a million messages", async () => {
  const storm = new Storm()
  const flooded = storm.watch(GenServer.spawnLink(storm.ground, adder, undefined))
  const other = storm.watch(GenServer.spawnLink(storm.ground, adder, undefined))
  for (let index = 0; index < million; index++) GenServer.cast(flooded, 1)
  expect(await GenServer.call(other, "total")).toBe(0)
  expect(Process.info(flooded)?.queueLength).toBeGreaterThan(million / 2)
  expect(await GenServer.call(flooded, "total", { timeout: "infinity" })).toBe(million)
  await storm.over()
})

test("DEATH2 a process killed under a million messages frees them, and a call that waits behind them fails", async () => {
  const storm = new Storm()
  const pid = GenServer.spawnLink(storm.ground, adder, undefined)
  Process.unlink(storm.ground, pid)
  storm.watch(pid)
  const before = collect()
  for (let index = 0; index < million; index++) GenServer.cast(pid, index)
  const call = GenServer.call(pid, "total", { timeout: "infinity" })
  Process.kill(pid)
  await expect(call).rejects.toMatchObject({ reason: "killed" })
  expect(collect() - before).toBeLessThan(8_000_000)
  await storm.settled()
  await storm.over()
})

test("MBOX1 two processes that each answer a message with one, a million times, leave nothing queued", async () => {
  const storm = new Storm()
  let left = million
  const player = GenServer.make<void, null, never, never, never, GenServer.Server>({
    init: () => GenServer.ok(null),
    handleInfo: (partner, state, self) => {
      if (left-- > 0) Process.send(partner as typeof self, self)
      return GenServer.noreply(state)
    }
  })
  const [one, other] = [
    storm.watch(GenServer.spawnLink(storm.ground, player, undefined)),
    storm.watch(GenServer.spawnLink(storm.ground, player, undefined))
  ]
  Process.send(one, other)
  await until(() => left < 0)
  await storm.settled(() => [one, other])
  expect([one, other].map((pid) => Process.info(pid)?.queueLength)).toEqual([0, 0])
  await storm.over()
})

test("MBOX2 a selective receive finds its message behind 100,000 other messages, and leaves those", async () => {
  const storm = new Storm()
  const count = 100_000
  const found = new Promise((resolve) => {
    const pid = Process.spawn<string>(storm.system, async (self) => {
      resolve([
        await Process.receive(self, { match: (message) => message === "wanted" }),
        Process.info(self)?.queueLength,
        await Process.receive(self)
      ])
    })
    storm.watch(pid)
    for (let index = 0; index < count; index++) Process.send(pid, `other ${index}`)
    Process.send(pid, "wanted")
  })
  expect(await found).toEqual(["wanted", count, "other 0"])
  await storm.settled()
  await storm.over()
})
