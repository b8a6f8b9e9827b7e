/** A bookshop over standard streams, which asks how many books, and notes the sales and its process in files. With `older` it asks while the call runs. */
import { inputRequired, McpServer } from "@modelcontextprotocol/server"
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio"
import { appendFileSync, writeFileSync } from "node:fs"

const [, , file = "", protocol] = process.argv

const form = {
  mode: "form" as const,
  message: "How many books?",
  requestedSchema: {
    type: "object" as const,
    properties: { count: { type: "integer" as const } },
    required: ["count"]
  }
}

const shop = (): McpServer => {
  const server = new McpServer({ name: "bookshop", version: "1.0.0" })
  server.registerTool("order", { description: "Orders books" }, async ({ mcpReq }) => {
    const how = mcpReq.inputResponses?.["how"] as { readonly content?: { readonly count?: number } } | undefined
    if (how === undefined) return inputRequired({ inputRequests: { how: inputRequired.elicit(form) } })
    appendFileSync(file, `${how.content?.count}\n`)
    return { content: [{ type: "text", text: `sold ${how.content?.count}` }] }
  })
  return server
}

writeFileSync(`${file}.pid`, String(process.pid))
if (protocol === "older") await shop().connect(new StdioServerTransport())
else serveStdio(shop)
