/**
 * A loopback HTTP server that replays a provider's reply.
 *
 * Owns: the listening socket and every connection. Uses no SDK.
 *
 * WIRE1. A request with tool results gets the closing reply, every other one the recorded reply.
 * WIRE2. Every response closes its connection, so an open connection is a leak of the client.
 *
 * @module
 */
import { once } from "node:events"
import { createServer } from "node:http"
import type { ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { text } from "node:stream/consumers"
import { setTimeout as after } from "node:timers/promises"
import { bringsToolResults, closing } from "./closing.ts"
import type { Recording } from "./recording.ts"

/** How long connections may take to close after the chat has ended. */
const graceMs = 500

/** Answers one request, whose body was read. */
export type Answer = (body: string, response: ServerResponse) => Promise<void>

/** Serves a recording. */
export const serve = (recording: Recording) => serveBy((body, response) => answer(recording, body, response))

/** Serves answers of any kind. */
export const serveBy = async (answerTo: Answer) => {
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    text(request)
      .then((body) => answerTo(body, response))
      .catch(() => response.destroy())
  })
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    /** Stops listening, and resolves with the number of connections still open after a grace period, which it closes. */
    stop: async (): Promise<number> => {
      const patience = new AbortController()
      const closed = Promise.all([...sockets].map((socket) => once(socket, "close").catch(() => undefined)))
      await Promise.race([closed, after(graceMs, undefined, { signal: patience.signal }).catch(() => undefined)])
      patience.abort()
      const open = sockets.size
      server.closeAllConnections()
      server.close()
      return open
    }
  }
}

const answer = async (recording: Recording, body: string, response: ServerResponse): Promise<void> => {
  const isClosing = bringsToolResults(body)
  if (!isClosing && recording.status !== undefined) {
    response.writeHead(recording.status, { "content-type": "application/json", connection: "close" })
    response.end(recording.data.join("\n"))
    return
  }
  response.writeHead(200, { "content-type": "text/event-stream", connection: "close" })
  const data = isClosing ? closing[recording.dialect].map((event) => JSON.stringify(event)) : recording.data
  for (const line of data) {
    if (!response.write(framed(line, recording)) && !response.destroyed) {
      await Promise.race([once(response, "drain"), once(response, "close")])
    }
  }
  response.end(endsWithDone(recording, data) ? "data: [DONE]\n\n" : "")
}

/** Some APIs repeat the name of an event: in the frame, and in the data. */
export const framed = (line: string, { dialect }: Pick<Recording, "dialect">): string => {
  const isNamed = dialect === "messages" || dialect === "responses"
  const name = isNamed ? /^\{"type":\s*"([\w.]+)"/.exec(line)?.[1] : undefined
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${line}\n\n`
}

/** Chat completions end with `[DONE]`, which recordings may omit; a reply that was cut off stays cut off. */
const endsWithDone = ({ dialect }: Recording, data: ReadonlyArray<string>): boolean =>
  dialect === "chat" && data.at(-1) !== "[DONE]" && data.some((line) => /"finish_reason":\s*"/.test(line))
