/**
 * Handles the requests of each connection in order.
 *
 * Owns: the queue of requests on each connection, and the timer of a connection without a request. Does not own the sockets
 * or the answers.
 *
 * NODE5. The next request of a connection is handled when its client has taken the previous answer. A connection with more
 *        than `mostWaiting` waiting requests is closed.
 * NODE6. A connection is closed `idleMs` after its last answer, even when bytes arrive that are no request.
 */
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Clock } from "@troupe/otp"

/** How many requests may wait on a connection behind the current one. */
const mostWaiting = 100

/** One connection: the requests that wait behind the current one, or the timer that closes it. */
interface Connection {
  readonly waiting: Array<() => void>
  handles: boolean
  timer: unknown
}

export class Connections {
  readonly #clock: Clock.Clock
  readonly #idleMs: number
  readonly #open = new Map<Socket, Connection>()

  constructor(clock: Clock.Clock, idleMs: number) {
    this.#clock = clock
    this.#idleMs = idleMs
  }

  /** Tracks a connection while it is open. */
  opened(socket: Socket): void {
    const connection: Connection = { waiting: [], handles: false, timer: undefined }
    this.#open.set(socket, connection)
    socket.once("close", () => {
      this.#open.delete(socket)
      connection.waiting.length = 0
      this.#clock.clearTimeout(connection.timer)
    })
  }

  /** The open connections. */
  get sockets(): Iterable<Socket> {
    return this.#open.keys()
  }

  /** Calls `handle` when the previous answers are taken. Never calls it when the connection closes first. */
  inTurn(outgoing: ServerResponse, handle: () => void): void {
    const { socket } = outgoing.req
    const connection = this.#open.get(socket)
    if (connection === undefined) return
    const begin = (): void => {
      outgoing.once("close", () => this.#next(socket, connection))
      handle()
    }
    if (!connection.handles) {
      connection.handles = true
      this.#clock.clearTimeout(connection.timer)
      begin()
    } else if (connection.waiting.length < mostWaiting) connection.waiting.push(begin)
    else socket.destroy()
  }

  #next(socket: Socket, connection: Connection): void {
    if (socket.destroyed) return
    const next = connection.waiting.shift()
    if (next !== undefined) return next()
    connection.handles = false
    connection.timer = this.#clock.setTimeout(() => socket.destroy(), this.#idleMs)
  }
}
