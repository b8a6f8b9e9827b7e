/** The tests' own MCP server over streamable HTTP on loopback. */
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server"
import { listen } from "@troupe/server/Node"
import { type OwnServer, ownServer } from "./ownTools.ts"

/** A running server. */
export interface McpHttpServer {
  readonly url: string
  readonly own: OwnServer
  /** Resolves when a tool with that name was called. */
  readonly called: (name: string) => Promise<void>
  /** Resolves when the client ended its session. */
  readonly ended: Promise<void>
  readonly headers: ReadonlyArray<string | null>
  /** Forgets the session: every later request is answered 404. */
  readonly forget: () => void
  readonly stop: () => Promise<void>
}

/** Starts it. */
export const mcpHttpServer = async (): Promise<McpHttpServer> => {
  const calls = new Map<string, PromiseWithResolvers<void>>()
  const call = (name: string): PromiseWithResolvers<void> => {
    const waiting = calls.get(name) ?? Promise.withResolvers<void>()
    calls.set(name, waiting)
    return waiting
  }
  const own = ownServer((name) => call(name).resolve())
  const ended = Promise.withResolvers<void>()
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => "session",
    onsessionclosed: () => ended.resolve()
  })
  await own.server.connect(transport)
  const headers: Array<string | null> = []
  let forgotten = false
  const fetch = async (request: Request): Promise<Response> => {
    headers.push(request.headers.get("x-own"))
    return forgotten ? new Response("no such session", { status: 404 }) : transport.handleRequest(request)
  }
  const { url, close } = await listen({ fetch, close: () => own.server.close(), hosts: undefined }, { graceMs: 0 })
  return {
    url: `${url}/mcp`,
    own,
    called: (name) => call(name).promise,
    ended: ended.promise,
    headers,
    forget: () => {
      forgotten = true
    },
    stop: close
  }
}
