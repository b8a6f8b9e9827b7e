/** An MCP server that asks, reports, and has resources and prompts. */
import { completable, inputRequired, McpServer, ResourceTemplate } from "@modelcontextprotocol/server"
import * as z from "zod"

const form = {
  mode: "form" as const,
  message: "How many?",
  requestedSchema: {
    type: "object" as const,
    properties: { count: { type: "integer" as const }, unit: { type: "string" as const, default: "kg" } },
    required: ["count"]
  }
}

/** Makes it. */
export const askingServer = (): McpServer => {
  const server = new McpServer(
    { name: "asking", version: "1.0.0" },
    { instructions: "Ask twice.", capabilities: { logging: {} } }
  )
  server.registerTool("order", { description: "Orders" }, async ({ mcpReq }) => {
    const answer = mcpReq.inputResponses?.["how"] as { readonly content?: unknown; readonly action: string } | undefined
    if (answer === undefined) return inputRequired({ inputRequests: { how: inputRequired.elicit(form) } })
    return { content: [{ type: "text", text: JSON.stringify(answer.content ?? answer.action) }] }
  })
  server.registerTool("work", { description: "Works", annotations: { idempotentHint: true } }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 0
    await mcpReq.notify({
      method: "notifications/progress",
      params: { progressToken, progress: 1, total: 2, message: "half" }
    })
    await mcpReq.log("info", "working")
    return { content: [{ type: "text", text: "done" }] }
  })
  server.registerTool("wipe", { annotations: { destructiveHint: true } }, async () => ({ content: [] }))
  server.registerResource("note", "test://note", { mimeType: "text/plain" }, async () => ({
    contents: [{ uri: "test://note", text: "buy milk" }]
  }))
  server.registerResource(
    "picture",
    new ResourceTemplate("test://pictures/{id}", { list: undefined }),
    {},
    async () => ({
      contents: [{ uri: "test://pictures/1", blob: "AAAA", mimeType: "image/png" }]
    })
  )
  const language = completable(z.string(), (value) => ["english", "estonian"].filter((name) => name.startsWith(value)))
  server.registerPrompt("review", { argsSchema: z.object({ language }) }, ({ language: name }) => ({
    messages: [
      { role: "user", content: { type: "text", text: `Review in ${name}` } },
      { role: "assistant", content: { type: "text", text: "Gladly" } }
    ]
  }))
  return server
}
