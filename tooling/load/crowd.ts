/** Many clients of one server, each a socket of its own that posts once and reads what comes. */
import { connect, type Socket } from "node:net"
import { nowMicros } from "./pace.ts"

/** What one client has read. */
export interface Reader {
  readonly socket: Socket
  words: number
  /** The longest it waited for a word, from its first on, in milliseconds. */
  longestMs: number
  over: boolean
  /** When it came, and when its first word did. */
  readonly cameAt: number
  heardAt: number | undefined
}

const at = "@".charCodeAt(0)

/** The clients, and how late their words came. */
export class Crowd {
  readonly readers = new Set<Reader>()
  /** Told of a client whose reply is over. */
  readonly #over: (reader: Reader) => void
  /** In microseconds, of the words since `clear`. */
  delays: Array<number> = []
  /** How long it took from coming to the first word, in milliseconds, of all clients. */
  readonly openings: Array<number> = []

  constructor(over: (reader: Reader) => void = () => {}) {
    this.#over = over
  }

  #left(reader: Reader): void {
    this.readers.delete(reader)
    this.#over(reader)
  }

  /** A client of its own; resolves when it is connected. */
  async join(port: number, path: string, body: string): Promise<Reader> {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true })
    const reader: Reader = {
      socket,
      words: 0,
      longestMs: 0,
      over: false,
      cameAt: performance.now(),
      heardAt: undefined
    }
    this.readers.add(reader)
    let rest: Buffer = Buffer.alloc(0)
    let last = 0
    let next = 0
    socket.on("error", () => {})
    socket.on("close", () => (reader.over = true))
    socket.on("data", (chunk: Buffer) => {
      const now = nowMicros()
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      let from = 0
      for (let open = bytes.indexOf(at); open !== -1; open = bytes.indexOf(at, from)) {
        const close = bytes.indexOf(at, open + 1)
        if (close === -1) break
        from = close + 1
        const [place, saidAt] = bytes
          .toString("latin1", open + 1, close)
          .split(":")
          .map(Number)
        // The events at the end of a reply have all of its words again.
        if (place !== next || saidAt === undefined) continue
        next += 1
        this.delays.push(now - saidAt)
        if (reader.words > 0) reader.longestMs = Math.max(reader.longestMs, (now - last) / 1_000)
        last = now
        reader.words += 1
        if (reader.heardAt === undefined) {
          reader.heardAt = performance.now()
          this.openings.push(reader.heardAt - reader.cameAt)
        }
      }
      rest = bytes.subarray(Math.max(from, bytes.length - 32))
      if (rest.indexOf(at) === -1) rest = Buffer.alloc(0)
      if (chunk.includes("0\r\n\r\n")) {
        socket.end()
        this.#left(reader)
      }
    })
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject))
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\naccept: text/event-stream\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    )
    return reader
  }

  /** Begins to count anew. */
  clear(): void {
    this.delays = []
    for (const reader of this.readers) {
      reader.words = 0
      reader.longestMs = 0
    }
  }

  /** All are gone at once, in the middle of whatever they read. */
  vanish(): void {
    for (const { socket } of this.readers) socket.destroy()
  }

  /** They read no more. */
  stall(): void {
    for (const { socket } of this.readers) socket.pause()
  }

  /** They read on. */
  goOn(): void {
    for (const { socket } of this.readers) socket.resume()
  }
}
