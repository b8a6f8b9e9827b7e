/** Many clients of one server, each with its own socket, which posts once and reads the stream. */
import { connect, type Socket } from "node:net"
import { nowMicros } from "./pace.ts"

/** The state of one client. */
export interface Reader {
  readonly socket: Socket
  words: number
  /** The longest wait for a word after the first one, in milliseconds. */
  longestMs: number
  over: boolean
  /** When the client joined, and when its first word arrived. */
  readonly cameAt: number
  receivedAt: number | undefined
}

const at = "@".charCodeAt(0)

/** The clients, and the delays of their words. */
export class Crowd {
  readonly readers = new Set<Reader>()
  /** Called with a client whose reply is over. */
  readonly #over: (reader: Reader) => void
  /** The delays of the words since `clear`, in microseconds. */
  delays: Array<number> = []
  /** The time from joining to the first word, in milliseconds, of all clients. */
  readonly openings: Array<number> = []

  constructor(over: (reader: Reader) => void = () => {}) {
    this.#over = over
  }

  #left(reader: Reader): void {
    this.readers.delete(reader)
    this.#over(reader)
  }

  /** Adds a client; resolves when it is connected. */
  async join(port: number, path: string, body: string): Promise<Reader> {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true })
    const reader: Reader = {
      socket,
      words: 0,
      longestMs: 0,
      over: false,
      cameAt: performance.now(),
      receivedAt: undefined
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
        // The events at the end of a reply repeat all of its words.
        if (place !== next || saidAt === undefined) continue
        next += 1
        this.delays.push(now - saidAt)
        if (reader.words > 0) reader.longestMs = Math.max(reader.longestMs, (now - last) / 1_000)
        last = now
        reader.words += 1
        if (reader.receivedAt === undefined) {
          reader.receivedAt = performance.now()
          this.openings.push(reader.receivedAt - reader.cameAt)
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

  /** Restarts the measurement. */
  clear(): void {
    this.delays = []
    for (const reader of this.readers) {
      reader.words = 0
      reader.longestMs = 0
    }
  }

  /** Disconnects all clients at once, in the middle of their streams. */
  vanish(): void {
    for (const { socket } of this.readers) socket.destroy()
  }

  /** Makes all clients stop reading. */
  stall(): void {
    for (const { socket } of this.readers) socket.pause()
  }

  /** Makes all clients continue to read. */
  goOn(): void {
    for (const { socket } of this.readers) socket.resume()
  }
}
