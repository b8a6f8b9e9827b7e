import { expect, test } from "vitest"
import { GenServer, Process, SystemMessage } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { Storm } from "./storm.ts"

const size = 10_000

const passive = GenServer.make<void, null>({ init: () => GenServer.ok(null) })

/** Servers that nobody is linked to, each monitored. */
const crowd = (storm: Storm, count = size): ReadonlyArray<Pid> =>
  Array.from({ length: count }, () => {
    const pid = storm.watch(GenServer.spawnLink(storm.ground, passive, undefined))
    Process.unlink(storm.ground, pid)
    return pid
  })

const linkAll = (pairs: Iterable<readonly [Pid | undefined, Pid | undefined]>): void => {
  for (const [one, other] of pairs) if (one !== undefined && other !== undefined) Process.link(one, other)
}

const reasons = (pids: ReadonlyArray<Pid>): ReadonlyArray<unknown> => [...new Set(pids.map(Process.exitReason))]

test("DEATH3 KERN2 a chain of 10,000 links is dead when the signal returns, without recursion", async () => {
  const storm = new Storm()
  const pids = crowd(storm)
  linkAll(pids.map((pid, index) => [pid, pids[index + 1]]))
  const [first] = pids
  if (first !== undefined) Process.exit(first, "boom")
  expect(pids.filter(Process.isAlive)).toEqual([])
  expect(reasons(pids)).toEqual(["boom"])
  await storm.settled()
  await storm.over()
})

test("DEATH1 in a ring that dies from two sides everybody dies once, of the signal that came first", async () => {
  const storm = new Storm()
  const pids = crowd(storm)
  linkAll(pids.map((pid, index) => [pid, pids[(index + 1) % size]]))
  const [first, opposite] = [pids[0], pids[size / 2]]
  if (first !== undefined) Process.exit(first, "one")
  if (opposite !== undefined) Process.exit(opposite, "other")
  expect(reasons(pids)).toEqual(["one"])
  await storm.settled()
  await storm.over()
})

test("a kill in the middle of a star of 10,000 links reaches all of them as killed", async () => {
  const storm = new Storm()
  const [hub, ...rays] = crowd(storm)
  linkAll(rays.map((ray) => [hub, ray]))
  if (hub !== undefined) Process.kill(hub)
  expect(reasons(rays)).toEqual(["killed"])
  await storm.settled()
  await storm.over()
})

test("a dense crowd in which everybody is linked to a hundred others dies at once, with one DOWN each", async () => {
  const storm = new Storm()
  const pids = crowd(storm, 500)
  linkAll(pids.flatMap((pid, index) => Array.from({ length: 100 }, (_, step) => [pid, pids[(index + step * 7) % 500]])))
  const [, victim] = pids
  if (victim !== undefined) Process.exit(victim, "boom")
  expect(reasons(pids)).toEqual(["boom"])
  await storm.settled()
  await storm.over()
})

test("a process that traps exits survives the storm, and gets the exit of each of its 10,000 links once", async () => {
  const storm = new Storm()
  const seen = new Map<Pid, number>()
  const rock = GenServer.spawnLink(
    storm.ground,
    GenServer.make<void, null>({
      init: () => GenServer.ok(null),
      handleInfo: (message) => {
        if (SystemMessage.isExit(message)) seen.set(message.from, (seen.get(message.from) ?? 0) + 1)
      }
    }),
    undefined,
    { trapExit: true }
  )
  const pids = crowd(storm)
  linkAll(pids.flatMap((pid, index) => [[pid, pids[index + 1]] as const, [pid, rock] as const]))
  const [first] = pids
  if (first !== undefined) Process.exit(first, "boom")
  await storm.settled(() => [rock])
  expect([seen.size, new Set(seen.values())]).toEqual([size, new Set([1])])
  expect(Process.info(rock)?.links).toEqual([storm.ground])
  await storm.over()
})

test("CELL1 processes that die while others link to them, unlink and monitor leave nothing in anybody", async () => {
  const storm = new Storm()
  const pids = crowd(storm, 1000)
  const [keeper, ...others] = pids
  if (keeper === undefined) throw new Error("nobody was started")
  Process.trapExit(keeper, true)
  for (const [index, pid] of others.entries()) {
    Process.link(keeper, pid)
    const ref = Process.monitor(keeper, pid)
    if (index % 3 === 0) Process.unlink(keeper, pid)
    if (index % 2 === 0) Process.demonitor(ref)
    Process.exit(pid, "boom")
    if (index % 5 === 0) Process.link(keeper, pid)
  }
  await storm.settled(() => [keeper])
  expect(Process.info(keeper)).toMatchObject({ links: [], queueLength: 0 })
  await storm.over()
})
