/**
 * Writes a `Response` to a socket, no faster than its client takes it.
 *
 * A client that takes nothing of pending bytes for `stallMs` is disconnected (NODE1), whatever it sends. The time counts
 * from the moment the socket is full, and restarts when the client takes a piece.
 */
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { nextTick } from "node:process"
import type { Writable } from "node:stream"
import type { Clock } from "@troupe/otp"
import { pieceBytes, type Pieces, type Question, streamOf } from "../http/index.ts"

/** How long a client may take nothing. */
export interface Patience {
  /** The milliseconds after which the client is disconnected. */
  readonly stallMs: number
  /** The clock of `stallMs`. */
  readonly clock: Clock.Clock
}

/** A response of Node's HTTP, or a stream of HTTP/2. Chunks are framed here only for the former. */
type Outgoing = Writable & { readonly socket?: Socket | null; readonly chunkedEncoding?: boolean }

/** Writes the head and the body. Resolves and rejects as `writeBody`. */
export const write = async (outgoing: ServerResponse, response: Response, patience: Patience): Promise<void> => {
  if (!outgoing.destroyed) {
    for (const [name, value] of response.headers) outgoing.appendHeader(name, value)
    outgoing.writeHead(response.status)
    if (streamOf(response) !== undefined) outgoing.flushHeaders()
  }
  await writeBody(outgoing, response, patience)
}

/**
 * Writes a body behind its head, and ends it. Resolves when the client took everything or disconnected. Rejects when the body
 * failed.
 *
 * **Details**: texts that are ready in the same turn of the event loop go out in one write.
 */
export const writeBody = async (outgoing: Outgoing, response: Response, patience: Patience): Promise<void> => {
  const stream = streamOf(response)
  if (outgoing.destroyed) {
    if (stream === undefined) await response.body?.cancel()
    else stream.cancel()
    return
  }
  if (stream === undefined) await pump(outgoing, response, patience)
  else await flow(outgoing, stream, patience)
  outgoing.end()
  if (!outgoing.closed) await taken(outgoing, patience, undefined)
}

/**
 * Writes a body that is not asked for its {@link Pieces}. A disconnect cancels the body, also while its next piece is awaited.
 */
const pump = async (outgoing: Outgoing, { body }: Response, patience: Patience): Promise<void> => {
  if (body === null) return
  const reader = body.getReader()
  const leave = (): void => void reader.cancel().catch(() => {})
  outgoing.once("close", leave)
  let isFirst = true
  for (let piece = await reader.read(); !piece.done && !outgoing.destroyed; piece = await reader.read()) {
    await sendPieces(outgoing, piece.value, patience, isFirst)
    isFirst &&= piece.value.byteLength === 0
  }
}

/**
 * Sends bytes in pieces, so that a client that takes them slowly is not disconnected. `write` sends the first one of a body,
 * with its head.
 */
const sendPieces = async (
  outgoing: Outgoing,
  bytes: Uint8Array,
  patience: Patience,
  isFirst = false
): Promise<void> => {
  for (let at = 0; at < bytes.byteLength && !outgoing.destroyed; at += pieceBytes) {
    const piece = bytes.subarray(at, at + pieceBytes)
    const isTaken = isFirst && at === 0 ? outgoing.write(piece) : send(outgoing, piece)
    if (!isTaken) await taken(outgoing, patience, fullOf(outgoing))
  }
}

/** As `pump`, without a promise for each piece: a stream has many pieces, and most are taken at once. */
const flow = (outgoing: Outgoing, stream: Pieces, patience: Patience): Promise<void> =>
  new Promise((resolve, reject) => {
    /** The pieces of this turn of the event loop, which are sent together. */
    let ready = ""
    let waits = false
    const go = (): void => {
      if (outgoing.destroyed) resolve()
      else stream.ask(question)
    }
    /** Sends the ready pieces. Asks for the next one when the client takes them, if `take` has not asked. */
    const flush = (): void => {
      const [text, isAwaited] = [ready, waits]
      ready = ""
      waits = false
      const isTaken = text === "" || outgoing.destroyed || send(outgoing, text)
      if (!isAwaited) return
      if (isTaken) go()
      else void taken(outgoing, patience, fullOf(outgoing)).then(go)
    }
    const take = (piece: string | Uint8Array | undefined): void => {
      if (outgoing.destroyed) return resolve()
      if (typeof piece === "string" && piece.length <= pieceBytes) {
        if (ready === "") nextTick(flush)
        ready += piece
        waits = ready.length + (fullOf(outgoing)?.writableLength ?? 0) >= pieceBytes
        if (!waits) stream.ask(question)
        return
      }
      flush()
      if (piece === undefined) resolve()
      else void sendPieces(outgoing, bytesOf(piece), patience).then(go, reject)
    }
    const question: Question = { resolve: take, reject }
    stream.ask(question)
  })

const bytesOf = (piece: string | Uint8Array): Uint8Array => (typeof piece === "string" ? Buffer.from(piece) : piece)

/**
 * Sends one chunk of a response whose head is sent, as one piece. `write` would send its length, content and end separately.
 */
const send = (outgoing: Outgoing, piece: string | Uint8Array): boolean => {
  const { socket, chunkedEncoding } = outgoing
  if (!socket || chunkedEncoding !== true || outgoing.writableNeedDrain) return outgoing.write(piece)
  const head = `${Buffer.byteLength(piece).toString(16)}\r\n`
  return socket.write(typeof piece === "string" ? `${head}${piece}\r\n` : chunkOf(head, piece))
}

const chunkOf = (head: string, piece: Uint8Array): Buffer => {
  const chunk = Buffer.allocUnsafe(head.length + piece.byteLength + 2)
  chunk.write(head, "latin1")
  chunk.set(piece, head.length)
  chunk.write("\r\n", head.length + piece.byteLength, "latin1")
  return chunk
}

/** The writer that has no room: the response, or the socket to which `send` writes directly. */
const fullOf = (outgoing: Outgoing): Writable | null =>
  outgoing.writableNeedDrain ? outgoing : (outgoing.socket ?? null)

/**
 * Resolves when the writer has room again, or, without a writer, when the client took everything. Also resolves when the
 * client is disconnected, which happens after `stallMs`.
 */
const taken = (outgoing: Outgoing, { stallMs, clock }: Patience, writer: Writable | null | undefined): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clock.clearTimeout(timer)
      writer?.off("drain", done)
      outgoing.off("close", done)
      resolve()
    }
    const timer = clock.setTimeout(() => outgoing.destroy(), stallMs)
    writer?.on("drain", done)
    outgoing.on("close", done)
    if (outgoing.destroyed) done()
  })
