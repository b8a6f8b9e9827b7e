/**
 * A TCP proxy that may stop the bytes of a connection, or cut it.
 *
 * Owns: its listener, and both sockets of each connection.
 *
 * PROXY1. While a connection is silent, neither side gets a byte, an end or a reset of the other. Afterwards all bytes follow.
 * PROXY2. A connection that is cut is reset on both sides.
 * PROXY3. A connection that is lost stays silent for good.
 */
import * as net from "node:net"
import { freePort } from "./freePort.ts"

/** What happens to a connection. */
export type Passage = "pass" | "silent" | "cut"

/** The passage of a connection, by the port from which its client connects. */
export type PassageOf = (clientPort: number) => Passage

interface Connection {
  readonly clientPort: number
  readonly client: net.Socket
  /** The connection to the target, made when bytes may pass for the first time. */
  target: net.Socket | undefined
  isSilent: boolean
}

export class TcpProxy {
  readonly #server: net.Server
  readonly #connections = new Set<Connection>()
  readonly #lost = new Set<Connection>()
  #port = 0
  #target: string
  #passageOf: PassageOf = () => "pass"

  private constructor(target: string) {
    this.#target = target
    const settings = { noDelay: true, allowHalfOpen: true, pauseOnConnect: true }
    this.#server = net.createServer(settings, (client) => this.#opened(client))
  }

  /** Listens on a free port of this machine. */
  static async listen(target = ""): Promise<TcpProxy> {
    const proxy = new TcpProxy(target)
    await proxy.open()
    return proxy
  }

  get address(): string {
    return `127.0.0.1:${this.#port}`
  }

  /** Where later connections go. */
  lead(target: string): void {
    this.#target = target
  }

  /** Sets the passage of all connections, and of later ones. */
  set(passageOf: PassageOf): void {
    this.#passageOf = passageOf
    this.update()
  }

  /** Asks for the passage of all connections again. */
  update(): void {
    for (const connection of this.#connections) this.#apply(connection)
  }

  /** Cuts all connections. */
  cut(): void {
    for (const connection of [...this.#connections, ...this.#lost]) this.#cut(connection)
    this.#lost.clear()
  }

  /** Loses the connections that are silent now, and whose client's port is lost (PROXY3). */
  lose(isLost: (clientPort: number) => boolean): void {
    for (const connection of this.#connections) {
      if (!connection.isSilent || !isLost(connection.clientPort)) continue
      this.#connections.delete(connection)
      this.#lost.add(connection)
    }
  }

  /** Refuses later connections. */
  close(): void {
    this.#server.close()
  }

  /** Accepts connections again, on the same port. */
  async open(): Promise<void> {
    if (this.#server.listening) return
    const port = this.#port === 0 ? await freePort() : this.#port
    await new Promise<void>((resolve) => void this.#server.listen(port, "127.0.0.1", resolve))
    this.#port = port
  }

  #opened(client: net.Socket): void {
    const connection = { clientPort: client.remotePort ?? 0, client, target: undefined, isSilent: true }
    this.#connections.add(connection)
    this.#watch(connection, client)
    this.#apply(connection)
  }

  #apply(connection: Connection): void {
    const passage = this.#passageOf(connection.clientPort)
    if (passage === "cut") this.#cut(connection)
    else if (passage === "silent") silence(connection)
    else this.#pass(connection)
  }

  #pass(connection: Connection): void {
    if (!connection.isSilent) return
    connection.isSilent = false
    const { client } = connection
    const target = (connection.target ??= this.#connect(connection))
    // A side that failed in the silence ends the other.
    if (client.destroyed || target.destroyed) return this.#cut(connection)
    client.pipe(target)
    target.pipe(client)
  }

  #connect(connection: Connection): net.Socket {
    const [host = "", port = "0"] = this.#target.split(":")
    const target = net.connect({ host, port: Number(port), noDelay: true, allowHalfOpen: true })
    this.#watch(connection, target)
    return target
  }

  #watch(connection: Connection, socket: net.Socket): void {
    socket.on("error", () => {
      if (!connection.isSilent) this.#cut(connection)
    })
    socket.on("close", () => {
      const { client, target } = connection
      if (client.destroyed && target?.destroyed !== false) this.#connections.delete(connection)
    })
  }

  /** PROXY2 */
  #cut(connection: Connection): void {
    connection.isSilent = false
    this.#connections.delete(connection)
    for (const socket of [connection.client, connection.target]) {
      if (socket?.destroyed === false) socket.resetAndDestroy()
    }
  }
}

/** PROXY1 */
const silence = (connection: Connection): void => {
  const { client, target } = connection
  if (connection.isSilent || target === undefined) return
  connection.isSilent = true
  client.unpipe(target)
  target.unpipe(client)
  client.pause()
  target.pause()
}
