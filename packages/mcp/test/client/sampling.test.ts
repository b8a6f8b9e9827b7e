/** Requests of servers to the model of a chat. */
import { InMemoryTransport } from "@modelcontextprotocol/client"
import { createMcpHandler, inputRequired, McpServer } from "@modelcontextprotocol/server"
import { Fake, Troupe } from "@troupe/chat"
import { Store } from "@troupe/chat/store"
import { System } from "@troupe/otp"
import { listen } from "@troupe/server/Node"
import { afterEach, describe, expect, test } from "vitest"
import { Mcp } from "../../src/index.ts"

const ends: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** What the server asks the model, and how often. */
interface Wanted {
  readonly prompt?: string
  readonly rounds?: number
  readonly maxTokens?: number
}

/** A server whose tool returns the last reply of the model. */
const poet =
  ({ prompt = "A poem", rounds = 1, maxTokens = 100 }: Wanted) =>
  (): McpServer => {
    const server = new McpServer({ name: "poet", version: "1.0.0" }, { inputRequired: { maxRounds: 50 } })
    server.registerTool("write", { description: "Writes" }, async ({ mcpReq }) => {
      const text = (value: unknown) => ({ content: [{ type: "text" as const, text: JSON.stringify(value) }] })
      const state = mcpReq.requestState()
      const asked = Number(typeof state === "string" ? state : 0)
      if (asked === rounds) return text(mcpReq.inputResponses?.["poem"])
      const messages = [{ role: "user" as const, content: { type: "text" as const, text: prompt } }]
      const poem = inputRequired.createMessage({ messages, systemPrompt: "Be short", maxTokens })
      return inputRequired({ inputRequests: { poem }, requestState: String(asked + 1) })
    })
    return server
  }

const servers = {
  older: async (wanted: Wanted): Promise<Mcp.McpServerParams> => ({
    transport: () => {
      const [ours, theirs] = InMemoryTransport.createLinkedPair()
      void poet(wanted)().connect(theirs)
      return ours
    }
  }),
  newer: async (wanted: Wanted): Promise<Mcp.McpServerParams> => {
    const handler = createMcpHandler(poet(wanted), { legacy: "reject" })
    const { url, close } = await listen({ ...handler, hosts: undefined }, { graceMs: 0 })
    ends.push(close)
    return { url }
  }
}

const usage = { usage: { inputTokens: 5, outputTokens: 5, totalTokens: 10 } }

/** A Troupe with the tool of the server. Requests of the server get a poem, all others the call of the tool. */
const begin = async (
  server: Mcp.McpServerParams,
  options: Mcp.McpOptions,
  {
    budget,
    store = Store.memory()
  }: { readonly budget?: { readonly tokens: number }; readonly store?: Store.SessionStore } = {}
) => {
  const system = System.make({ silent: true })
  const mcp = await Mcp.start(system, server, { name: "poet", ...options })
  const adapter = Fake.make({
    respond: ({ messages, tools }) => {
      if (tools.length === 0) return [{ text: "Roses are red." }, usage, { finish: "stop" }]
      return messages.at(-1)?.role === "user"
        ? [{ toolCall: { id: "c1", name: "write" } }, usage, { finish: "tool_calls" }]
        : [{ text: "Written." }, usage, { finish: "stop" }]
    }
  })
  const troupe = await Troupe.start({
    system,
    adapter,
    tools: mcp.tools,
    store,
    ...(budget === undefined ? {} : { budget })
  })
  const end = async () => {
    await troupe.stop()
    await System.stop(system)
  }
  ends.push(end)
  return { adapter, troupe, chat: await troupe.chat("anna"), end, mcp }
}

const resultIn = ({ thread }: { readonly thread: { readonly messages: ReadonlyArray<object> } }) =>
  thread.messages.findLast((message) => "role" in message && message.role === "tool")

const poem = expect.stringContaining("Roses are red.")

