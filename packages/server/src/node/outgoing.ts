/**
 * Writes a `Response` to a socket, no faster than its client takes it.
 *
 * A client that takes nothing for `stallMs` while there is something to take is gone then (NODE1), whatever it sends: the time
 * counts from the moment the socket is full, and again from each piece that was taken.
 */
import type { ServerResponse } from "node:http"
import { nextTick } from "node:process"
import type { Writable } from "node:stream"
import type { Clock } from "@troupe/otp"
import { type FrameStream, pieceBytes, type Question, streamOf } from "../http/index.ts"

/** How long a client may take nothing. */
export interface Patience {
  readonly stallMs: number
  readonly clock: Clock.Clock
}

/**
 * Resolves when all is taken, or the client is gone. Rejects when what is written failed.
 *
 * **Details**: pieces that are ready go out together, in one write: a socket's writes are held back until the present turn is
 * over.
 */
export const write = async (outgoing: ServerResponse, response: Response, patience: Patience): Promise<void> => {
  if (outgoing.destroyed) {
    await response.body?.cancel()
    return
  }
  for (const [name, value] of response.headers) outgoing.appendHeader(name, value)
  outgoing.writeHead(response.status)
  const stream = streamOf(response)
  if (stream === undefined) await pump(outgoing, response, patience)
  else {
    outgoing.flushHeaders()
    await flow(outgoing, stream, patience)
  }
  outgoing.end()
  if (!outgoing.closed) await taken(outgoing, patience, undefined)
}

/** A body that is nobody's stream of frames: it is left with the client, also while its next piece is awaited. */
const pump = async (outgoing: ServerResponse, { body }: Response, patience: Patience): Promise<void> => {
  if (body === null) return
  const reader = body.getReader()
  const leave = (): void => void reader.cancel().catch(() => {})
  outgoing.once("close", leave)
  for (let piece = await reader.read(); !piece.done && !outgoing.destroyed; piece = await reader.read()) {
    await sendPieces(outgoing, piece.value, patience)
  }
}

/** Sends bytes piece by piece: a client that takes some of them slowly is not gone. */
const sendPieces = async (outgoing: ServerResponse, bytes: Uint8Array, patience: Patience): Promise<void> => {
  for (let at = 0; at < bytes.byteLength && !outgoing.destroyed; at += pieceBytes) {
    if (!outgoing.write(bytes.subarray(at, at + pieceBytes))) await taken(outgoing, patience, outgoing)
  }
}

/** As `pump`, without a promise for each piece: a stream has many, and most are taken at once. */
const flow = (outgoing: ServerResponse, stream: FrameStream, patience: Patience): Promise<void> =>
  new Promise((resolve, reject) => {
    const go = (): void => {
      if (outgoing.destroyed) resolve()
      else stream.ask(question)
    }
    const question: Question = {
      resolve: (piece) => {
        if (piece === undefined || outgoing.destroyed) resolve()
        else if (piece.length > pieceBytes) void sendPieces(outgoing, Buffer.from(piece), patience).then(go, reject)
        else if (send(outgoing, piece)) stream.ask(question)
        else void taken(outgoing, patience, outgoing.writableNeedDrain ? outgoing : outgoing.socket).then(go)
      },
      reject
    }
    stream.ask(question)
  })

/**
 * Sends one chunk of a response whose head is sent: in one piece, where `write` would send its length, its text and its end as
 * three.
 */
const send = (outgoing: ServerResponse, piece: string): boolean => {
  const { socket } = outgoing
  if (socket === null || !outgoing.chunkedEncoding || outgoing.writableNeedDrain) return outgoing.write(piece)
  if (socket.writableCorked === 0) {
    socket.cork()
    nextTick(uncork, socket)
  }
  return socket.write(`${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`)
}

const uncork = (socket: Writable): void => socket.uncork()

/**
 * Resolves when the writer has room again, or without one when all was taken; and when the client is gone, which it is after
 * `stallMs`.
 */
const taken = (
  outgoing: ServerResponse,
  { stallMs, clock }: Patience,
  writer: Writable | null | undefined
): Promise<void> =>
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
