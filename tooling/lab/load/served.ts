/** The two compared servers: this project's, and one that writes server-sent events with Node alone. */
import { once } from "node:events"
import type { Adapter } from "@troupe/chat/models"
import { System } from "@troupe/otp"
import { servedTroupe } from "../../bench/work/served.ts"
import { serveBy } from "../../wire/server.ts"
import type { Pace } from "./pace.ts"

/** A server under load; `chats` is the number of live chat processes. */
export type Served = Awaited<ReturnType<(typeof serve)[Kind]>>

/** A model that replies with so many words at the pace. */
const paced = (pace: Pace, words: number): Adapter.Adapter => ({
  name: "paced",
  stream: async function* () {
    for await (const delta of pace.words(words)) yield { type: "text_delta", id: null, delta }
    yield { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "stop" }
  }
})

/** A chat is unloaded after `restMs`: a chat that something still references is never unloaded. */
export const serveTroupe = async (pace: Pace, words: number, restMs = 1_000) => {
  const options = { adapter: paced(pace, words), passivateAfterMs: restMs }
  const { url, system, close } = await servedTroupe(options, { graceMs: 100, stallMs: 600_000 })
  const chats = (): number => [...System.processes(system)].filter((pid) => pid.label.startsWith("Chat ")).length
  return { url, chats, close }
}

export const serveBare = async (pace: Pace, words: number) => {
  const { url, stop } = await serveBy(async (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" })
    response.flushHeaders()
    for await (const delta of pace.words(words)) {
      if (response.destroyed) break
      const text = JSON.stringify({ type: "text_delta", id: null, delta })
      if (!response.write(`data: ${text}\n\n`) && !response.destroyed)
        await Promise.race([once(response, "drain"), once(response, "close")])
    }
    response.end()
  })
  return { url, chats: () => 0, close: stop }
}

/** The servers by name. */
export const serve = { bare: serveBare, troupe: serveTroupe }

export type Kind = keyof typeof serve
