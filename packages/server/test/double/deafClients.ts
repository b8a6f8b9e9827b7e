/** A server over HTTP on a clock of its own, and clients that read nothing of it. */
import type { Socket } from "node:net"
import { Clock } from "@troupe/otp"
import { onTestFinished } from "vitest"
import * as Node from "../../src/node/Node.ts"
import type { Server } from "../../src/server/Server.ts"
import { connected } from "./sockets.ts"

/** How long a client may read nothing. */
export const stallMs = 1_000

/** A server of anything, on a clock of its own, and the requests that it handled. */
export const listening = async (fetch: Server["fetch"]) => {
  const clock = Clock.test()
  const requests: Array<Request> = []
  const server: Server = {
    hosts: undefined,
    close: async () => {},
    fetch: (request) => {
      requests.push(request)
      return fetch(request)
    }
  }
  const node = await Node.listen(server, { clock, stallMs, graceMs: 0 })
  onTestFinished(async () => {
    const closed = node.close()
    await clock.advance(1)
    await closed
  })
  return { node, clock, requests }
}

/** A connection whose client sends, and reads nothing. */
export const deaf = async (url: string, bytes: string): Promise<Socket> => {
  const socket = await connected(url)
  onTestFinished(() => void socket.destroy())
  socket.pause()
  socket.write(bytes)
  return socket
}
