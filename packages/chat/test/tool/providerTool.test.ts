import { describe, expect, test } from "vitest"
import * as z from "zod"
import * as Codec from "../../src/session/Codec.ts"
import * as Chat from "../../src/loop/Chat.ts"
import { user } from "../../src/model/Message.ts"
import * as Engine from "../../src/options/Engine.ts"
import * as Fake from "../../src/adapter/Fake.ts"
import { tool } from "../../src/tool/functionTool.ts"
import { calls, says } from "../double/scripts.ts"

const search = { type: "provider", id: "openai.web_search", name: "web_search", args: { maxUses: 2 } } as const
const computer = tool({
  name: "computer",
  provider: { id: "anthropic.computer_20250124", args: { displayWidthPx: 800 } },
  parameters: z.object({ action: z.string() }),
  execute: ({ action }) => `did ${action}`
})
const echo = tool({ name: "echo", execute: () => "ok" })

describe("a provider's tool", () => {
  test("of an engine and of a call is declared to the model apart from the functions", async () => {
    const adapter = Fake.make({ script: says("It rains.") })
    await Chat.run(Engine.make({ adapter, tools: [echo, search] }), [user("?")], { tools: [computer] })
    const [request] = adapter.requests
    expect(request?.tools.map(({ name }) => name)).toEqual(["echo"])
    expect(request?.providerTools).toEqual([
      { id: "openai.web_search", name: "web_search", args: { maxUses: 2 }, metadata: {} },
      { id: "anthropic.computer_20250124", name: "computer", args: { displayWidthPx: 800 }, metadata: {} }
    ])
  })

  test("of a call replaces the engine's tool of that name", async () => {
    const adapter = Fake.make({ script: says("It rains.") })
    const engine = Engine.make({ adapter, tools: [search] })
    await Chat.generate(engine, [user("?")], { tools: [{ ...search, args: { maxUses: 1 } }] })
    expect(adapter.requests[0]?.providerTools).toMatchObject([{ args: { maxUses: 1 } }])
  })

  test("that the provider does not run is for the caller", async () => {
    const adapter = Fake.make({ script: calls("web_search") })
    const result = await Chat.run(Engine.make({ adapter, tools: [search] }), [user("?")])
    expect(result.haltedReason).toBe("manual_tool_calls")
    expect(result.pendingToolCalls.map(({ name }) => name)).toEqual(["web_search"])
  })

  test("with a handler runs like any tool", async () => {
    const adapter = Fake.make({ scripts: [calls(["computer", { action: "click" }]), says("Done")] })
    const result = await Chat.run(Engine.make({ adapter, tools: [computer] }), [user("?")])
    expect(result.steps[0]?.toolResults.map(({ content }) => content)).toEqual(["did click"])
  })

  test("is not sent in the second of two passes", async () => {
    const adapter = Fake.make({ scripts: [says("It rains."), says("{}")] })
    await Chat.run(Engine.make({ adapter, tools: [search] }), [user("?")], {
      schema: z.object({}),
      structuredFinalize: true
    })
    expect(adapter.requests.map(({ providerTools }) => providerTools?.length)).toEqual([1, undefined])
  })

  test("as the AI SDK's packages make it is taken with its schemas, which the provider has itself", () => {
    const made = { ...search, isProviderExecuted: true, inputSchema: () => ({}), outputSchema: undefined }
    expect(Engine.make({ tools: [made] }).tools[0]?.provider).toEqual({ id: search.id, args: { maxUses: 2 } })
  })

  test.each([
    [{ id: "web_search" }, 'must_be the provider and the tool, as "openai.web_search"'],
    [{ args: [] }, "args"],
    [{ name: "web search" }, "name"],
    [{ argz: {} }, "argz"],
    [{ execute: () => "ok" }, "tool({ name, provider:"]
  ])("with the part %o is refused, and named", (part, named) => {
    const wrong = { ...search, ...part } as unknown as typeof search
    expect(() => Engine.make({ tools: [wrong] })).toThrow(named)
  })

  test("with the name of another tool is refused", async () => {
    const twice = Chat.generate(Engine.make({ adapter: Fake.make({ script: [] }), tools: [search, search] }), [
      user("?")
    ])
    await expect(twice).rejects.toThrow("duplicate_name")
    const both = [search, tool({ name: "web_search", execute: () => 1 })]
    await expect(
      Chat.generate(Engine.make({ adapter: Fake.make({ script: [] }) }), [user("?")], { tools: both })
    ).rejects.toThrow("duplicate_name")
  })

  test("survives the codec of an engine", () => {
    const text = Codec.encode("Engine", Engine.make({ tools: [search] }))
    expect(Codec.decode("Engine", text).tools[0]).toMatchObject({
      name: "web_search",
      manual: true,
      provider: { id: search.id, args: { maxUses: 2 } }
    })
  })
})
