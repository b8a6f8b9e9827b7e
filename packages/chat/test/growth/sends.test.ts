import { expect, test } from "vitest"
import { Fifo } from "../../src/internal/fifo.ts"
import { WaitingLine } from "../../src/internal/waitingLine.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"

const check = leakCheck()

/** What is quadratic costs ten times as much for each; what is linear may still miss the processor's caches. */
const bound = 4
const rounds = 7

/** Milliseconds for each of `count`, at best. */
const cheapest = async (count: number, run: (count: number) => number | Promise<number>): Promise<number> => {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) best = Math.min(best, (await run(count)) / count)
  return best
}

const growth = async (few: number, run: (count: number) => number | Promise<number>): Promise<number> => {
  await run(few)
  const small = await cheapest(few, run)
  return (await cheapest(few * 10, run)) / small
}

test("LINE1 adding to a line and taking from it cost the same for each of ten times as many", async () => {
  const cost = (count: number): number => {
    const began = performance.now()
    let line = WaitingLine.of<number>([])
    for (let index = 0; index < count; index++) line = line.push(index)
    while (line.size > 0) line = line.rest()
    return performance.now() - began
  }
  expect(await growth(10_000, cost)).toBeLessThan(bound)
})

test("a fifo costs the same for each of ten times as many", async () => {
  const cost = (count: number): number => {
    const began = performance.now()
    const fifo = new Fifo<number>()
    for (let index = 0; index < count; index++) fifo.push(index)
    while (fifo.size > 0) fifo.shift()
    return performance.now() - began
  }
  expect(await growth(50_000, cost)).toBeLessThan(bound)
})

test("a send to a busy chat costs the same behind ten times as many, until its receipt", async () => {
  const adapter = check.fake({ script: [{ hang: true }] })
  const { troupe } = await check.troupe({ adapter })
  let chats = 0
  const cost = async (count: number): Promise<number> => {
    const chat = await troupe.chat(`c${chats++}`)
    chat.send("go")
    await until(() => adapter.open === 1)
    const began = performance.now()
    const turns = Array.from({ length: count }, () => chat.send("more"))
    await Promise.all(turns.map((turn) => turn.receipt))
    const took = performance.now() - began
    await chat.stop()
    return took
  }
  expect(await growth(1_000, cost)).toBeLessThan(bound)
}, 60_000)