describe.each(["older", "newer"] as const)("a server of the %s protocol", (protocol) => {
  test("SAMPLE1. asks the model of the chat when the host allows it, without tools, and the chat counts the usage", async () => {
    const requests: Array<Mcp.SamplingRequest> = []
    const { adapter, chat } = await begin(await servers[protocol]({ maxTokens: 1_000_000 }), {
      sampling: (request) => {
        requests.push(request)
        return "allow"
      }
    })
    const result = await chat.send("Write").result()
    expect(resultIn(result)).toMatchObject({ outcome: "completed", content: poem })
    expect(requests).toMatchObject([{ server: "poet", toolCall: { id: "c1" }, text: "Be short\nuser: A poem" }])
    const own = adapter.requests.find(({ tools }) => tools.length === 0)
    expect(own).toMatchObject({ messages: [{ role: "system", content: "Be short" }, { role: "user" }], tools: [] })
    expect(own?.maxTokens).toBe(8192)
    expect(result.steps[0]?.childUsage).toMatchObject({ totalTokens: 10 })
    expect(chat.getSnapshot()?.context.usage.totalTokens).toBe(30)
  })

  test("SAMPLE1. asks no model by default, when the host denies, and when its request is too large", async () => {
    const large = "x".repeat(100_000)
    for (const [wanted, options] of [
      [{}, {}],
      [{}, { sampling: () => "deny" as const }],
      [{ prompt: large }, { sampling: "allow" as const }]
    ] as const) {
      const { adapter, chat } = await begin(await servers[protocol](wanted), options)
      expect(resultIn(await chat.send("Write").result())).toMatchObject({ outcome: "failed" })
      expect(adapter.requests.filter(({ tools }) => tools.length === 0)).toEqual([])
    }
  })

  test("SAMPLE1. waits for a person with `suspend`, who allows or denies", async () => {
    const { adapter, troupe, chat } = await begin(await servers[protocol]({}), { sampling: "suspend" })
    await chat.send("Write").result()
    const [wait] = (await troupe.waiting()).waits
    expect(wait).toMatchObject({ kind: "question", tool: "write", text: expect.stringContaining("A poem") })
    expect(adapter.requests.filter(({ tools }) => tools.length === 0)).toEqual([])
    const allowed = await chat.approve(wait?.toolCallId ?? "", { type: "result", value: {} }).result()
    expect(resultIn(allowed)).toMatchObject({ outcome: "completed", content: poem })
    const second = await chat.send("Write").result()
    const denied = await chat.approve(second.pendingApprovals?.[0]?.toolCall.id ?? "", { type: "deny" }).result()
    expect(resultIn(denied)).toMatchObject({ outcome: "failed" })
  })

  test("SAMPLE1. gets no reply once the budget of the chat is used up", async () => {
    const { chat } = await begin(
      await servers[protocol]({ rounds: 5 }),
      { sampling: "allow" },
      { budget: { tokens: 30 } }
    )
    const result = await chat.send("Write").result()
    expect(resultIn(result)).toMatchObject({ outcome: "failed", content: expect.stringContaining("budget_tokens") })
    expect(result.haltedReason).toBe("budget_tokens")
    expect(chat.getSnapshot()?.context.usage.totalTokens).toBe(30)
  })

  test("SAMPLE2. gets no eleventh reply in one call", async () => {
    const { adapter, chat } = await begin(await servers[protocol]({ rounds: 30 }), { sampling: "allow" })
    expect(resultIn(await chat.send("Write").result())).toMatchObject({ outcome: "failed" })
    expect(adapter.requests.filter(({ tools }) => tools.length === 0)).toHaveLength(10)
  })
})

test("SAMPLE1. a person allows a request of a server of the newer protocol after a restart", async () => {
  const server = await servers.newer({})
  const store = Store.memory()
  const first = await begin(server, { sampling: "suspend" }, { store })
  await first.chat.send("Write").result()
  await first.end()
  const { troupe, chat } = await begin(server, { sampling: "suspend" }, { store })
  const [wait] = (await troupe.waiting()).waits
  const done = await chat.approve(wait?.toolCallId ?? "", { type: "result", value: {} }).result()
  expect(resultIn(done)).toMatchObject({ outcome: "completed", content: poem })
})

test("SAMPLE2. a cancelled call cancels its request to the model", async () => {
  const asked = Promise.withResolvers<AbortSignal | undefined>()
  const system = System.make({ silent: true })
  const mcp = await Mcp.start(system, await servers.newer({}), { sampling: "allow" })
  const call = Fake.make({ script: [{ toolCall: { id: "c1", name: "write" } }, { finish: "tool_calls" }] })
  const hanging: typeof call.stream = (request, options) => {
    if (request.tools.length > 0) return call.stream(request, options)
    asked.resolve(options?.signal)
    return new Promise(() => {})
  }
  const troupe = await Troupe.start({ system, adapter: { ...call, stream: hanging }, tools: mcp.tools })
  ends.push(async () => {
    await troupe.stop()
    await System.stop(system)
  })
  const chat = await troupe.chat("anna")
  const turn = chat.send("Write")
  const signal = await asked.promise
  await chat.cancel()
  expect((await turn.result()).haltedReason).toBe("cancelled")
  expect(signal?.aborted).toBe(true)
})
