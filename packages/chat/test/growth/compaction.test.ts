import { Session } from "node:inspector/promises"
import { expect, test } from "vitest"
import { make } from "../../src/compaction/makeCompactor.ts"
import { Fake, type LocalChatRef, tool, Troupe, type TroupeOptions } from "../../src/index.ts"
import { assistant, user } from "../../src/model/Message.ts"
import { memory } from "../../src/store/Store.ts"
import { dearer, type Measured } from "./cost.ts"

/** What is linear in the messages would cost a hundred times as much. GROW1 counts the copies. */
const bound = 1.6
const compaction = make({ maxTokens: 1_000_000 })
const adapter = Fake.make({ respond: () => [{ text: "Well." }, { finish: "stop" }] })

/** Turns of a chat with so many messages; of a compacted one, a compaction leaves out all but the last 50. */
const turnsOf = async (
  count: number,
  isCompacted: boolean
): Promise<Measured & { readonly stop: () => Promise<void> }> => {
  const store = memory()
  const messages = Array.from({ length: count }, (_, at) => (at % 2 === 0 ? user(`said ${at}`) : assistant("Well.")))
  const left = { upTo: count - 50, kept: [], summary: "They talked.", tokens: { before: 2, after: 1 } }
  await store.append("c", [
    { type: "MessagesAdded", messages },
    ...(isCompacted ? [{ type: "Compacted", compaction: left } as const] : [])
  ])
  const troupe = await Troupe.start({ adapter, store, compaction })
  const chat = await troupe.chat("c")
  return {
    run: async () => {
      for (let turn = 0; turn < 100; turn++) expect((await chat.send("On").result()).haltedReason).toBe("completed")
    },
    stop: async () => {
      if (isCompacted) expect(adapter.requests.at(-1)?.messages.length).toBeLessThan(3_000)
      await troupe.stop()
    }
  }
}

test.each([
  ["that is compacted", true],
  ["whose compaction is not due", false]
])("a turn of a chat %s costs behind 10,000 messages what it costs behind 100", async (_, isCompacted) => {
  const [many, few] = [await turnsOf(10_000, isCompacted), await turnsOf(100, isCompacted)]
  expect(await dearer(7, many, few)).toBeLessThan(bound)
  await many.stop()
  await few.stop()
})

test("GROW1: the chat and its store have one list of 32 messages or more, also behind calls, a restart and other chats", async () => {
  const store = memory()
  const open = async () => {
    const troupe = await Troupe.start({ adapter: calling, tools: [look], store })
    return { troupe, chat: await troupe.chat("c") }
  }
  for (let program = 0; program < 2; program++) {
    const { troupe, chat } = await open()
    const other = await troupe.chat(`other ${program}`)
    for (let turn = 0; turn < 12; turn++) {
      await chat.send("On").result()
      await other.send("On").result()
    }
    expect((await store.load("c"))?.thread.messages).toBe(chat.thread.messages)
    await troupe.stop()
  }
})

type Sent = Parameters<LocalChatRef["send"]>[1]

/** How often functions of this package and of its processes are called in a turn of a chat: the fewest of some. */
const callsOf = async (options: TroupeOptions, sent?: Sent): Promise<number> => {
  const troupe = await Troupe.start(options)
  const chat = await troupe.chat("c")
  const session = new Session()
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false })
  let least = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < 10; turn++) {
    await session.post("Profiler.takePreciseCoverage")
    await chat.send("On", sent).result()
    const { result } = await session.post("Profiler.takePreciseCoverage")
    const functions = result.flatMap((file) => (/\/(?:chat|otp)\/src\//.test(file.url) ? file.functions : []))
    const calls = functions.reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0)
    least = Math.min(least, calls)
  }
  session.disconnect()
  await troupe.stop()
  return least
}

/** Each turn has a call, parts, and a count of the provider. */
const calling = Fake.make({
  respond: ({ messages }) => {
    const usage = { inputTokens: 100, outputTokens: 10 }
    const isAsked = messages.at(-1)?.role === "user"
    return isAsked
      ? [
          { reasoning: "So." },
          { toolCall: { id: `c${messages.length}`, name: "look", arguments: {} } },
          { usage },
          { finish: "tool_calls" }
        ]
      : [{ reasoning: "So." }, { text: "Well." }, { usage }, { finish: "stop" }]
  }
})
const look = tool({ name: "look", execute: () => "nothing" })

test.each<[string, TroupeOptions, Sent?]>([
  ["an answer", { adapter }],
  ["a call", { adapter: calling, tools: [look] }],
  ["options of its own", { adapter, temperature: 1 }, { options: { temperature: 0 } }]
])(
  "a compaction that is configured and not due adds at most 5 calls of functions to a turn with %s",
  async (_, options, sent) => {
    const without = await callsOf(options, sent)
    const configured = await callsOf({ ...options, compaction }, sent)
    expect(without).toBeGreaterThan(500)
    expect(configured - without).toBeLessThanOrEqual(5)
  }
)
