import { Agents } from "../../src/agents.ts"
import { Fake, type RunningTroupe, tool, Troupe } from "../../src/index.ts"
import { afterEach, expect, test } from "vitest"
import { Store } from "../../src/store.ts"

let troupe: RunningTroupe | undefined
afterEach(() => troupe?.stop())

const calls = (...ids: ReadonlyArray<string>) => [
  ...ids.map((id) => ({ toolCall: { id, name: "sample" } })),
  { usage: { inputTokens: 10, outputTokens: 0, totalTokens: 10 } },
  { finish: "tool_calls" as const }
]
const says = [
  { text: "Done." },
  { usage: { inputTokens: 1, outputTokens: 0, totalTokens: 1 } },
  { finish: "stop" as const }
]

/** A tool that sends requests of 30 tokens as long as it may, at most three. */
const sampling = (limits: Array<string | undefined>) =>
  tool({
    name: "sample",
    execute: (_, { chat }) => {
      for (let sent = 0; sent < 3; sent++) {
        const limit = chat?.exhausted?.()
        limits.push(limit)
        if (limit !== undefined) return "no budget"
        chat?.count?.({ totalTokens: 30 })
      }
      return "sampled"
    }
  })

test("SUB8. the requests of a call count for the usage, the step and the budget of its chat, and stop when the budget is used up", async () => {
  const limits: Array<string | undefined> = []
  const adapter = Fake.make({ scripts: [calls("c1"), says] })
  troupe = await Troupe.start({ adapter, tools: [sampling(limits)], budget: { tokens: 60 } })
  const chat = await troupe.chat("a")
  const result = await chat.send("Go").result()
  expect(limits).toEqual([undefined, undefined, "budget_tokens"])
  expect(result.haltedReason).toBe("budget_tokens")
  expect(result.steps[0]?.childUsage).toEqual({ totalTokens: 60 })
  expect(chat.getSnapshot()?.context.usage.totalTokens).toBe(70)
})

test("SUB8. the requests of the calls of one step share the budget", async () => {
  const limits: Array<string | undefined> = []
  const adapter = Fake.make({ scripts: [calls("c1", "c2"), says] })
  troupe = await Troupe.start({ adapter, tools: [sampling(limits)], budget: { tokens: 125 } })
  await (await troupe.chat("a")).send("Go").result()
  expect(limits).toEqual([undefined, undefined, undefined, undefined, "budget_tokens"])
})

test("SUB8. a request of a call below counts for the budget of the chat above", async () => {
  const limits: Array<string | undefined> = []
  const adapter = Fake.make({
    scripts: [[{ toolCall: { id: "p", name: "clerk", arguments: { input: "Go" } } }, { finish: "tool_calls" }]]
  })
  const clerk = { adapter: Fake.make({ scripts: [calls("c1"), says] }), tools: [sampling(limits)], budget: {} }
  troupe = await Troupe.start({ adapter, tools: [Agents.subagent("clerk")], agents: { clerk }, budget: { tokens: 35 } })
  const result = await (await troupe.chat("a")).send("Go").result()
  expect(limits).toEqual([undefined, "budget_tokens"])
  expect(result.haltedReason).toBe("budget_tokens")
  expect(result.steps[0]?.childUsage?.totalTokens).toBe(40)
})

test("SUB7. the usage of a call that waits for a person counts once, also when it runs again after a restart", async () => {
  const asking = tool({
    name: "sample",
    execute: (_, { chat }) => {
      chat?.count?.({ totalTokens: 30 })
      return chat?.answered === undefined ? chat?.waitFor?.([{ id: "q", question: "Go on?" }]) : "sampled"
    }
  })
  const store = Store.memory()
  const adapter = Fake.make({ scripts: [calls("c1"), says] })
  troupe = await Troupe.start({ adapter, tools: [asking], store })
  await (await troupe.chat("a")).send("Go").result()
  expect((await troupe.chat("a")).getSnapshot()?.context.usage.totalTokens).toBe(40)
  await troupe.stop()
  troupe = await Troupe.start({ adapter, tools: [asking], store })
  const chat = await troupe.chat("a")
  const [wait] = (await troupe.waiting()).waits
  await chat.approve(wait?.toolCallId ?? "", { type: "result", value: "yes" }).result()
  expect(chat.getSnapshot()?.context.usage.totalTokens).toBe(71)
})

test("SUB7. a request that was sent before its call was cancelled counts", async () => {
  const sent = Promise.withResolvers<void>()
  const hanging = tool({
    name: "sample",
    execute: async (_, { chat, signal }) => {
      chat?.count?.({ totalTokens: 30 })
      sent.resolve()
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)))
      return "never"
    }
  })
  troupe = await Troupe.start({ adapter: Fake.make({ scripts: [calls("c1")] }), tools: [hanging] })
  const chat = await troupe.chat("a")
  const turn = chat.send("Go")
  await sent.promise
  await chat.cancel()
  await turn.result()
  expect(chat.getSnapshot()?.context.usage.totalTokens).toBe(40)
})
