import { Message } from "@troupe/chat/messages"
import { describe, expect, test } from "vitest"
import * as z from "zod"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { says } from "../double/scripts.ts"
import { memory } from "../../src/store/Store.ts"
import { tool } from "../../src/tool/functionTool.ts"
import type { Request } from "../../src/model/index.ts"

const check = leakCheck()

const clock = tool({ name: "clock", execute: () => "noon" })
const where = tool({ name: "where", manual: true })

test("a turn has its own options beside those of its Troupe, and the next turn does not have them", async () => {
  const adapter = check.fake({ respond: () => says("done") })
  const { troupe } = await check.troupe({
    adapter,
    tools: [clock],
    instructions: "Be polite.",
    providerOptions: { seed: 1, topP: 1 }
  })
  const chat = await troupe.chat("c")
  const options = {
    tools: [where],
    instructions: "Be brief.",
    temperature: 0,
    providerOptions: { seed: 2 },
    toolChoice: "none"
  } as const
  await chat.send("go", { options }).result()
  await chat.send("on").result()
  const [own, next] = adapter.requests
  expect(own?.tools?.map(({ name }) => name)).toEqual(["clock", "where"])
  expect(own).toMatchObject({ temperature: 0, toolChoice: "none", options: { seed: 2, topP: 1 } })
  expect(own?.messages[0]).toEqual(Message.system("Be polite.\n\nBe brief."))
  expect(next?.tools?.map(({ name }) => name)).toEqual(["clock"])
  expect(next?.messages[0]).toEqual(Message.system("Be polite."))
  expect(next?.temperature).toBeUndefined()
})

test("an input that waits keeps its own options", async () => {
  let replies = 0
  const adapter = check.fake({ respond: () => (replies++ === 0 ? [{ text: "par" }, { hang: true }] : says("done")) })
  const { troupe } = await check.troupe({ adapter })
  const chat = await troupe.chat("c")
  chat.send("go")
  await until(() => adapter.open === 1)
  const waiting = chat.send("more", { options: { model: "small" } })
  await chat.cancel()
  await waiting.result()
  expect(adapter.requests.map(({ model }) => model)).toEqual([undefined, "small"])
})

test("a submission has its own options, and a message that follows the results", async () => {
  const toolCall = { toolCall: { id: "c0", name: "where" } }
  const adapter = check.fake({ scripts: [[toolCall, { finish: "tool_calls" }], says("in Oslo")] })
  const { troupe } = await check.troupe({ adapter, store: memory() })
  const chat = await troupe.chat("c")
  const asked = await chat.send("where?", { options: { tools: [where] } }).result()
  expect(asked.haltedReason).toBe("manual_tool_calls")
  const turn = chat.submitToolResults({ c0: "Oslo" }, { options: { tools: [where] }, input: "well?" })
  expect((await turn.result()).haltedReason).toBe("completed")
  expect(chat.thread.messages.map(({ content }) => content)).toEqual(["where?", "", "Oslo", "well?", "in Oslo"])
  expect(adapter.requests[1]?.tools?.map(({ name }) => name)).toEqual(["where"])
  expect(adapter.requests[1]?.messages.length).toBe(4)
})

test("a hook sees the message that follows the results of a submission", async () => {
  const toolCall = { toolCall: { id: "c0", name: "where" } }
  const adapter = check.fake({ scripts: [[toolCall, { finish: "tool_calls" }], says("in Oslo")] })
  const prompts: Array<unknown> = []
  const { troupe } = await check.troupe({
    adapter,
    tools: [where],
    store: memory(),
    hooks: {
      UserPromptSubmit: [(event) => void prompts.push(event)]
    }
  })
  const chat = await troupe.chat("c")
  await chat.send("where?").result()
  await chat.submitToolResults({ c0: "Oslo" }, { input: "well?" }).result()
  expect(prompts.length).toBe(2)
  expect(chat.thread.messages.map(({ content }) => content)).toEqual(["where?", "", "Oslo", "well?", "in Oslo"])
})

test("an option that a turn cannot have is refused", async () => {
  const { troupe } = await check.troupe({ adapter: check.fake({ respond: () => says("done") }) })
  const chat = await troupe.chat("c")
  const given = { options: { hooks: {} } } as never
  expect(() => chat.send("go", given)).toThrow(
    expect.objectContaining({ errors: [expect.objectContaining({ field: ["options", "hooks"] })] })
  )
  expect(() => chat.send("go", { options: { temperature: "hot" } } as never)).toThrow()
})

test("a chat begins with the thread of another program, once", async () => {
  const adapter = check.fake({ respond: () => says("done") })
  const { troupe } = await check.troupe({ adapter, store: memory() })
  const call = { id: "c0", name: "where", arguments: {}, rawArguments: "{}" }
  const thread = [Message.user("where?"), Message.assistant("", [call]), Message.toolResult("c0", "Oslo")]
  const chat = await troupe.begin(thread, { id: "c" })
  await chat.retry().result()
  expect(adapter.requests[0]?.messages).toEqual(thread)
  expect(chat.thread.messages.length).toBe(4)
  await expect(troupe.begin(thread, { id: "c" })).rejects.toMatchObject({ reason: "chat_exists" })
  await chat.leave()
  await expect(troupe.begin(thread, { id: "c" })).rejects.toMatchObject({ reason: "chat_exists" })
})

test("a chat does not begin with a thread that could not be loaded again", async () => {
  const { troupe } = await check.troupe({ adapter: check.fake({ script: [] }), store: memory() })
  const thread = [Message.user("where?"), Message.toolResult("c0", "Oslo")]
  await expect(troupe.begin(thread, { id: "c" })).rejects.toMatchObject({ reason: "unpaired_tool_calls" })
  expect(await troupe.has("c")).toBe(false)
})

