/**
 * The sessions of clients of the older protocol over HTTP.
 *
 * Owns: the transports of the sessions, and the last events of each for a client that reconnects. Does not own conversations, which
 * outlive sessions.
 *
 * SESSION1. A session belongs to its owner: for anybody else it does not exist.
 * SESSION2. There are at most `maxSessions`. For a new one, those that were idle for `sessionIdleMs` are closed; without such it is refused.
 * SESSION3. A client that reconnects gets the events that it missed, of the last 1,000 of its session.
 */
import {
  type EventStore,
  type JSONRPCMessage,
  type McpServer,
  WebStandardStreamableHTTPServerTransport
} from "@modelcontextprotocol/server"
import { System } from "@troupe/otp"
import type { Serving } from "./served.ts"
import { withWishes } from "./tasks.ts"

interface Session {
  readonly owner: string
  readonly server: McpServer
  readonly transport: WebStandardStreamableHTTPServerTransport
  usedAt: number
}

const mostEvents = 1_000

/** How soon a client reconnects to a stream that was closed. */
const retryMs = 1_000

/** The sessions of a server. */
export class Sessions {
  readonly #make: (serving: Serving) => McpServer
  readonly #all = new Map<string, Session>()

  constructor(make: (serving: Serving) => McpServer) {
    this.#make = make
  }

  /** Answers a request in its session, or begins one. */
  async answer(request: Request, serving: Serving): Promise<Response> {
    const now = serving.troupe.system.clock.now()
    const id = request.headers.get("mcp-session-id")
    const session = id === null ? undefined : this.#all.get(id)
    if (session !== undefined && session.owner === serving.caller.owner) {
      session.usedAt = now
      return session.transport.handleRequest(request)
    }
    if (id !== null) return refusal(404, -32_001, "Session not found")
    if (!this.#hasRoom(serving, now)) return refusal(503, -32_000, "Too many sessions")
    return this.#begin(request, serving, now)
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#all.values(), ({ server }) => server.close()))
  }

  async #begin(request: Request, serving: Serving, usedAt: number): Promise<Response> {
    const { troupe, options, caller } = serving
    const server = this.#make(serving)
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      eventStore: new LastEvents(() => System.uuid(troupe.system, "mcp")),
      retryInterval: retryMs,
      ...(options.maxBodyBytes === undefined ? {} : { maxRequestBodySize: options.maxBodyBytes }),
      onsessioninitialized: (id) => void this.#all.set(id, { owner: caller.owner, server, transport, usedAt })
    })
    await server.connect(transport)
    withWishes(transport)
    server.server.onclose = () => transport.sessionId !== undefined && this.#all.delete(transport.sessionId)
    const response = await transport.handleRequest(request)
    // Only the first request of a client begins a session.
    if (transport.sessionId === undefined) await server.close()
    return response
  }

  /** Closes idle sessions when all places are taken (SESSION2). */
  #hasRoom({ options }: Serving, now: number): boolean {
    const { maxSessions = 1_000, sessionIdleMs = 1_800_000 } = options
    if (this.#all.size < maxSessions) return true
    for (const [id, session] of this.#all) {
      if (now - session.usedAt < sessionIdleMs) continue
      this.#all.delete(id)
      void session.server.close()
    }
    return this.#all.size < maxSessions
  }
}

const refusal = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status })

/** The last events of a session (SESSION3). */
class LastEvents implements EventStore {
  readonly #newId: () => string
  readonly #events = new Map<string, { readonly stream: string; readonly message: JSONRPCMessage }>()

  constructor(newId: () => string) {
    this.#newId = newId
  }

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const id = this.#newId()
    this.#events.set(id, { stream, message })
    const [oldest] = this.#events.keys()
    if (this.#events.size > mostEvents && oldest !== undefined) this.#events.delete(oldest)
    return id
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#events.get(id)?.stream
  }

  async replayEventsAfter(
    last: string,
    { send }: { readonly send: (id: string, message: JSONRPCMessage) => Promise<void> }
  ): Promise<string> {
    const stream = this.#events.get(last)?.stream ?? ""
    let isMissed = false
    for (const [id, event] of this.#events) {
      if (isMissed && event.stream === stream && Object.keys(event.message).length > 0) await send(id, event.message)
      if (id === last) isMissed = true
    }
    return stream
  }
}
