/** Many clients of one server, each with its own socket, which posts once to a chat of its own and reads the stream. */
import type { Socket } from "node:net"
import { connected } from "../../../packages/server/test/double/sockets.ts"
import { nowMicros } from "./pace.ts"

/** The state of one client. */
interface Reader {
  readonly socket: Socket
  words: number
  /** The longest wait for a word after the first one, in milliseconds. */
  longestMs: number
  over: boolean
  /** When its first word arrived. */
  receivedAt: number | undefined
}

const body = JSON.stringify({ input: "Tell me a story" })

/** The clients of a server, and the delays of their words; `over` is called when a reply is over. */
export const crowdOf = (port: number, over: () => void = () => {}) => {
  const host = `127.0.0.1:${port}`
  const readers = new Set<Reader>()
  const openings: Array<number> = []
  let joined = 0

  /** Adds a client; resolves when it is connected. */
  const join = async (): Promise<Reader> => {
    const cameAt = performance.now()
    const socket = await connected(`http://${host}`)
    const reader: Reader = { socket, words: 0, longestMs: 0, over: false, receivedAt: undefined }
    readers.add(reader)
    let [rest, last, next] = ["", 0, 0]
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
        crowd.delays.push(now - Number(saidAt))
        if (reader.words > 0) reader.longestMs = Math.max(reader.longestMs, (now - last) / 1_000)
        last = now
        reader.words += 1
        if (reader.receivedAt !== undefined) continue
        reader.receivedAt = performance.now()
        openings.push(reader.receivedAt - cameAt)
      }
      rest = text.slice(Math.max(end, text.length - 32))
      if (!chunk.includes("0\r\n\r\n")) return
      socket.end()
      readers.delete(reader)
      over()
    })
    socket.write(
      `POST /chats/c${joined++}/messages HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    )
    return reader
  }

  const crowd = {
    readers,
    /** The delays of the words since `clear`, in microseconds. */
    delays: [] as Array<number>,
    /** The time from joining to the first word, in milliseconds, of all clients. */
    openings,
    join,
    /** Restarts the measurement. */
    clear: (): void => {
      crowd.delays = []
      for (const reader of readers) Object.assign(reader, { words: 0, longestMs: 0 })
    },
    /** Does something to the connections of all clients: disconnects them, or makes them stop or continue to read. */
    all: (what: "destroy" | "pause" | "resume"): void => {
      for (const { socket } of readers) socket[what]()
    }
  }
  return crowd
}

export type Crowd = ReturnType<typeof crowdOf>
