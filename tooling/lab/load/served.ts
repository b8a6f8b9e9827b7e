/** The two compared servers: this project's, and one that writes server-sent events with Node alone. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Troupe } from "@troupe/chat"
import type { Adapter } from "@troupe/chat/models"
import type { Store } from "@troupe/chat/store"
import { System } from "@troupe/otp"
import { Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"
import type { Pace } from "./pace.ts"

/** A server under load. */
export interface Served {
  readonly port: number
  /** The number of live chat processes. */
  readonly chats: () => number
  readonly close: () => Promise<void>
}

const unbounded = 1_000_000

/** Only the server is measured: a store in memory would grow with every conversation. */
const forgetful: Store.Store = { load: () => undefined, save: () => {}, delete: () => {} }

/** A model that replies with so many words at the pace. */
const paced = (pace: Pace, words: number): Adapter.Adapter => ({
  name: "paced",
  stream: async function* () {
    for await (const delta of pace.words(words)) yield { type: "text_delta", id: null, delta }
    yield { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "stop" }
  }
})

/** A chat is unloaded after `restMs`: a chat that something still references is never unloaded. */
export const serveTroupe = async (pace: Pace, words: number, restMs = 1_000): Promise<Served> => {
  const troupe = await Troupe.start({ adapter: paced(pace, words), store: forgetful, passivateAfterMs: restMs })
  const server = Server.make({
    troupe,
    authorize: () => ({ owner: "load" }),
    limits: { conversations: unbounded, requestsPerMinute: unbounded, streams: unbounded }
  })
  const listening = await listen(server, { connections: unbounded, graceMs: 100, stallMs: 600_000 })
  return {
    port: listening.port,
    chats: () => [...System.processes(troupe.system)].filter((pid) => pid.label.startsWith("Chat ")).length,
    close: async () => {
      await listening.close()
      await troupe.stop()
      await System.stop(troupe.system)
    }
  }
}

export const serveBare = async (pace: Pace, words: number): Promise<Served> => {
  const http = createServer({ noDelay: true }, (request, response) => {
    request.resume()
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" })
    response.flushHeaders()
    const source = pace.words(words)
    const report = async (): Promise<void> => {
      for await (const delta of source) {
        if (response.destroyed) break
        const text = JSON.stringify({ type: "text_delta", id: null, delta })
        if (!response.write(`data: ${text}\n\n`)) {
          await new Promise<void>((resolve) => response.once("drain", resolve).once("close", resolve))
        }
      }
      response.end()
    }
    report().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve))
  return {
    port: (http.address() as AddressInfo).port,
    chats: () => 0,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      })
  }
}

/** The servers by name. */
export const serve = { bare: serveBare, troupe: serveTroupe }

export type Kind = keyof typeof serve
