/** Writes a `Response` to a socket, no faster than it is taken. */
import type { ServerResponse } from "node:http"
import { streamOf } from "../frameStream.ts"

/**
 * Resolves when all is written, or the client is gone. Rejects when what is written failed.
 *
 * **Details**: pieces that are ready go out together, in one write: Node holds a socket's writes back until the present turn is
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
  if (stream === undefined) await pump(outgoing, chunksOf(response))
  else {
    outgoing.socket?.setTimeout(stallMs)
    outgoing.flushHeaders()
    await pump(outgoing, () => stream.next())
    outgoing.socket?.setTimeout(0)
  }
  outgoing.end()
}

const chunksOf = ({ body }: Response): (() => Promise<Uint8Array | undefined>) => {
  const reader = body?.getReader()
  return async () => (await reader?.read())?.value
}

const pump = async (outgoing: ServerResponse, next: () => Promise<string | Uint8Array | undefined>): Promise<void> => {
  for (let piece = await next(); piece !== undefined && !outgoing.destroyed; piece = await next()) {
    if (!outgoing.write(piece)) await taken(outgoing)
  }
}

/** Resolves when the socket has taken what it was given, or is gone. */
const taken = (outgoing: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      outgoing.off("drain", done)
      outgoing.off("close", done)
      resolve()
    }
    outgoing.on("drain", done)
    outgoing.on("close", done)
    if (outgoing.destroyed) done()
  })
