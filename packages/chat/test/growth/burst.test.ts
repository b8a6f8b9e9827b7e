/** What becomes of many chats that begin at once on a machine that is too slow for them. */
import { Clock, System } from "@troupe/otp"
import { expect, test } from "vitest"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import { Troupe } from "../../src/troupe/Troupe.ts"

const adapter: Adapter = {
  name: "brief",
  stream: async function* () {
    yield { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "stop" }
  }
}

/** The host's time as a machine sees it that is so many times as slow: all of its deadlines come that much earlier. */
const slowMachine = (times: number): Clock.Clock => ({
  now: () => Clock.live.now() * times,
  setTimeout: (run, ms) => Clock.live.setTimeout(run, ms / times),
  clearTimeout: (id) => Clock.live.clearTimeout(id)
})

test(
  "PCALL3 when 10,000 new chats begin at once on a machine fifty times as slow, each turn completes",
  { timeout: 240_000 },
  async () => {
    const system = System.make({ clock: slowMachine(50) })
    const troupe = await Troupe.start({ adapter, system })
    const ends = new Map<unknown, number>()
    const turn = async (id: string): Promise<unknown> => {
      const chat = await troupe.chat(id)
      return (await chat.send("go").result()).haltedReason
    }
    const turns = Array.from({ length: 10_000 }, async (_, at) => {
      const end = await turn(`c${at}`).catch((error: unknown) => String(error))
      ends.set(end, (ends.get(end) ?? 0) + 1)
    })
    await Promise.all(turns)
    expect(ends).toEqual(new Map([["completed", 10_000]]))
    await troupe.stop()
    await System.stop(system)
  }
)
