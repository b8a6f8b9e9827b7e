/**
 * The listener for requests of other nodes.
 *
 * Owns: its socket, and the connections of other nodes. Does not own the handler.
 *
 * INNER4. Until the head of the answer is sent, the sender of an accepted request gets the status 102 after `firstMs`, and
 *         then each `everyMs`. While its body is read, the status is sent only if a part of the body has come since the last one.
 * INNER5. A request without a valid signature (SEAL1, SEAL2) is refused with 401 before its body is read, and reaches no
 *         handler. So is a request whose body does not have the signed hash.
 * INNER7. A stream without a valid signature ends its connection. Nothing of it, or of the streams behind it, is stored, parsed
 *         or counted. Before its first accepted request, a connection has at most 64 kB of bodies on the way.
 * INNER8. A listener that closes answers the requests that it has accepted, for at most `closeMs`, and processes none that come later:
 *         their senders learn it.
 * INNER10. A request whose sender leaves while its body comes reaches no handler, and is no failure: it is not reported.
 *
 * @module
 */
import type { Clock } from "@troupe/otp"
import { HttpError } from "@troupe/server/HttpError"
import { answered, writeBody } from "@troupe/server/Node"
import * as http2 from "node:http2"
import type { AddressInfo, Socket } from "node:net"
import { ClusterError } from "../placement/index.ts"
import type { Tls } from "./InnerClient.ts"
import { clientLeft, connectionSettings, idleMs, mostBytes, runSetting, windowBytes } from "./limits.ts"
import { marks } from "./marks.ts"
import { hashOf, type Refusal, type SignatureCheck } from "./signature.ts"

/** A request of another node whose signature was checked. */
export interface Accepted {
  readonly method: string
  /** The path, with its query. */
  readonly path: string
  readonly note: string
  readonly body: Uint8Array<ArrayBuffer>
  /** Aborted when the other node cuts the connection. */
  readonly signal: AbortSignal
}

/** Where a node listens for other nodes, and how it handles their requests. */
export interface InnerListenOptions {
  /** The address to listen on, as `10.0.0.7:7700`. */
  readonly listen: string
  /** The address under which other nodes reach it. Default: the one that it listens on. */
  readonly address?: string | undefined
  /** The certificates of the traffic. Default: it is not encrypted. */
  readonly tls?: Tls | undefined
  /** The clock of timeouts. */
  readonly clock: Clock.Clock
  /** Refuses a request whose signature is wrong or too old. */
  readonly check: SignatureCheck
  /** Answers an accepted request. */
  readonly handle: (accepted: Accepted) => Promise<Response>
}

/** A listener. `address` is its address for other nodes; `close` ends every connection (INNER8). */
export interface InnerListening {
  readonly address: string
  /** The address that it listens on. */
  readonly bound: string
  readonly close: () => Promise<void>
}

/** Most requests are answered before. */
const firstMs = 250
const everyMs = 1_000

/** How long the accepted requests of a listener that closes may take. */
const closeMs = 1_000

/** How long another node may take nothing of an answer. */
const stallMs = 60_000

/** Listens. Rejects with a `ClusterError` (`invalid_options`) when it cannot, such as on an address that is in use. */
export const listenInner = async (options: InnerListenOptions): Promise<InnerListening> => {
  try {
    return await listening(options)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new ClusterError("invalid_options", `cluster: this node cannot listen on ${options.listen}: ${why}`, {
      cause
    })
  }
}

/** How many streams other nodes may cancel a second. Readers leave, and each that leaves cancels a stream. */
const mostCancelled = 100_000

const listening = async (options: InnerListenOptions): Promise<InnerListening> => {
  const { tls } = options
  const { hostname, port } = new URL(`http://${options.listen}`)
  const host = hostname.replaceAll(/[[\]]/gu, "")
  const settings = {
    ...connectionSettings,
    settings: { ...connectionSettings.settings, customSettings: { [runSetting]: options.check.run } },
    streamResetBurst: mostCancelled,
    streamResetRate: mostCancelled
  }
  const server =
    tls === undefined
      ? http2.createServer(settings)
      : http2.createSecureServer({
          ...settings,
          key: tls.key,
          cert: tls.cert,
          ...(tls.ca === undefined ? {} : { ca: tls.ca, requestCert: true, rejectUnauthorized: true })
        })
  let own = options.listen
  const sockets = new Set<Socket>()
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  const sessions = new Set<http2.ServerHttp2Session>()
  server.on("session", (session) => {
    sessions.add(session)
    session.once("close", () => sessions.delete(session))
    // Each open stream has a beat each second.
    session.setTimeout(2 * idleMs, () => session.destroy())
  })
  // Each stream reports its own failure.
  server.on("sessionError", () => {})
  const known = new WeakSet<http2.Http2Session>()
  server.on("stream", (stream, headers) => {
    // Its writer sees that it is destroyed.
    stream.on("error", () => {})
    const { session } = stream
    if (session === undefined || session.closed || stream.destroyed) return void stream.destroy()
    const { ":method": method = "GET", ":path": path = "/" } = headers
    const checked = options.check.check({ method, path, to: own }, headers)
    if ("refused" in checked) return refuse(stream, session, checked.refused)
    if (!known.has(session)) session.setLocalWindowSize(windowBytes)
    known.add(session)
    void respond(options, stream, { method, path, ...checked })
  })
  server.maxConnections = 10_000
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(Number(port === "" ? 80 : port), host, () => {
      server.off("error", reject)
      resolve()
    })
  })
  const taken = (server.address() as AddressInfo).port
  const bound = `${hostname}:${taken}`
  own = options.address ?? bound
  return {
    address: own,
    bound,
    close: () =>
      new Promise((resolve) => {
        const timer = options.clock.setTimeout(() => {
          for (const socket of sockets) socket.destroy()
        }, closeMs)
        server.close(() => {
          options.clock.clearTimeout(timer)
          resolve()
        })
        // The notice of the end names the last accepted request.
        for (const session of sessions) session.close()
      })
  }
}

