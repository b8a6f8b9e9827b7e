import { describe, expect, test } from "vitest"
import { SessionError } from "../../src/errors/ChatError.ts"
import { make } from "../../src/tool/Tool.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, readAll, says, tagsOf } from "../double/scripts.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const check = leakCheck()

const waitingChat = async (scripts: ReadonlyArray<Script>) => {
  const adapter = check.fake({ scripts })
  const { troupe } = await check.troupe({ adapter, tools: [make({ name: "m", manual: true })] })
  return { adapter, chat: await troupe.chat("c") }
}

describe("a chat that waits for tool results", () => {
  test("goes on with all of them, and the thread pairs up", async () => {
    const { adapter, chat } = await waitingChat([calls("m", "m"), says("thanks")])
    expect((await chat.send("go").result()).haltedReason).toBe("manual_tool_calls")
    expect(chat.getSnapshot()?.value).toBe("awaitingTools")
    const result = await chat.submitToolResults({ c0: "zero", c1: { one: 1 } }).result()
    expect(result.haltedReason).toBe("completed")
    expect(adapter.requests[1]?.messages.slice(-2)).toMatchObject([
      { role: "tool", toolCallId: "c0", content: "zero" },
      { role: "tool", toolCallId: "c1", content: '{"one":1}' }
    ])
  })

  test("refuses anything else, and still waits", async () => {
    const { adapter, chat } = await waitingChat([calls("m", "m"), says("thanks")])
    await chat.send("go").result()
    const refused = [chat.send("what?"), chat.retry(), chat.submitToolResults({ c0: 1 })]
    for (const turn of refused) {
      await expect(turn.result()).rejects.toMatchObject({ _tag: "SessionError", reason: "awaiting_tool_results" })
      await expect(readAll(turn)).rejects.toBeInstanceOf(SessionError)
    }
    expect(() => chat.submitToolResults({ c0: 1, c9: 2 })).toThrow("c9")
    expect(chat.getSnapshot()?.value).toBe("awaitingTools")
    expect(adapter.requests).toHaveLength(1)
  })

  test("puts the results in the order of its calls, however they are given", async () => {
    const { chat } = await waitingChat([calls("m", "m"), says("thanks")])
    await chat.send("go").result()
    const { thread } = await chat.submitToolResults({ c1: "one", c0: "zero" }).result()
    expect(thread.messages.slice(2, 4)).toMatchObject([
      { toolCallId: "c0", content: "zero" },
      { toolCallId: "c1", content: "one" }
    ])
  })

  test("takes nothing for results that is none", async () => {
    const { adapter, chat } = await waitingChat([calls("m"), says("thanks")])
    await chat.send("go").result()
    for (const results of [undefined, null, "c0", ["zero"]]) {
      expect(() => chat.submitToolResults(results as never)).toThrow("must_be_an_object of results")
    }
    expect(adapter.requests).toHaveLength(1)
  })

  test("keeps the turns that were sent before it had to wait, and runs them when it has its results", async () => {
    const { adapter, chat } = await waitingChat([calls("m"), says("thanks"), says("and"), says("well")])
    const [first, ...queued] = [chat.send("go"), chat.send("and?"), chat.send("well?")]
    expect((await first.result()).haltedReason).toBe("manual_tool_calls")
    for (const turn of queued) expect(await turn.receipt).toEqual({ status: "pending" })
    expect(adapter.requests).toHaveLength(1)
    expect((await chat.submitToolResults({ c0: 1 }).result()).haltedReason).toBe("completed")
    for (const turn of queued) expect((await turn.result()).haltedReason).toBe("completed")
    expect(chat.thread.messages.map(({ content }) => content)).toEqual([
      "go",
      "",
      "1",
      "thanks",
      "and?",
      "and",
      "well?",
      "well"
    ])
  })

  test("keeps waiting after a restart", async () => {
    const adapter = check.fake({ scripts: [calls("m"), says("thanks")] })
    const { troupe } = await check.troupe({ adapter, tools: [make({ name: "m", manual: true })] })
    const chat = await troupe.chat("c")
    await chat.send("go").result()
    await chat.stop()
    const again = await troupe.chat("c")
    expect(again.getSnapshot()?.value).toBe("awaitingTools")
    const events = await readAll(again.submitToolResults({ c0: 1 }))
    expect(tagsOf(events).at(-1)).toBe("chat_completed")
  })
})

test("REFUSE1 a chat that waits for no results refuses a turn that gives none, and asks the model nothing", async () => {
  const { adapter, chat } = await waitingChat([calls("m"), says("thanks"), says("again")])
  const none = { _tag: "SessionError", reason: "invalid_status_for_operation" }
  await expect(chat.submitToolResults({}).result()).rejects.toMatchObject(none)
  await chat.send("go").result()
  const [given, empty] = [chat.submitToolResults({ c0: 1 }), chat.submitToolResults({})]
  await expect(empty.result()).rejects.toMatchObject({ reason: "awaiting_tool_results" })
  const { thread } = await given.result()
  await expect(chat.submitToolResults({}).result()).rejects.toMatchObject(none)
  expect(adapter.requests).toHaveLength(2)
  expect(chat.thread).toEqual(thread)
  expect((await chat.retry().result()).finalResponse?.outputText).toBe("again")
})