test("a call that the caller answers is listed until it is answered, also between decisions about other calls", async () => {
  const pay = tool({ name: "pay", execute: () => "paid" })
  const calls = [
    { toolCall: { id: "w0", name: "where" } },
    { toolCall: { id: "p0", name: "pay" } },
    { toolCall: { id: "p1", name: "pay" } },
    { finish: "tool_calls" as const }
  ]
  const adapter = check.fake({ scripts: [calls, says("done")] })
  const { troupe } = await check.troupe({ adapter, tools: [where, pay], permissions: { ask: () => "suspend" } })
  const chat = await troupe.chat("c")
  const waiting = () => chat.getSnapshot()?.context.pendingToolCalls.map(({ id }) => id)
  await chat.send("go").result()
  expect(waiting()).toEqual(["w0"])
  await chat.approve("p0", { type: "allow" }).result()
  expect(waiting()).toEqual(["w0"])
  await chat.approve("p1", { type: "allow" }).result()
  expect(waiting()).toEqual(["w0"])
  await chat.submitToolResults({ w0: "Oslo" }).result()
  expect(waiting()).toEqual([])
})

test("a turn has its own context beside that of its Troupe, for handlers and for hooks", async () => {
  const seen: Array<unknown> = []
  const look = tool({ name: "look", execute: (_, { context }) => void seen.push({ handler: context }) })
  const calls = [{ toolCall: { id: "c0", name: "look" } }, { finish: "tool_calls" }] as const
  const adapter = check.fake({ scripts: [[...calls], says("done"), says("on")] })
  const { troupe } = await check.troupe({
    adapter,
    tools: [look],
    context: { region: "north", user: "anna" },
    hooks: { UserPromptSubmit: [(_, { context }) => void seen.push({ hook: context })] }
  })
  const chat = await troupe.chat("c")
  await chat.send("go", { options: { context: { user: "ben" } } }).result()
  await chat.send("on").result()
  const own = { region: "north", user: "ben" }
  expect(seen).toEqual([{ hook: own }, { handler: own }, { hook: { region: "north", user: "anna" } }])
})

test("a decision has its own options for the requests that follow the call", async () => {
  const pay = tool({ name: "pay", execute: () => "paid" })
  const calls = [{ toolCall: { id: "c0", name: "pay" } }, { finish: "tool_calls" }] as const
  const adapter = check.fake({ scripts: [[...calls], says("done")] })
  const { troupe } = await check.troupe({ adapter, tools: [pay], permissions: { ask: () => "suspend" } })
  const chat = await troupe.chat("c")
  await chat.send("go", { options: { tools: [where] } }).result()
  await chat.approve("c0", { type: "allow" }, { options: { tools: [where] } }).result()
  expect(adapter.requests.map(({ tools }) => tools?.map(({ name }) => name))).toEqual([
    ["pay", "where"],
    ["pay", "where"]
  ])
})

describe("TWO3 a turn of a live chat in two passes", () => {
  const City = z.object({ name: z.string() })
  const calling = [{ toolCall: { id: "c0", name: "clock" } }, { finish: "tool_calls" }] as const
  const oslo = says('{"name":"Oslo"}')
  const passes = (requests: ReadonlyArray<Request>) =>
    requests.map(({ responseFormat, tools }) => [responseFormat?.type, tools.length])
  const both = [
    [undefined, 1],
    [undefined, 1],
    ["json_schema", 0]
  ]

  test("follows the options of its input, and the next input has one pass", async () => {
    const adapter = check.fake({ scripts: [[...calling], says("Oslo"), oslo, says("Hello")] })
    const { troupe } = await check.troupe({ adapter, tools: [clock] })
    const chat = await troupe.chat("c")
    const options = { structuredFinalize: true, structuredFinalizeNudge: "Now JSON!" }
    const turn = chat.send("Where?", { schema: City, options })
    expect(await turn.object()).toEqual({ name: "Oslo" })
    expect((await turn.result()).metadata["structuredFinalize"]).toEqual({ pass1Halted: "completed" })
    expect(chat.thread.messages.at(-2)?.content).toBe("Now JSON!")
    expect((await chat.send("Hi").result()).finalResponse?.outputText).toBe("Hello")
    expect(passes(adapter.requests)).toEqual([...both, [undefined, 1]])
  })

  test("follows the options of the Troupe for an input with a schema; an input without a form has one pass", async () => {
    const adapter = check.fake({ scripts: [[...calling], says("Oslo"), oslo, says("Hello")] })
    const { troupe } = await check.troupe({ adapter, tools: [clock], structuredFinalize: true })
    const chat = await troupe.chat("c")
    expect(await chat.send("Where?", { schema: City }).object()).toEqual({ name: "Oslo" })
    const plain = await chat.send("Hi").result()
    expect([plain.haltedReason, plain.finalResponse?.outputText]).toEqual(["completed", "Hello"])
    expect(passes(adapter.requests)).toEqual([...both, [undefined, 1]])
  })

  test("has one pass for an input that asks for that", async () => {
    const adapter = check.fake({ scripts: [oslo] })
    const { troupe } = await check.troupe({ adapter, tools: [clock], structuredFinalize: true })
    const chat = await troupe.chat("c")
    const options = { structuredFinalize: false }
    expect(await chat.send("Where?", { schema: City, options }).object()).toEqual({ name: "Oslo" })
    expect(passes(adapter.requests)).toEqual([["json_schema", 1]])
  })
})
