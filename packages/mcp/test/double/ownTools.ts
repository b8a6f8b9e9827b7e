/** The tools of the tests' own MCP server, on any transport. */
import { type CallToolResult, Server } from "@modelcontextprotocol/server"

/** What a test can see and do at the server's side. */
export interface OwnServer {
  readonly server: Server
  /** Resolves with the tool's name when a call was cancelled. */
  readonly cancelled: Promise<string>
  /** Adds a tool and notifies the client. */
  readonly add: (name: string) => Promise<void>
}

const inputSchema = { type: "object" as const, properties: { n: { type: "number" } } }

/** Makes it. `slow` answers when it is cancelled, `crash` ends the OS process. */
export const ownServer = (called: (name: string) => void = () => {}): OwnServer => {
  const server = new Server({ name: "own", version: "1.0.0" }, { capabilities: { tools: { listChanged: true } } })
  const names = [
    "pid",
    "slow",
    "picture",
    "failing",
    "structured",
    "needs.dots",
    "needs dots",
    "crash",
    "gallery",
    "report",
    "blurred"
  ]
  const cancelled = Promise.withResolvers<string>()
  server.setRequestHandler("tools/list", ({ params }) => {
    const from = Number(params?.cursor ?? 0)
    const page = names.slice(from, from + 3).map((name) => ({
      name,
      description: `Does ${name}`,
      inputSchema,
      ...(name === "pid" ? { annotations: { readOnlyHint: true } } : {})
    }))
    return { tools: page, ...(from + 3 < names.length ? { nextCursor: String(from + 3) } : {}) }
  })
  server.setRequestHandler(
    "tools/call",
    ({ params }, { mcpReq: { signal } }): CallToolResult | Promise<CallToolResult> => {
      called(params.name)
      switch (params.name) {
        case "pid":
          return { content: [{ type: "text", text: String(process.pid) }] }
        case "slow":
          return new Promise((resolve) => {
            signal.addEventListener("abort", () => {
              cancelled.resolve("slow")
              resolve({ content: [] })
            })
          })
        case "picture":
          return {
            content: [
              { type: "text", text: "look" },
              { type: "image", data: "AA==", mimeType: "image/png" }
            ]
          }
        case "failing":
          return { content: [{ type: "text", text: "it broke" }], isError: true }
        case "structured":
          return { content: [{ type: "text", text: "{}" }], structuredContent: { sum: 3 } }
        case "gallery":
          return {
            content: [
              { type: "image", data: "iVBORw0K\nGgo", mimeType: "image/png" },
              { type: "audio", data: "UklGRg==", mimeType: "audio/wav" },
              { type: "resource", resource: { uri: "file:///notes/a.txt", text: "a note" } },
              { type: "resource", resource: { uri: "file:///scans/a.pdf", blob: "JVBE", mimeType: "application/pdf" } },
              { type: "resource", resource: { uri: "file:///scans/b.png", blob: "AAAA", mimeType: "image/png" } },
              { type: "resource_link", uri: "file:///notes/b.txt", name: "b", mimeType: "text/plain" }
            ]
          }
        case "report":
          return {
            content: [
              { type: "text", text: '{ "sum": 3 }' },
              { type: "text", text: "see the chart" },
              { type: "image", data: "AAAA", mimeType: "image/png" }
            ],
            structuredContent: { sum: 3 }
          }
        case "blurred":
          return {
            content: [
              { type: "text", text: "no such window" },
              { type: "image", data: "AAAA", mimeType: "image/png" }
            ],
            isError: true
          }
        case "crash":
          process.stderr.write("about to crash\n", () => process.exit(3))
          return new Promise(() => {})
        default:
          return { content: [{ type: "text", text: params.name }] }
      }
    }
  )
  return {
    server,
    cancelled: cancelled.promise,
    add: async (name) => {
      names.push(name)
      await server.sendToolListChanged()
    }
  }
}
