/** What a server of MCP asks, as the clients of the AI SDK and of AG-UI see it, over the routes of a server. */
import { InMemoryTransport } from "@modelcontextprotocol/client"
import { inputRequired, McpServer } from "@modelcontextprotocol/server"
import { Fake, Troupe } from "@troupe/chat"
import { System } from "@troupe/otp"
import { Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"
import { describe, expect, onTestFinished, test } from "vitest"
import { Mcp } from "../../src/index.ts"

const schema = {
  type: "object" as const,
  properties: { count: { type: "integer" as const, title: "How many" } },
  required: ["count"]
}
const form = { mode: "form" as const, message: "How many books?", requestedSchema: schema }
const page = { mode: "url" as const, message: "Pay here", url: "https://shop.example/pay", elicitationId: "e1" }

/** A server that asks for a form, and then to open a page. */
const shop = (sold: Array<unknown>): McpServer => {
  const server = new McpServer({ name: "shop", version: "1.0.0" })
  server.registerTool("order", { description: "Orders books" }, async ({ mcpReq }) => {
    const { how, pay } = (mcpReq.inputResponses ?? {}) as Readonly<Record<string, { readonly content?: unknown }>>
    if (pay !== undefined) {
      sold.push(JSON.parse(String(mcpReq.requestState())))
      return { content: [{ type: "text", text: "sold" }] }
    }
    if (how === undefined) return inputRequired({ inputRequests: { how: inputRequired.elicit(form) } })
    return inputRequired({
      inputRequests: { pay: inputRequired.elicitUrl(page) },
      requestState: JSON.stringify(how.content)
    })
  })
  return server
}

/** A chat behind the routes of a server, and what it sold. */
const served = async () => {
  const sold: Array<unknown> = []
  const system = System.make({ silent: true })
  const transport = (): InMemoryTransport => {
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    void shop(sold).connect(theirs)
    return ours
  }
  const mcp = await Mcp.start(system, { transport }, { name: "shop" })
  const adapter = Fake.make({
    respond: ({ messages }) =>
      messages.at(-1)?.role === "user"
        ? [{ toolCall: { id: "c1", name: "order" } }, { finish: "tool_calls" }]
        : [{ text: "Ordered." }, { finish: "stop" }]
  })
  const troupe = await Troupe.start({ system, adapter, tools: mcp.tools })
  const server = Server.make({ troupe, authorize: () => ({ owner: "anna", may: { approve: true } }) })
  const { url, close } = await listen(server, { graceMs: 0 })
  onTestFinished(async () => {
    await close()
    await troupe.stop()
    await System.stop(system)
  })
  /** Sends a request; returns the data of the events. */
  const post = async (path: string, body: object): Promise<ReadonlyArray<Record<string, unknown>>> => {
    const headers = { "content-type": "application/json" }
    const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    const data = (await response.text()).matchAll(/^data: ?(\{.*)$/gm)
    return Array.from(data, ([, text = ""]) => JSON.parse(text) as Record<string, unknown>)
  }
  return { post, sold }
}

describe("a question of an MCP server", () => {
  test("ELICIT2. is a call of its own in the stream of the AI SDK: its input has the form, then the page, and its output is the answer", async () => {
    const { post, sold } = await served()
    const said = { id: "u1", role: "user", parts: [{ type: "text", text: "Order" }] }
    const asked = (chunks: ReadonlyArray<Record<string, unknown>>) =>
      chunks.find(({ type, input }) => type === "tool-input-available" && "question" in (input as object))
    const answer = (toolCallId: unknown, output: unknown) =>
      post("/api/chat", {
        id: "c",
        messages: [
          said,
          {
            id: "r1",
            role: "assistant",
            parts: [{ type: "tool-order", toolCallId, state: "output-available", output }]
          }
        ]
      })
    const first = asked(await post("/api/chat", { id: "c", messages: [said] }))
    expect(first?.["input"]).toEqual({ question: "How many books?", options: { server: "shop", schema } })
    const second = asked(await answer(first?.["toolCallId"], { count: 3 }))
    expect(second?.["input"]).toEqual({
      question: "Pay here",
      options: { server: "shop", url: "https://shop.example/pay" }
    })
    const done = await answer(second?.["toolCallId"], "opened")
    expect(JSON.stringify(done)).toContain("Ordered.")
    expect(sold).toEqual([{ count: 3 }])
  })

  test("ELICIT2. is an interrupt of AG-UI: with the schema of its form, then with the page, and the run that resumes has the answer", async () => {
    const { post, sold } = await served()
    const run = { threadId: "c", messages: [{ id: "m1", role: "user", content: "Order" }] }
    const interrupt = (frames: ReadonlyArray<Record<string, unknown>>) => {
      const { outcome } = frames.at(-1) as { readonly outcome?: { readonly interrupts?: ReadonlyArray<object> } }
      return outcome?.interrupts?.[0] as Record<string, unknown> | undefined
    }
    const resumed = (runId: string, interruptId: unknown, payload: unknown) =>
      post("/ag-ui", { ...run, runId, resume: [{ interruptId, status: "resolved", payload }] })
    const first = interrupt(await post("/ag-ui", { ...run, runId: "r1" }))
    expect(first).toMatchObject({ reason: "input_required", message: "How many books?", responseSchema: { ...schema } })
    const second = interrupt(await resumed("r2", first?.["id"], { count: 3 }))
    expect(second).toMatchObject({ message: "Pay here", metadata: { options: { server: "shop", url: page.url } } })
    const done = await resumed("r3", second?.["id"], "opened")
    expect(JSON.stringify(done)).toContain("Ordered.")
    expect(sold).toEqual([{ count: 3 }])
  })
})
