/**
 * The requests of each connection, in their order.
 *
 * Owns: the line of requests that wait on a connection, and the timer of a connection without a request. Does not own the
 * sockets, nor the answers.
 *
 * NODE5. The next request of a connection is handled when its client has taken the answer before. A connection on which more
 *        than `mostWaiting` requests wait is closed.
 * NODE6. A connection is closed `idleMs` after its last answer, whatever comes on it that is no request.
 */
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Clock } from "@troupe/otp"

/** How many requests may wait on a connection behind the one that is handled. */
const mostWaiting = 100

/** One connection: the requests that wait behind the one that is handled, or the timer that closes it. */
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

  /** Remembers a connection for as long as it is open. */
  opened(socket: Socket): void {
    const connection: Connection = { waiting: [], handles: false, timer: undefined }
    this.#open.set(socket, connection)
    socket.once("close", () => {
      this.#open.delete(socket)
      connection.waiting.length = 0
      this.#clock.clearTimeout(connection.timer)
    })
  }

  /** Those that are open. */
  get sockets(): Iterable<Socket> {
    return this.#open.keys()
  }

  /** Calls `handle` when the answers before this one are taken; never, when the connection is closed before. */
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
