/**
 * A turn over HTTP with server-sent events: on this project's server, and on bare `node:http`.
 *
 * The client is another process, so the processor time is that of the server alone. Each turn is the first one of a new
 * conversation: 50 deltas by turns of the loop. The bare server writes the events that this project's server wrote for one turn.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { setImmediate as nextTurn } from "node:timers/promises"
import { System } from "@troupe/otp"
import { serveBy } from "../../wire/server.ts"
import { answers } from "./programA.ts"
import { servedTroupe } from "./served.ts"
import { type Costs, timed } from "./timed.ts"

const serveTroupe = async () => {
  const system = System.make()
  const adapter = { name: "bench", stream: () => answers("by turns") }
  const { url, close } = await servedTroupe({ system, adapter, passivateAfterMs: 900 })
  return { base: url, close }
}

/** The events of one turn, as this project's server writes them. */
const recordedEvents = async (): Promise<ReadonlyArray<string>> => {
  const { base, close } = await serveTroupe()
  const headers = { accept: "text/event-stream", "content-type": "application/json" }
  const body = JSON.stringify({ input: "Tell me a story" })
  const response = await fetch(`${base}/chats/c/messages`, { method: "POST", headers, body })
  const events = (await response.text()).split("\n\n").filter((event) => event !== "")
  await close()
  return events.map((event) => `${event}\n\n`)
}

const serveBare = async () => {
  const events = await recordedEvents()
  const { url, stop } = await serveBy(async (body, response) => {
    JSON.parse(body)
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" })
    for (const event of events) {
      if (event.includes('"type":"text_delta"')) await nextTurn()
      if (!response.write(event)) await once(response, "drain")
    }
    response.end()
  })
  return { base: url, close: stop }
}

const ask = async (client: ChildProcess, base: string): Promise<void> => {
  const answered = once(client, "message")
  client.send(base)
  const [problem] = await answered
  if (problem !== "done") throw new Error(`the client failed: ${problem}`)
}

/** Measures the processor time of a server that answers 1,000 turns. */
export const httpTurns = async (what: "bare" | "troupe"): Promise<Costs> => {
  const { base, close } = await (what === "bare" ? serveBare() : serveTroupe())
  const client = fork(new URL("httpClient.ts", import.meta.url), { execArgv: [] })
  const costs = await timed(() => ask(client, base))
  client.disconnect()
  await close()
  return costs
}
