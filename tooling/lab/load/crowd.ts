/** Many clients of one server, each with its own socket, which posts once to a chat of its own and reads the stream. */
import { connect, type Socket } from "node:net"
import { nowMicros } from "./pace.ts"

/** The state of one client. */
export interface Reader {
  readonly socket: Socket
  words: number
  /** The longest wait for a word after the first one, in milliseconds. */
  longestMs: number
  over: boolean
  /** When its first word arrived. */
  receivedAt: number | undefined
}

const body = JSON.stringify({ input: "Tell me a story" })

/** The clients, and the delays of their words. */
export class Crowd {
  readonly #port: number
  /** Called when a reply is over. */
  readonly #over: () => void
  #joined = 0
  readonly readers = new Set<Reader>()
  /** The delays of the words since `clear`, in microseconds. */
  delays: Array<number> = []
  /** The time from joining to the first word, in milliseconds, of all clients. */
  readonly openings: Array<number> = []

  constructor(port: number, over: () => void = () => {}) {
    this.#port = port
    this.#over = over
  }

  /** Adds a client; resolves when it is connected. */
  async join(): Promise<Reader> {
    const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true })
    const reader: Reader = { socket, words: 0, longestMs: 0, over: false, receivedAt: undefined }
    const cameAt = performance.now()
    this.readers.add(reader)
    let [rest, last, next] = ["", 0, 0]
    socket.on("error", () => {})
    socket.on("close", () => (reader.over = true))
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      const now = nowMicros()
      const text = `${rest}${chunk}`
      let end = 0
      for (const { index, 0: word, 1: place, 2: saidAt } of text.matchAll(/@(\d+):(\d+)@/gu)) {
        end = index + word.length
        // The events at the end of a reply repeat all of its words.
        if (Number(place) !== next) continue
        next += 1
        this.delays.push(now - Number(saidAt))
        if (reader.words > 0) reader.longestMs = Math.max(reader.longestMs, (now - last) / 1_000)
        last = now
        reader.words += 1
        if (reader.receivedAt !== undefined) continue
        reader.receivedAt = performance.now()
        this.openings.push(reader.receivedAt - cameAt)
      }
      rest = text.slice(Math.max(end, text.length - 32))
      if (!chunk.includes("0\r\n\r\n")) return
      socket.end()
      this.readers.delete(reader)
      this.#over()
    })
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject))
    socket.write(
      `POST /chats/c${this.#joined++}/messages HTTP/1.1\r\nhost: 127.0.0.1:${this.#port}\r\naccept: text/event-stream\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    )
    return reader
  }

  /** Restarts the measurement. */
  clear(): void {
    this.delays = []
    for (const reader of this.readers) Object.assign(reader, { words: 0, longestMs: 0 })
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
