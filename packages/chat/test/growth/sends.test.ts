import { expect, test } from "vitest"
import { Channel } from "@troupe/otp"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { says } from "../double/scripts.ts"
import { dearer, type Measured } from "./cost.ts"

const check = leakCheck()

/** What is quadratic costs ten times as much for each; what is linear may still miss the processor's caches. */
const bound = 4
const rounds = 7

/** How many times dearer each one is among ten times as many. */
const growth = async (few: number, run: (count: number) => Measured): Promise<number> =>
  (await dearer(rounds, run(few * 10), run(few))) / 10

test("a fifo costs the same for each of ten times as many", async () => {
  const passing = (count: number): Measured => ({
    run: () => {
      const fifo = new Channel.Fifo<number>()
      for (let index = 0; index < count; index++) fifo.push(index)
      while (fifo.size > 0) fifo.shift()
    }
  })
  expect(await growth(50_000, passing)).toBeLessThan(bound)
})

test("a send to a busy chat costs little more behind sixteen times as many, until its receipt", async () => {
  const adapter = check.fake({ script: [{ hang: true }] })
  const { troupe } = await check.troupe({ adapter, maxWaitingInputs: Infinity, maxWaitingBytes: Infinity })
  let chats = 0
  const busyChat = async () => {
    const chat = await troupe.chat(`c${chats++}`)
    chat.send("go")
    await until(() => adapter.open === 1)
    return chat
  }
  let chat = await busyChat()
  const sending = (count: number): Measured => ({
    run: async () => {
      const turns = Array.from({ length: count }, () => chat.send("more"))
      await Promise.all(turns.map((turn) => turn.receipt))
    },
    undo: async () => {
      await chat.stop()
      chat = await busyChat()
    }
  })
  // The collector makes sends among many dearer, and the list of those that wait is copied. A square would be 16.
  expect((await dearer(rounds, sending(16_000), sending(1_000))) / 16).toBeLessThan(8)
}, 240_000)

test("a large input costs the same behind ten times as many, until its receipt and until its turn", async () => {
  const large = "x".repeat(95_000)
  const adapter = check.fake({ respond: (_, call) => (call % 2 === 0 ? [{ hang: true }] : says("fine")) })
  const { troupe } = await check.troupe({ adapter, maxWaitingInputs: 1_001, maxWaitingBytes: 1e8 })
  let chats = 0
  const sending = (count: number): Measured => ({
    run: async () => {
      const chat = await troupe.chat(`c${chats++}`)
      chat.send("go")
      await until(() => adapter.open === 1)
      const turns = Array.from({ length: count }, () => chat.send(large, { whenBusy: "steer" }))
      await Promise.all(turns.map((turn) => turn.receipt))
      const last = chat.send("now", { whenBusy: "interrupt" })
      await last.result()
      await chat.stop()
    }
  })
  expect(await growth(100, sending)).toBeLessThan(bound)
}, 120_000)
