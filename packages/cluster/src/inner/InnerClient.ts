/**
 * Requests of this node to other nodes.
 *
 * Owns: the open connections to other nodes, and the timer of each request. Does not own the placement: its caller names
 * the node.
 *
 * INNER1. A request whose node sends nothing for `headMs` before the head of its answer fails with `silent`. A node sends a
 *         note that it works each second (INNER4).
 * INNER2. An answer whose node sends nothing for `quietMs` while its reader waits fails with `silent`.
 * INNER3. When the signal is aborted, the reader leaves or the client is closed, the connection is cut, and no timer is left.
 *
 * @module
 */
import type { Clock } from "@troupe/otp"
import { responseOf } from "@troupe/server/Node"
import * as http from "node:http"
import * as https from "node:https"
import { ClusterError } from "../placement/index.ts"
import { AnswerBody, type Reading } from "./AnswerBody.ts"
import { hashOf, seal } from "./signature.ts"
import { marks } from "./marks.ts"

/** The certificates of the nodes: each node's own, and the authority that signed all of them. */
export interface Tls {
  readonly key: string | Buffer
  readonly cert: string | Buffer
  readonly ca?: string | Buffer | undefined
}

/** The parts of the options that a client needs. */
export interface InnerClientOptions {
  readonly secret: string
  readonly clock: Clock.Clock
  readonly tls?: Tls | undefined
  readonly headMs?: number | undefined
  readonly quietMs?: number | undefined
}

/** A request to another node. */
export interface InnerRequest {
  readonly method: string
  /** The path, with its query. */
  readonly path: string
  readonly note: string
  readonly body?: Uint8Array | undefined
  readonly signal?: AbortSignal | undefined
  /** Called when the node or its connection ends the body of the answer too early (INNER2). */
  readonly onCut?: (() => void) | undefined
}

export class InnerClient {
  readonly #options: InnerClientOptions
  readonly #headMs: number
  readonly #quietMs: number
  readonly #agent: http.Agent
  #isClosed = false

  constructor(options: InnerClientOptions) {
    this.#options = options
    this.#headMs = options.headMs ?? 2_000
    this.#quietMs = options.quietMs ?? 3_000
    const kept = { keepAlive: true, noDelay: true, timeout: 30_000 }
    const { tls } = options
    this.#agent =
      tls === undefined
        ? new http.Agent(kept)
        : new https.Agent({ ...kept, key: tls.key, cert: tls.cert, ...(tls.ca === undefined ? {} : { ca: tls.ca }) })
  }

  /**
   * Sends a request to a node, and resolves with the head of its answer.
   *
   * **Errors**: rejects with a `ClusterError`: `unreached`, `silent`, `unauthorized`, `misdirected`, `stopped`.
   */
  async request(to: string, request: InnerRequest): Promise<Response> {
    if (this.#isClosed) throw new ClusterError("stopped", "This node has stopped")
    const incoming = await this.#head(to, request)
    const mark = incoming.headers[marks.header]
    if (mark === undefined) {
      return responseOfNode(incoming, { clock: this.#options.clock, quietMs: this.#quietMs, onCut: request.onCut })
    }
    incoming.resume()
    if (mark === marks.misdirected) {
      throw new ClusterError("misdirected", `The node ${to} is not the home of this conversation`)
    }
    throw new ClusterError(
      "unauthorized",
      `The node ${to} refused a request of this node: ${String(mark)}; the nodes need the same secret, protocol and time`
    )
  }

  /** Cuts every connection (INNER3). */
  close(): void {
    this.#isClosed = true
    this.#agent.destroy()
  }

  #head(to: string, { method, path, note, body, signal }: InnerRequest): Promise<http.IncomingMessage> {
    const { secret, clock, tls } = this.#options
    const { hostname, port } = new URL(`http://${to}`)
    const headers = seal(secret, { method, path, to, note, bodyHash: hashOf(body) }, clock.now())
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>()
    const outgoing = (tls === undefined ? http : https).request({
      agent: this.#agent,
      host: hostname.replaceAll(/[[\]]/gu, ""),
      port,
      method,
      path,
      headers: { ...headers, host: to, "content-length": body?.byteLength ?? 0 }
    })
    let isConnected = false
    let timer: unknown
    const cut = (): void => void outgoing.destroy(new Error("the reader left"))
    const wait = (): void => {
      clock.clearTimeout(timer)
      timer = clock.setTimeout(() => outgoing.destroy(new Error("the node is silent")), this.#headMs)
    }
    const over = (): void => {
      clock.clearTimeout(timer)
      signal?.removeEventListener("abort", cut)
    }
    wait()
    outgoing.once("socket", (socket) => {
      isConnected = !socket.connecting
      if (!isConnected) socket.once(tls === undefined ? "connect" : "secureConnect", () => (isConnected = true))
    })
    outgoing.on("information", wait)
    outgoing.on("response", (incoming) => {
      clock.clearTimeout(timer)
      if (this.#isClosed) incoming.destroy()
      incoming.once("close", over)
      resolve(incoming)
    })
    outgoing.on("error", (cause) => {
      over()
      reject(
        isConnected
          ? new ClusterError("silent", `The node ${to} gave no answer; it may have processed the request`, { cause })
          : new ClusterError("unreached", `The node ${to} was not reached`, { cause })
      )
    })
    if (signal?.aborted === true) cut()
    else signal?.addEventListener("abort", cut, { once: true })
    outgoing.end(body)
    return promise
  }
}

/** The names of headers that belong to one connection. */
const ofConnection: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "transfer-encoding",
  "date",
  "te",
  "trailer",
  "upgrade"
])

const responseOfNode = (incoming: http.IncomingMessage, reading: Reading): Response => {
  const headers = new Headers()
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    if (!ofConnection.has(name)) for (const value of values ?? []) headers.append(name, value)
  }
  const status = incoming.statusCode ?? 502
  if (status === 204 || status === 304) {
    incoming.resume()
    return new Response(null, { status, headers })
  }
  return responseOf(new AnswerBody(incoming, reading), { status, headers })
}
