/** The route of MCP clients: another package answers, for a caller that the server has authenticated. */
import type { Route } from "../http/index.ts"

/** Answers the requests of MCP clients. `Mcp.serve` of `@troupe/mcp` makes it. */
export interface McpEndpoint {
  readonly fetch: (
    request: Request,
    caller: { readonly owner: string; readonly may: { readonly approve: boolean } }
  ) => Promise<Response>
  readonly close: () => Promise<void>
}

/** The routes of the streamable HTTP of MCP. A stream counts as one of its owner's. */
export const mcpRoutes = ({ fetch }: McpEndpoint): ReadonlyArray<Route> =>
  (["GET", "POST", "DELETE"] as const).map((method) => ({
    method,
    path: "/mcp",
    isEndless: true,
    handle: async ({ request, owner, may, stream }) => {
      const response = await fetch(request, { owner, may: { approve: may.approve } })
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
      if (!isStream || response.body === null) return response
      const session = response.headers.get("mcp-session-id")
      return stream(textsOf(response.body), session === null ? {} : { headers: { "mcp-session-id": session } })
    }
  }))

/** The chunks of a stream as texts: each chunk has whole events. */
async function* textsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const chunk of body) yield decoder.decode(chunk, { stream: true })
}
