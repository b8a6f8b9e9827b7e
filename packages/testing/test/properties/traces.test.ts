import { expect, test } from "vitest"
import { Store } from "@troupe/chat/store"
import * as Testing from "../../src/Testing.ts"
import { randomRun, stageOf } from "../double/randomRun.ts"
import { seedsOf } from "../../../../tooling/verify/volume.ts"

const seeds = seedsOf(200)

const recorded = (seed: number, heldMs?: number): Promise<string> =>
  randomRun(seed, stageOf(seed, Testing.trace), heldMs)

test("REC2 the same script, schedule and seed give the same trace, byte for byte; REPLAY1 so does its replay", async () => {
  for (const seed of seeds) {
    const trace = await recorded(seed)
    expect(await recorded(seed)).toBe(trace)
    const replayed = stageOf(seed, (options) => Testing.replay(trace, options))
    expect(await randomRun(seed, replayed)).toBe(trace)
  }
}, 120_000)

/** The stored rows of a run: every commit of the log, and the newest record with its draft. */
const rowsOf = async (seed: number): Promise<string> => {
  const stage = stageOf(seed, Testing.trace)
  const store = Store.memory({ clock: stage.clock })
  await randomRun(seed, stage, 0, store)
  const { chats } = await store.list()
  const rows = chats.map(async ({ id }) => ({
    record: await store.load(id),
    commits: await store.history(id, { limit: 200 })
  }))
  return JSON.stringify({ chats, rows: await Promise.all(rows) })
}

test("REC2 the same script, schedule and seed store the same rows, byte for byte", async () => {
  let stored = 0
  for (const seed of seeds) {
    const rows = await rowsOf(seed)
    expect(await rowsOf(seed)).toBe(rows)
    if (rows.includes('"commits":[{')) stored++
  }
  expect(stored).toBeGreaterThan(seeds.length / 2)
}, 120_000)

test("REC2 another seed gives another trace", async () => {
  expect(await recorded(1)).not.toBe(await recorded(2))
})

test("REC2 the trace is the same however long the host is held up", async () => {
  for (const seed of seedsOf(10)) expect(await recorded(seed, 3)).toBe(await recorded(seed))
})
