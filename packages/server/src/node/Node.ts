/**
 * A server on Node's own HTTP.
 *
 * Owns: the listening socket and its connections. Does not own the server behind it, which it closes. Does not own the
 * program's signals: on SIGTERM a program calls `close`.
 *
 * NODE1. A client that reads slowly or not at all holds at most {@link socketBytes} of a socket, and one frame or one
 *        answer. A client that takes nothing for `stallMs` is disconnected, whatever the kind of answer and whatever it
 *        sends.
 * NODE2. When a client disconnects, its request's signal is aborted and its stream is released.
 * NODE3. A client that does not finish sending a request gets an error answer, and is disconnected.
 * NODE4. After `close` it takes no more connections, answers the pending requests, ends each stream with its last frame,
 *        and destroys the remaining connections after `graceMs`.
 *
 * @module
 */
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Clock } from "@troupe/otp"
import { Connections } from "./connections.ts"
import { checkListening, type ListenOptions } from "./listenOptions.ts"
import { refuseMalformed } from "./malformed.ts"
import { hostGuard } from "./hostGuard.ts"
import { toNode } from "./toNode.ts"
import { pieceBytes } from "../http/index.ts"
import type { Server } from "../server/index.ts"

/** The bytes that a socket buffers for its client before more is requested. */
export const socketBytes = pieceBytes

export type { ListenOptions } from "./listenOptions.ts"
export { writeBody, type Patience } from "./outgoing.ts"
export { Cut, endFrame, responseOf, streamOf, type Pieces, type Question } from "../http/index.ts"
export { answered, toNode, type NodeHandler, type ToNodeOptions } from "./toNode.ts"

/** A server that listens. */
export interface Listening {
  /** The number that the host chose, if the options have none. */
  readonly port: number
  /** The URL of the server, without a path. */
  readonly url: string
  /** Closes it gracefully, with the server behind it. Every call resolves when it is closed. */
  readonly close: () => Promise<void>
}

/**
 * Listens, and resolves when connections are accepted.
 *
 * **Errors**: rejects with a `ValidationError` (`invalid_options`) for unknown and invalid options, and with Node's own
 * error when it cannot listen.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Fake, Troupe } from "@troupe/chat"
 * import { Server } from "@troupe/server"
 * import { listen } from "@troupe/server/Node"
 *
 * const troupe = await Troupe.start({ adapter: Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] }) })
 * const server = Server.make({ troupe, authorize: () => ({ owner: "anna" }) })
 * const { url, close } = await listen(server)
 *
 * const response = await fetch(`${url}/chats/c1`)
 * response.status // => 404
 * await close()
 * await troupe.stop()
 * ```
 */
export const listen = async (server: Server, options: ListenOptions = {}): Promise<Listening> => {
  checkListening(server, options)
  const { port = 0, host = "127.0.0.1", graceMs = 10_000, stallMs = 120_000, clock = Clock.live } = options
  const headersMs = options.headersMs ?? 10_000
  const keepAliveMs = options.keepAliveMs ?? 5_000
  const requestMs = Math.max(headersMs, options.requestMs ?? 30_000)
  const refuseHost = hostGuard(host, server.hosts)
  let closing: Promise<void> | undefined
  const handle = toNode(
    async (request) => {
      refuseHost(request)
      return server.fetch(request)
    },
    { stallMs, clock, closing: () => closing !== undefined }
  )

  const respond = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    outgoing.once("close", () => {
      if (closing !== undefined) http.closeIdleConnections()
    })
    void handle(incoming, outgoing)
  }

  const http = createServer({
    highWaterMark: socketBytes,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.max(50, Math.min(headersMs / 4, 5_000)),
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: options.headerBytes ?? 16_384,
    requireHostHeader: false,
    noDelay: true
  })
  const connections = new Connections(clock, keepAliveMs + headersMs)
  const inTurn = (incoming: IncomingMessage, outgoing: ServerResponse): void =>
    connections.inTurn(outgoing, () => respond(incoming, outgoing))
  http.on("connection", (socket) => connections.opened(socket))
  http.on("request", inTurn)
  // An unknown `expect` header is ignored, and the request is answered.
  http.on("checkExpectation", inTurn)
  http.maxConnections = options.connections ?? 10_000
  http.on("clientError", (error, socket) => refuseMalformed(error, socket, clock))
  await listening(http, port, host)
  const { port: taken } = http.address() as AddressInfo
  return {
    port: taken,
    url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}`,
    close: () => (closing ??= close(http, server, connections, graceMs, clock))
  }
}

const listening = (http: HttpServer, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    http.once("error", reject)
    http.listen(port, host, () => {
      http.off("error", reject)
      resolve()
    })
  })

/** NODE4. */
const close = async (
  http: HttpServer,
  server: Server,
  connections: Connections,
  graceMs: number,
  clock: Clock.Clock
): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  http.close(() => resolve())
  const timer = clock.setTimeout(() => http.closeAllConnections(), graceMs)
  await server.close()
  http.closeIdleConnections()
  // Node does not count a connection as idle before its first request. Browsers open some in advance.
  for (const socket of connections.sockets) if (socket.bytesRead === 0) socket.destroy()
  await promise
  clock.clearTimeout(timer)
}
