/** Writes a `Response` to a socket, no faster than it is taken. */
import type { ServerResponse } from "node:http"
import { nextTick } from "node:process"
import type { Writable } from "node:stream"
import { type FrameStream, type Question, streamOf } from "../frameStream.ts"

/**
 * Resolves when all is written, or the client is gone. Rejects when what is written failed.
 *
 * **Details**: pieces that are ready go out together, in one write: a socket's writes are held back until the present turn is
 * over.
 */
export const write = async (outgoing: ServerResponse, response: Response, stallMs: number): Promise<void> => {
  if (outgoing.destroyed) {
    await response.body?.cancel()
    return
  }
  for (const [name, value] of response.headers) outgoing.appendHeader(name, value)
  outgoing.writeHead(response.status)
  const stream = streamOf(response)
  if (stream === undefined) await pump(outgoing, response)
  else {
    outgoing.socket?.setTimeout(stallMs)
    outgoing.flushHeaders()
    await flow(outgoing, stream)
    outgoing.socket?.setTimeout(0)
  }
  outgoing.end()
}

/** A body that is nobody's stream of frames: it is left with the client, also while its next piece is awaited. */
const pump = async (outgoing: ServerResponse, { body }: Response): Promise<void> => {
  if (body === null) return
  const reader = body.getReader()
  const leave = (): void => void reader.cancel().catch(() => {})
  outgoing.once("close", leave)
  for (let piece = await reader.read(); !piece.done && !outgoing.destroyed; piece = await reader.read()) {
    if (!outgoing.write(piece.value)) await taken(outgoing)
  }
}

/** As `pump`, without a promise for each piece: a stream has many, and most are taken at once. */
const flow = (outgoing: ServerResponse, stream: FrameStream): Promise<void> =>
  new Promise((resolve, reject) => {
    const go = (): void => {
      if (outgoing.destroyed) resolve()
      else stream.ask(question)
    }
    const question: Question = {
      resolve: (piece) => {
        if (piece === undefined || outgoing.destroyed) resolve()
        else if (send(outgoing, piece)) stream.ask(question)
        else void taken(outgoing, outgoing.writableNeedDrain ? outgoing : outgoing.socket).then(go)
      },
      reject
    }
    stream.ask(question)
  })

/**
 * Sends one chunk of a response whose head is sent: in one piece, where `write` would send its length, its text and its end as
 * three. A response behind another one on its connection has no socket yet.
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

/** Resolves when the socket has taken what it was given, or is gone. */
const taken = (outgoing: ServerResponse, writer: Writable | null = outgoing): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      writer?.off("drain", done)
      outgoing.off("close", done)
      resolve()
    }
    writer?.on("drain", done)
    outgoing.on("close", done)
    if (outgoing.destroyed) done()
  })
