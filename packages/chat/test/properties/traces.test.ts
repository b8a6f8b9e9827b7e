import { expect, test } from "vitest"
import * as Testing from "../../src/testing/Testing.ts"
import { randomRun, stageOf } from "../double/randomRun.ts"

const seeds = Array.from({ length: 200 }, (_, index) => index + 1)

const recorded = (seed: number, heldMs?: number): Promise<string> =>
  randomRun(seed, stageOf(seed, Testing.trace), heldMs)

test("REC2 the same script, schedule and seed give the same trace, byte for byte; REPLAY1 so does its replay; of 200 seeds", async () => {
  for (const seed of seeds) {
    const trace = await recorded(seed)
    expect(await recorded(seed)).toBe(trace)
    const replayed = stageOf(seed, (options) => Testing.replay(trace, options))
    expect(await randomRun(seed, replayed)).toBe(trace)
  }
}, 120_000)

test("REC2 another seed gives another trace", async () => {
  expect(await recorded(1)).not.toBe(await recorded(2))
})

test("REC2 the trace is the same however long the host is held up", async () => {
  for (const seed of seeds.slice(0, 10)) expect(await recorded(seed, 3)).toBe(await recorded(seed))
})
