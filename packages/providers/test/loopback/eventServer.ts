/** A loopback server that streams server-sent events as a test dictates, and says what became of its connections. */
import { once } from "node:events"
import { createServer } from "node:http"
import type { ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"

/** What a test sees of the server. */
export interface EventServer {
  readonly url: string
  /** The parsed JSON bodies of the requests so far. */
  readonly bodies: ReadonlyArray<Record<string, unknown>>
  /** Resolves when the n-th response (from 0) was closed, by whichever side. */
  readonly closed: (index: number) => Promise<void>
  readonly connections: () => number
  readonly stop: () => Promise<void>
}

/** Serves each request with `answer`. */
export const eventServer = async (
  answer: (response: ServerResponse, index: number) => void | Promise<void>
): Promise<EventServer> => {
  const bodies: Array<Record<string, unknown>> = []
  const closings: Array<PromiseWithResolvers<void>> = []
  const sockets = new Set<Socket>()
  const closing = (index: number): PromiseWithResolvers<void> => (closings[index] ??= Promise.withResolvers<void>())
  const server = createServer((request, response) => {
    const index = bodies.length
    bodies.push({})
    let body = ""
    request.setEncoding("utf8")
    request.on("data", (chunk: string) => (body += chunk))
    request.on("end", () => {
      bodies[index] = JSON.parse(body) as Record<string, unknown>
      void answer(response, index)
    })
    response.on("close", () => closing(index).resolve())
  })
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    closed: (index) => closing(index).promise,
    connections: () => sockets.size,
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}

/** Opens an event stream response. */
export const beginStream = (response: ServerResponse): void => {
  response.writeHead(200, { "content-type": "text/event-stream", connection: "close" })
}

/** Sends one event. */
export const sendEvent = (response: ServerResponse, data: unknown): void => {
  response.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`)
}

/** Sends a whole event stream. */
export const sendStream = (response: ServerResponse, events: ReadonlyArray<unknown>): void => {
  beginStream(response)
  for (const event of events) sendEvent(response, event)
  response.end()
}

/** One chunk of a chat completion. */
export const chatChunk = (delta: unknown, finishReason: string | null = null, more: object = {}): unknown => ({
  id: "chat-7",
  object: "chat.completion.chunk",
  created: 5,
  model: "small",
  choices: [{ index: 0, delta, finish_reason: finishReason }],
  ...more
})
