import { InMemoryTransport } from "@modelcontextprotocol/client"
import { createMcpHandler, Server } from "@modelcontextprotocol/server"
import { System } from "@troupe/otp"
import { listen } from "@troupe/server/Node"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { Mcp } from "../../src/index.ts"
import { askingServer } from "../double/askingServer.ts"
import { call } from "../double/call.ts"

let system: System.System

beforeEach(() => {
  system = System.make()
})
afterEach(() => System.stop(system))

/** A server of the protocol that begins with a handshake. */
const older: Mcp.McpServerParams = {
  transport: () => {
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    void askingServer().connect(theirs)
    return ours
  }
}

/** A server of the protocol without one. */
const newer = async (): Promise<{ readonly server: Mcp.McpServerParams; readonly close: () => Promise<void> }> => {
  const handler = createMcpHandler(askingServer, { legacy: "reject" })
  const { url, close } = await listen({ ...handler, hosts: undefined }, { graceMs: 0 })
  return { server: { url }, close }
}

describe.each(["older", "newer"])("a server of the %s protocol", (protocol) => {
  let server: Mcp.McpServerParams
  let close = async (): Promise<void> => {}

  beforeEach(async () => {
    if (protocol === "older") server = older
    else ({ server, close } = await newer())
  })
  afterEach(() => close())

  test("ELICIT1. gets the filled-in form with its defaults", async () => {
    const asked: Array<Mcp.Elicitation> = []
    const elicit: Mcp.Elicit = (elicitation) => {
      asked.push(elicitation)
      return { action: "accept", content: { count: 3 } }
    }
    const mcp = await Mcp.start(system, server, { name: "shop", elicit })
    expect(await call(mcp, "order")).toMatchObject({ type: "ok", value: '{"unit":"kg","count":3}' })
    expect(asked).toMatchObject([
      { server: "shop", mode: "form", message: "How many?", toolCalls: [{ name: "order" }] }
    ])
  })

  test("ELICIT1. gets a cancel for a form that does not fit, and for a failure of the host", async () => {
    const answers: Array<Mcp.Elicit> = [
      () => ({ action: "accept", content: { count: "three" } }),
      () => Promise.reject(new Error("the window was closed"))
    ]
    const mcp = await Mcp.start(system, server, {
      elicit: (asked) => (answers.shift() ?? (() => ({ action: "decline" })))(asked)
    })
    expect(await call(mcp, "order")).toMatchObject({ value: '"cancel"' })
    expect(await call(mcp, "order")).toMatchObject({ value: '"cancel"' })
  })

  test("gets no answer to a question that the host does not take", async () => {
    const mcp = await Mcp.start(system, server, { elicit: false })
    expect(await call(mcp, "order")).toMatchObject({ type: "error" })
  })

  test("ELICIT2. gets a cancel for a question of a call without a chat, which cannot wait", async () => {
    const mcp = await Mcp.start(system, server)
    expect(await call(mcp, "order")).toMatchObject({ value: '"cancel"' })
  })

  test("reports progress to the call, and logs to the host", async () => {
    const reported: Array<unknown> = []
    const logs: Array<Mcp.McpLog> = []
    const mcp = await Mcp.start(system, server, { onLog: (log) => logs.push(log), logLevel: "debug" })
    expect(await call(mcp, "work", {}, { progress: (value) => reported.push(value) })).toMatchObject({ value: "done" })
    expect(reported).toEqual([{ progress: 1, total: 2, message: "half" }])
    expect(logs).toMatchObject([{ level: "info", data: "working" }])
  })

  test("has resources, prompts, completions and instructions for messages", async () => {
    const mcp = await Mcp.start(system, server)
    expect(mcp.instructions).toBe("Ask twice.")
    expect(await mcp.resources()).toEqual([
      { uri: "test://note", name: "note", mimeType: "text/plain" },
      { uriTemplate: "test://pictures/{id}", name: "picture" }
    ])
    expect(await mcp.read("test://note")).toEqual([{ type: "text", text: "buy milk" }])
    expect(await mcp.read("test://pictures/1")).toMatchObject([{ type: "image" }])
    expect(await mcp.prompts()).toMatchObject([{ name: "review", arguments: [{ name: "language", required: true }] }])
    expect(await mcp.prompt("review", { language: "Thai" })).toMatchObject([
      { role: "user", content: [{ type: "text", text: "Review in Thai" }] },
      { role: "assistant", content: "Gladly" }
    ])
    expect(await mcp.complete({ prompt: "review" }, { name: "language", value: "en" })).toEqual(["english"])
  })

  test("has resources and prompts as tools that read, by choice", async () => {
    const plain = await Mcp.start(system, server)
    expect(plain.tools.map(({ name }) => name)).toEqual(["order", "work", "wipe"])
    const mcp = await Mcp.start(system, server, { resourceTools: true, promptTools: true, prefix: "my_" })
    expect(mcp.tools.slice(3).map(({ name, effect }) => `${name} ${effect}`)).toEqual([
      "my_list_resources read",
      "my_read_resource read",
      "my_list_prompts read",
      "my_get_prompt read"
    ])
    expect(await call(mcp, "my_list_resources")).toMatchObject({ value: [{ name: "note" }, { name: "picture" }] })
    expect(await call(mcp, "my_read_resource", { uri: "test://note" })).toMatchObject({ value: "buy milk" })
    expect(await call(mcp, "my_read_resource", { uri: "test://none" })).toMatchObject({ type: "error" })
    expect(await call(mcp, "my_get_prompt", { name: "review", arguments: { language: "Thai" } })).toMatchObject({
      value: [{ role: "user" }, { role: "assistant" }]
    })
  })
})