/** INNER7: ends the stream, and then its connection. A sender that is to sign again keeps its connection. */
const refuse = (stream: http2.ServerHttp2Stream, session: http2.Http2Session, why: Refusal): void => {
  stream.respond({ ":status": 401, [marks.header]: why }, { endStream: true })
  if (why !== "busy") session.close()
  stream.close()
}

/** A request whose signature is valid. */
interface Signed {
  readonly method: string
  readonly path: string
  readonly note: string
  readonly bodyHash: string
}

/** Writes the answer of a request. Never rejects. */
const respond = async (options: InnerListenOptions, stream: http2.ServerHttp2Stream, signed: Signed): Promise<void> => {
  try {
    const response = await answered(() => answer(options, stream, signed))
    if (!stream.closed && !stream.destroyed) stream.respond(headersOf(response))
    // The rest of a body that was refused is dropped.
    stream.resume()
    await writeBody(stream, response, { clock: options.clock, stallMs })
  } catch (error) {
    // The other node sees that the answer is incomplete.
    stream.destroy(error instanceof Error ? error : new Error(String(error)))
  }
}

/** The headers of an answer, for HTTP/2. */
const headersOf = ({ status, headers }: Response): http2.OutgoingHttpHeaders => {
  const sent: http2.OutgoingHttpHeaders = { ":status": status }
  for (const [name, value] of headers) {
    const { [name]: before } = sent
    sent[name] = before === undefined ? value : [String(before), value].flat()
  }
  return sent
}

/** Answers a request whose body is the signed one. */
const answer = async (
  { clock, handle }: InnerListenOptions,
  stream: http2.ServerHttp2Stream,
  { method, path, note, bodyHash }: Signed
): Promise<Response> => {
  // INNER4
  let hasMoved = true
  const beat = (): void => {
    if (stream.headersSent || stream.destroyed) return
    if (hasMoved || stream.readableEnded) stream.additionalHeaders({ ":status": 102 })
    hasMoved = false
    timer = clock.setTimeout(beat, everyMs)
  }
  let timer = clock.setTimeout(beat, firstMs)
  try {
    const body = await bodyOf(stream, () => void (hasMoved = true))
    if (hashOf(body) !== bodyHash) {
      return new Response(null, { status: 401, headers: { [marks.header]: "signature" satisfies Refusal } })
    }
    return await handle({ method, path, note, body, signal: whenCut(stream) })
  } finally {
    clock.clearTimeout(timer)
  }
}

/** The body of a request. Rejects when it is too large, or cut. `moved` is called for each part of it. */
const bodyOf = (stream: http2.ServerHttp2Stream, moved: () => void): Promise<Uint8Array<ArrayBuffer>> =>
  new Promise((resolve, reject) => {
    const pieces: Array<Buffer> = []
    let bytes = 0
    stream.on("data", (piece: Buffer) => {
      bytes += piece.byteLength
      moved()
      if (bytes <= mostBytes) pieces.push(piece)
      else reject(tooLarge())
    })
    stream.once("end", () => resolve(Buffer.concat(pieces)))
    stream.once("close", () => reject(gone()))
  })

/** A signal that is aborted when the other node cuts the stream; with an `HttpError`, unless its client has left. */
const whenCut = (stream: http2.ServerHttp2Stream): AbortSignal => {
  const cut = new AbortController()
  const end = (): void => cut.abort(stream.rstCode === clientLeft ? undefined : gone())
  if (stream.aborted || stream.destroyed) end()
  else stream.once("aborted", end)
  return cut.signal
}

const gone = (): HttpError => new HttpError("closing", "A node is gone")

const tooLarge = (): HttpError =>
  new HttpError("body_too_large", `A request between nodes has at most ${mostBytes} bytes`)
