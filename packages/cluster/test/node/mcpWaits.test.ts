/** What a server of MCP asks, over a move of its conversation. */
import { createMcpHandler, InMemoryTransport, inputRequired, McpServer } from "@modelcontextprotocol/server"
import { Fake } from "@troupe/chat"
import { Mcp } from "@troupe/mcp"
import { System } from "@troupe/otp"
import { listen } from "@troupe/server/Node"
import { expect, it, onTestFinished } from "vitest"
import { nodes, post, until } from "../double/clusterNodes.ts"
import { oauthServer, signedInAt } from "../../../mcp/test/double/oauthServer.ts"

const form = {
  mode: "form" as const,
  message: "How many books?",
  requestedSchema: {
    type: "object" as const,
    properties: { count: { type: "integer" as const } },
    required: ["count"]
  }
}

/** A server that sells books, and what it sold. */
const bookshop = () => {
  const sold: Array<unknown> = []
  const shop = (): McpServer => {
    const server = new McpServer({ name: "bookshop", version: "1.0.0" })
    server.registerTool("order", { description: "Orders books" }, async ({ mcpReq }) => {
      const how = mcpReq.inputResponses?.["how"] as { readonly content?: unknown } | undefined
      if (how === undefined) return inputRequired({ inputRequests: { how: inputRequired.elicit(form) } })
      sold.push(how.content)
      return { content: [{ type: "text", text: "sold" }] }
    })
    return server
  }
  return { shop, sold }
}

/** Two nodes, each with its own connection to a server; a conversation on the first one waits for a form, and moves to the second one. */
const moved = async (connect: () => Mcp.McpServerParams) => {
  const adapter = Fake.make({
    respond: ({ messages }) =>
      messages.at(-1)?.role === "user"
        ? [{ toolCall: { id: "c1", name: "order" } }, { finish: "tool_calls" }]
        : [{ text: "Ordered." }, { finish: "stop" }]
  })
  const { node, placements } = nodes(adapter)
  const withShop = async () => {
    const system = System.make({ silent: true })
    onTestFinished(() => System.stop(system))
    const { tools } = await Mcp.start(system, connect(), { name: "bookshop" })
    return node({ troupe: { tools } })
  }
  const [a, b] = [await withShop(), await withShop()]
  await post(`${a.url}/chats/c/messages?wait`, { input: "Order books" })
  const waiting = async (at: { readonly url: string }) => {
    const { waits } = (await (await fetch(`${at.url}/waiting`)).json()) as {
      readonly waits: ReadonlyArray<{ readonly kind: string; readonly toolCallId: string }>
    }
    return waits
  }
  const [wait] = await waiting(a)
  expect(wait).toMatchObject({ kind: "question", text: "How many books?", options: { server: "bookshop" } })
  await placements.move("anna/c", b.troupe.address)
  await until(() => !a.troupe.isAlive("anna/c"))
  expect(await waiting(b)).toMatchObject([wait])
  // The node that has the conversation no longer passes the answer on.
  const decide = async (id: string | undefined, decision: object) =>
    (await post(`${a.url}/chats/c/approvals/${encodeURIComponent(id ?? "")}?wait`, decision)).text()
  return { a, b, wait, decide, waiting: () => waiting(b) }
}

const three = { type: "result", value: { count: 3 } }

it("ELICIT2. a form of an MCP server is answered at the node that its conversation has moved to", async () => {
  const { shop, sold } = bookshop()
  const handler = createMcpHandler(shop, { legacy: "reject" })
  const { url, close } = await listen({ ...handler, hosts: undefined }, { graceMs: 0 })
  onTestFinished(close)
  const { a, b, wait, decide } = await moved(() => ({ url }))
  expect(await decide(wait?.toolCallId, three)).toContain("Ordered.")
  expect(sold).toEqual([{ count: 3 }])
  expect([a.troupe.isAlive("anna/c"), b.troupe.isAlive("anna/c")]).toEqual([false, true])
})

it("ELICIT2. a call whose server belongs to the node that its conversation has left has an unknown outcome, and runs again at the new node", async () => {
  const { shop, sold } = bookshop()
  const { wait, decide, waiting } = await moved(() => ({
    transport: () => {
      const [ours, theirs] = InMemoryTransport.createLinkedPair()
      void shop().connect(theirs)
      return ours
    }
  }))
  await decide(wait?.toolCallId, three)
  expect(await waiting()).toMatchObject([{ kind: "unknown_outcome", toolCallId: "c1" }])
  await decide("c1", { type: "allow" })
  const [again] = await waiting()
  expect(again).toMatchObject({ kind: "question", text: "How many books?" })
  expect(await decide(again?.toolCallId, three)).toContain("Ordered.")
  expect(sold).toEqual([{ count: 3 }])
})

it("MCPT4. a call that has asked has an unknown outcome when its server has died while the conversation moved", async () => {
  const { shop, sold } = bookshop()
  const handler = createMcpHandler(shop, { legacy: "reject" })
  const { url, close } = await listen({ ...handler, hosts: undefined }, { graceMs: 0 })
  const { wait, decide, waiting } = await moved(() => ({ url }))
  await close()
  await decide(wait?.toolCallId, three)
  expect(await waiting()).toMatchObject([{ kind: "unknown_outcome", toolCallId: "c1" }])
  expect(sold).toEqual([])
})

it("SIGNIN5. a sign-in of a call is answered at the node that its conversation has moved to, with the storage of both", async () => {
  const server = await oauthServer()
  onTestFinished(server.close)
  const texts = new Map<string, string | undefined>()
  const storage: Mcp.SignInStorage = {
    load: async (key) => texts.get(key),
    save: async (key, text) => void texts.set(key, text)
  }
  const adapter = Fake.make({
    respond: ({ messages }) =>
      messages.at(-1)?.role === "user"
        ? [{ toolCall: { id: "c1", name: "buy" } }, { finish: "tool_calls" }]
        : [{ text: "Bought." }, { finish: "stop" }]
  })
  const { node, placements } = nodes(adapter)
  const withShop = async () => {
    const system = System.make({ silent: true })
    onTestFinished(() => System.stop(system))
    const auth = { redirectUrl: "http://localhost:1/callback", storage }
    const shop = await Mcp.start(system, { url: server.url, auth }, { name: "shop" })
    if (shop.health.signIn !== undefined) await shop.signIn(await signedInAt(shop.health.signIn))
    return node({ troupe: { tools: shop.tools } })
  }
  const [a, b] = [await withShop(), await withShop()]
  await post(`${a.url}/chats/c/messages?wait`, { input: "Buy" })
  const { waits } = (await (await fetch(`${a.url}/waiting`)).json()) as {
    readonly waits: ReadonlyArray<{ readonly toolCallId: string; readonly options: { readonly url: string } }>
  }
  const [wait] = waits
  await placements.move("anna/c", b.troupe.address)
  await until(() => !a.troupe.isAlive("anna/c"))
  const path = `/chats/c/approvals/${encodeURIComponent(wait?.toolCallId ?? "")}`
  const value = await signedInAt(wait?.options.url)
  const answered = await post(`${b.url}${path}?wait`, { type: "result", value })
  expect(await answered.text()).toContain("Bought.")
  expect(server.grants).toEqual(["code read", "code read write"])
  expect([a.troupe.isAlive("anna/c"), b.troupe.isAlive("anna/c")]).toEqual([false, true])
})
