/**
 * A port for a server that listens later, or stops and listens again.
 *
 * FREEPORT1. It is below the ports that systems give to outgoing connections: such a connection would take it before the server listens.
 * FREEPORT2. A program gets no port twice, also when nothing listens on the first one yet.
 */
import { randomInt } from "node:crypto"
import { createServer } from "node:net"

const [first, end] = [10_000, 32_768]
let next = randomInt(first, end)

/** A port of this machine that is free now. */
export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const port = next
    next = port + 1 === end ? first : port + 1
    const server = createServer().once("error", () => resolve(freePort()))
    server.listen(port, "127.0.0.1", () => void server.close(() => resolve(port)))
  })
