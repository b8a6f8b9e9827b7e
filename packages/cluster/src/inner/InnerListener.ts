/**
 * The listener for requests of other nodes.
 *
 * Owns: its socket, and the connections of other nodes. Does not own the handler.
 *
 * INNER4. Until the head of the answer is sent, the sender of an accepted request gets the status 102 after `firstMs`, and
 *         then each `everyMs`.
 * INNER5. A request without a valid signature (SEAL1, SEAL2) is refused with 401 before its body is read, and reaches no
 *         handler. So is a request whose body does not have the signed hash.
 *
 * @module
 */
import type { Clock } from "@troupe/otp"
import { HttpError } from "@troupe/server/HttpError"
import { respond } from "@troupe/server/Node"
import * as http from "node:http"
import * as https from "node:https"
import type { AddressInfo } from "node:net"
import { ClusterError } from "../placement/index.ts"
import { hashOf, type SignatureCheck } from "./signature.ts"
import type { Tls } from "./InnerClient.ts"
import { marks } from "./marks.ts"

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
  readonly tls?: Tls | undefined
  readonly clock: Clock.Clock
  readonly check: SignatureCheck
  readonly handle: (accepted: Accepted) => Promise<Response>
}

/** A listener. `address` is its address for other nodes; `close` cuts every connection. */
export interface InnerListening {
  readonly address: string
  /** The address that it listens on. */
  readonly bound: string
  readonly close: () => Promise<void>
}

/** The most bytes of a body: those of a posted history, and its envelope. */
const mostBytes = 36_700_160

/** Most requests are answered before. */
const firstMs = 250
const everyMs = 1_000

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

const listening = async (options: InnerListenOptions): Promise<InnerListening> => {
  const { clock, tls } = options
  const { hostname, port } = new URL(`http://${options.listen}`)
  const host = hostname.replaceAll(/[[\]]/gu, "")
  const settings = { noDelay: true, keepAliveTimeout: 60_000, maxHeaderSize: 131_072, headersTimeout: 10_000 }
  let own = options.listen
  const handle = (incoming: http.IncomingMessage, outgoing: http.ServerResponse): void =>
    void respond(outgoing, () => answer(options, own, incoming, outgoing), { clock, stallMs })
  const server =
    tls === undefined
      ? http.createServer(settings, handle)
      : https.createServer(
          {
            ...settings,
            key: tls.key,
            cert: tls.cert,
            ...(tls.ca === undefined ? {} : { ca: tls.ca, requestCert: true, rejectUnauthorized: true })
          },
          handle
        )
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
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

/** Refuses a request before it is processed. */
const refused = (why: string): Response =>
  new Response(null, { status: 401, headers: { [marks.header]: why, connection: "close" } })

const answer = async (
  { check, clock, handle }: InnerListenOptions,
  own: string,
  incoming: http.IncomingMessage,
  outgoing: http.ServerResponse
): Promise<Response> => {
  const { method = "GET", url: path = "/", headers } = incoming
  const checked = check.check({ method, path, to: own }, headers)
  if ("refused" in checked) return refused(checked.refused)
  const { note, bodyHash } = checked
  const body = await bodyOf(incoming)
  if (hashOf(body) !== bodyHash) return refused("signature")
  const works = (): void => {
    if (outgoing.headersSent || outgoing.destroyed) return
    outgoing.writeProcessing()
    timer = clock.setTimeout(works, everyMs)
  }
  let timer = clock.setTimeout(works, firstMs)
  try {
    return await handle({ method, path, note, body, signal: whenCut(outgoing) })
  } finally {
    clock.clearTimeout(timer)
  }
}

/** The body of a request. Rejects when it is too large, or cut. */
const bodyOf = (incoming: http.IncomingMessage): Promise<Uint8Array<ArrayBuffer>> =>
  new Promise((resolve, reject) => {
    const pieces: Array<Buffer> = []
    let bytes = 0
    incoming.on("data", (piece: Buffer) => {
      bytes += piece.byteLength
      if (bytes <= mostBytes) pieces.push(piece)
      else reject(tooLarge())
    })
    incoming.once("end", () => resolve(Buffer.concat(pieces)))
    incoming.once("error", reject)
  })

/** A signal that is aborted when the other node cuts the connection. */
const whenCut = (outgoing: http.ServerResponse): AbortSignal => {
  const cut = new AbortController()
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) cut.abort()
  })
  return cut.signal
}

const tooLarge = (): HttpError =>
  new HttpError("body_too_large", `A request between nodes has at most ${mostBytes} bytes`)
