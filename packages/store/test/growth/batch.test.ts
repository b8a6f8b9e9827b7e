import { Fake, tool, Troupe } from "@troupe/chat"
import { afterAll, expect, test } from "vitest"
import { sqlite } from "../../src/index.ts"
import { Folder } from "../double/folder.ts"

const folder = new Folder()
afterAll(() => folder[Symbol.dispose]())

/** The milliseconds of the processor that this thread has had. */
const threadMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

const note = tool({ name: "note", effect: "write", execute: () => "noted" })

/** The processor's time of a turn whose reply has so many calls that write, per call. */
const costOfCall = async (calls: number, schedule: "effects" | "concurrent"): Promise<number> => {
  const store = sqlite(folder.file(), { durability: "process" })
  const reply = Array.from({ length: calls }, (_, at) => ({
    toolCall: { id: `call_${at}`, name: "note", arguments: {} }
  }))
  const adapter = Fake.make({
    scripts: [
      [...reply, { finish: "tool_calls" }],
      [{ text: "Done." }, { finish: "stop" }]
    ]
  })
  const troupe = await Troupe.start({ adapter, store, tools: [note], schedule })
  const chat = await troupe.chat("a")
  const began = threadMs()
  const { thread } = await chat.send("go").result()
  const cost = threadMs() - began
  expect(thread.messages.filter((message) => message.role === "tool" && message.outcome === "completed")).toHaveLength(
    calls
  )
  await troupe.stop()
  await store.close()
  return cost / calls
}

test.each(["effects", "concurrent"] as const)(
  "ROWS4 each of 128 calls of a reply that write, the most that run by default, costs at most twice as much as each of 32, with the schedule %s",
  { timeout: 240_000 },
  async (schedule) => {
    await costOfCall(32, schedule)
    let [few, many] = [Infinity, Infinity]
    for (let round = 0; round < 12; round++) {
      few = Math.min(few, await costOfCall(32, schedule))
      many = Math.min(many, await costOfCall(128, schedule))
    }
    expect(many / few).toBeLessThan(2)
  }
)