test("a server that speaks the older protocol by the word of the host is not asked first", async () => {
  const methods: Array<string> = []
  const transport = (): InMemoryTransport => {
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    void askingServer().connect(theirs)
    const send = ours.send.bind(ours)
    ours.send = (message, options) => {
      if ("method" in message) methods.push(message.method)
      return send(message, options)
    }
    return ours
  }
  await Mcp.start(system, { transport }, { protocol: "older" })
  expect(methods[0]).toBe("initialize")
  await Mcp.start(system, { transport })
  expect(methods).toContain("server/discover")
})

test("MCPC4. an output schema that would hold a validator does not hold the program", async () => {
  const transport = (): InMemoryTransport => {
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    const server = new Server({ name: "slow", version: "1.0.0" }, { capabilities: { tools: {} } })
    const outputSchema = { type: "object" as const, properties: { text: { type: "string", pattern: "^(a+)+$" } } }
    server.setRequestHandler("tools/list", () => ({
      tools: [{ name: "t", inputSchema: { type: "object" as const }, outputSchema }]
    }))
    const structuredContent = { text: `${"a".repeat(50)}b` }
    server.setRequestHandler("tools/call", () => ({ content: [], structuredContent }))
    void server.connect(theirs)
    return ours
  }
  const mcp = await Mcp.start(system, { transport })
  expect(await call(mcp, "t")).toMatchObject({ type: "error" })
})

test("MCPT2. the host's word about a tool counts, and it may leave a tool out", async () => {
  const mcp = await Mcp.start(system, older, {
    tool: ({ name, annotations }) =>
      name === "order" ? false : { effect: "read", timeoutMs: annotations["x"] ? 1 : 9 }
  })
  expect(mcp.tools).toMatchObject([
    { name: "work", effect: "read", onUnknown: "retry", timeoutMs: 9 },
    { name: "wipe", effect: "read", onUnknown: "ask" }
  ])
})

test("a tool with destructiveHint is destructive unless the host says that it reads", async () => {
  const mcp = await Mcp.start(system, older)
  expect(mcp.tools.map(Mcp.isDestructive)).toEqual([false, false, true])
  const reading = await Mcp.start(system, older, { tool: () => ({ effect: "read" }) })
  expect(reading.tools.map(Mcp.isDestructive)).toEqual([false, false, false])
})

test("MCPN1. the tools of two servers differ by the names of the servers where their own are equal", async () => {
  const one = await Mcp.start(system, older, { name: "one", tool: ({ name }) => (name === "wipe" ? false : {}) })
  const two = await Mcp.start(system, older, { name: "two", tool: ({ name }) => (name === "order" ? false : {}) })
  const tools = Mcp.tools([one, two])
  expect(tools.map(({ name }) => name)).toEqual(["order", "one_work", "two_work", "wipe"])
  expect(await call({ tools }, "two_work")).toMatchObject({ value: "done" })
})
