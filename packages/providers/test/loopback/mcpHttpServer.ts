/** The tests' own MCP server over streamable HTTP on loopback. */
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { type OwnServer, ownServer } from "./ownTools.ts"

/** A running server. */
export interface McpHttpServer {
  readonly url: string
  readonly own: OwnServer
  /** Resolves when a tool with that name was called. */
  readonly called: (name: string) => Promise<void>
  /** Resolves when the client ended its session. */
  readonly ended: Promise<void>
  readonly headers: ReadonlyArray<string | undefined>
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
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => "session",
    onsessionclosed: () => ended.resolve()
  })
  await own.server.connect(transport)
  const sockets = new Set<Socket>()
  const headers: Array<string | undefined> = []
  let forgotten = false
  const server = createServer((request, response) => {
    headers.push(request.headers["x-own"]?.toString())
    if (forgotten) response.writeHead(404).end("no such session")
    else void transport.handleRequest(request, response)
  })
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    own,
    called: (name) => call(name).promise,
    ended: ended.promise,
    headers,
    forget: () => {
      forgotten = true
    },
    stop: async () => {
      await own.server.close()
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}
