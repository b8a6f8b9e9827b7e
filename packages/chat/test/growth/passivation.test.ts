/** What chats that were unloaded cost their Troupe. */
import { expect, test } from "vitest"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import type { RecordStore } from "../../src/store/sessionStore.ts"
import { hop } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"

const check = leakCheck()

/** A model that keeps nothing. */
const forgetful: Adapter = {
  name: "forgetful",
  stream: async function* () {
    yield { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "stop" }
  }
}

/** Long enough for any chat that rests. */
const restMs = 1_250

test("PASS3 a passivated chat without a reference costs the Troupe nothing beside a living one", async () => {
  const store: RecordStore = { load: () => undefined, save: () => {}, delete: () => {} }
  const { troupe, clock } = await check.troupe({ adapter: forgetful, passivateAfterMs: 1_000, store })
  const { gc } = globalThis
  if (gc === undefined) throw new Error("run this with --expose-gc")
  const held = async () => {
    for (let turn = 0; turn < 5; turn++) {
      await hop()
      gc()
    }
    return process.memoryUsage().heapUsed
  }
  const begin = async (name: string) => {
    for (let index = 0; index < 1_000; index++) await (await troupe.chat(`${name}${index}`)).send("go").result()
  }
  await begin("warm")
  await clock.advance(restMs)
  let [before, living] = [await held(), 0]
  const grown: number[] = []
  // The engine drops and compiles some 300 kB of code again at times of its own; a chat that stays adds to each round.
  for (const round of ["one", "two", "three"]) {
    await begin(round)
    living = Math.max(living, (await held()) - before)
    await clock.advance(restMs)
    const rest = await held()
    grown.push(rest - before)
    before = rest
  }
  expect(Math.min(...grown)).toBeLessThan(living / 20)
}, 60_000)
