/**
 * The models of an input: a provider's package that reads from a loopback server, or a model that streams parts of the AI
 * SDK's specification v4.
 *
 * Owns: the server, and the set of the open streams.
 *
 * PRACTICE1. Each request gets the next reply; when there is none left, a closing text.
 *
 * @module
 */
import { once } from "node:events"
import { setTimeout as after } from "node:timers/promises"
import type { AiSdkModel } from "@troupe/providers/AiSdk"
import { finishOf, type Part, scriptedModel } from "../../providers/scriptedModel.ts"
import { closing, closingText } from "../../wire/closing.ts"
import { modelFor } from "../../wire/models.ts"
import type { Dialect } from "../../wire/recording.ts"
import { framed, serveBy } from "../../wire/server.ts"
import { fieldsOf, isFields, listOf, textOf } from "../runner/json.ts"

/** A model, the body of each request as it was sent, and its end: the number of streams or connections left open. */
export interface Model {
  readonly model: AiSdkModel
  readonly bodies: Array<string>
  readonly close: () => Promise<number>
}

/** The frames of a reply; `{ repeat, frame }` is that frame so many times. */
function* framesOf(reply: unknown): Generator<unknown, void> {
  for (const frame of listOf(reply)) {
    const { repeat, frame: repeated = frame } = fieldsOf(frame)
    for (let left = Number(repeat ?? 1); left > 0; left--) yield repeated
  }
}

/** A provider's package; a reply is a list of frames, or `{ status, headers }`. */
export const wireModel = async (dialect: Dialect, provider: string, replies: unknown): Promise<Model> => {
  const bodies: Array<string> = []
  const server = await serveBy(async (body, response) => {
    const reply = listOf(replies)[bodies.push(body) - 1] ?? [...closing[dialect], "[DONE]"]
    const { status = 200, headers } = fieldsOf(reply)
    const head = { connection: "close", "content-type": "text/event-stream", ...fieldsOf(headers) }
    response.writeHead(Number(status), head)
    if (isFields(reply)) response.write(JSON.stringify({ error: { message: "refused", type: "refused" } }))
    for (const frame of framesOf(reply)) {
      if (frame === "CUT" || response.destroyed) return void response.destroy()
      if (frame === "HANG") return void (await once(response, "close"))
      // The callback of a write is called when the data has left, so that `CUT` cuts behind it.
      await new Promise((resolve) => response.write(wired(frame, dialect), resolve))
    }
    response.end()
  })
  return { model: modelFor({ provider, dialect }, { baseURL: server.url }), bodies, close: server.stop }
}

/** A frame as text. `RAW …` is the data of an event, or lines of a stream. */
const wired = (frame: unknown, dialect: Dialect): string => {
  const data = textOf(frame).replace(/^RAW /, "")
  const isLines = data !== frame && typeof frame === "string" && /^(?:data|event|id|retry)?:|\n/.test(data)
  return isLines ? data.replace(/\n*$/, "\n\n") : framed(data, { dialect })
}

/** The last part of a reply. */
export const finishPart = (reason: string): Part => {
  const part = finishOf("stop", reason)
  return { ...part, finishReason: { ...part.finishReason, unified: reason as "stop" } }
}

/** A model that streams parts; `{ wait }` is a pause in milliseconds. */
export const partsModel = (replies: unknown): Model => {
  const bodies: Array<string> = []
  const open = new Set<object>()
  const model = scriptedModel(async function* ({ abortSignal: signal, ...request }) {
    const usual = [{ type: "text-delta", id: "t", delta: closingText }, finishPart("stop")]
    const reply = listOf(replies)[bodies.push(JSON.stringify(request)) - 1] ?? usual
    open.add(request)
    signal?.addEventListener("abort", () => open.delete(request))
    try {
      for (const frame of framesOf(reply)) {
        const { wait } = fieldsOf(frame)
        if (frame === "CUT") throw new TypeError("terminated")
        if (frame === "HANG") return void (signal && (await once(signal, "abort")))
        if (wait === undefined) yield frame as Part
        else await after(Number(wait), undefined, { signal }).catch(() => {})
      }
    } finally {
      open.delete(request)
    }
  })
  return { model, bodies, close: async () => open.size }
}
