/**
 * A server on Node's own HTTP.
 *
 * Owns: the listening socket and its connections. Does not own the server behind it, which it closes, nor the program's
 * signals: on SIGTERM a program calls `close`.
 *
 * NODE1. A client that reads slowly, or no more, holds at most {@link socketBytes} of a socket, and one frame or one answer;
 *        one that takes nothing for `stallMs` is gone, whatever it was to take and whatever it sends meanwhile.
 * NODE2. A client that is gone aborts its request's signal; a stream is released then.
 * NODE3. A client that does not send what it has begun to send is told so, and gone.
 * NODE4. Closed, it takes no more connections, answers the requests it has, ends each stream with its last frame, and destroys
 *        what is left after `graceMs`.
 *
 * @module
 */
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Clock } from "@troupe/otp"
import { Connections } from "./connections.ts"
import { refuseMalformed } from "./malformed.ts"
import { hostGuard } from "./hostGuard.ts"
import { toRequest } from "./incoming.ts"
import { write } from "./outgoing.ts"
import { pieceBytes, refusalOf, responseOfRefusal } from "../http/index.ts"
import type { Server } from "../server/index.ts"

/** What a socket holds of what its client has not taken before more is asked for, in bytes. */
export const socketBytes = pieceBytes

/**
 * Where and how a server listens.
 *
 * **Units and defaults**: `port` is any that is free, `host` is `"127.0.0.1"`. Times are in milliseconds: a request's headers
 * must be there in `headersMs`, 10,000, all of it in `requestMs`, 30,000; a client that takes nothing of its answer for `stallMs`,
 * 120,000, is gone; a connection without a request is closed after `keepAliveMs`, 5,000, and after that and `headersMs`
 * whatever comes on it that is no request; `graceMs` is 10,000. `connections` is 10,000, `headerBytes` 16,384. `clock` is the
 * host's. The requests of a connection are answered one after another, and 100 may wait on it.
 *
 * **Gotchas**: a server that listens on this computer alone answers only to the names of this computer, unless its options
 * list `hosts`: a page of another place could reach it under a name of its own otherwise.
 */
export interface ListenOptions {
  readonly port?: number | undefined
  readonly host?: string | undefined
  readonly graceMs?: number | undefined
  readonly headersMs?: number | undefined
  readonly requestMs?: number | undefined
  readonly stallMs?: number | undefined
  readonly keepAliveMs?: number | undefined
  readonly connections?: number | undefined
  readonly headerBytes?: number | undefined
  readonly clock?: Clock.Clock | undefined
}

/** A server that listens. */
export interface Listening {
  readonly port: number
  readonly url: string
  /** Ends it gracefully (NODE4), the server behind it too; resolves when it has ended, however often it is called. */
  readonly close: () => Promise<void>
}

/**
 * Listens; resolves when connections are taken.
 *
 * **Errors**: rejects with Node's own error when it cannot listen there.
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
  const { port = 0, host = "127.0.0.1", graceMs = 10_000, stallMs = 120_000, clock = Clock.live } = options
  const headersMs = options.headersMs ?? 10_000
  const keepAliveMs = options.keepAliveMs ?? 5_000
  const requestMs = Math.max(headersMs, options.requestMs ?? 30_000)
  const refuseHost = hostGuard(host, server.hosts)
  let closing: Promise<void> | undefined
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<Response> => {
    try {
      const request = toRequest(incoming, outgoing)
      refuseHost(request)
      return await server.fetch(request)
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal === undefined) throw error
      return responseOfRefusal(refusal)
    }
  }

  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    outgoing.once("close", () => {
      if (closing !== undefined) http.closeIdleConnections()
    })
    try {
      const response = await answer(incoming, outgoing)
      if (closing !== undefined) response.headers.set("connection", "close")
      await write(outgoing, response, { stallMs, clock })
      detachRequest(clock, outgoing)
    } catch {
      // A stream that failed, of which the server told: what was promised cannot be kept, and a cut says so.
      outgoing.destroy()
    }
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
    connections.inTurn(outgoing, () => void respond(incoming, outgoing))
  http.on("connection", (socket) => connections.opened(socket))
  http.on("request", inTurn)
  // An expectation that is not known is not met, and the request answered all the same.
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
  // To Node a connection is not idle before its first request: browsers open some in advance.
  for (const socket of connections.sockets) if (socket.bytesRead === 0) socket.destroy()
  await promise
  clock.clearTimeout(timer)
}

/** How long a client may go on sending a body that was refused, in milliseconds. */
const discardMs = 1_000

/** What is still sent of a request that was answered is thrown away, for a moment: a cut would take the answer with it. */
const detachRequest = (clock: Clock.Clock, { req }: ServerResponse): void => {
  if (req.complete || req.destroyed) return
  const timer = clock.setTimeout(() => req.destroy(), discardMs)
  req.once("close", () => clock.clearTimeout(timer))
  req.resume()
}
