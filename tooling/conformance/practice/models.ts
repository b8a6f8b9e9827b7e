/**
 * The models of an input: a provider's package that reads from a loopback server, or a model that streams parts of the AI
 * SDK's specification v4.
 *
 * Owns: the server, and the count of the open streams.
 *
 * PRACTICE1. Each request gets the next reply; when there is none left, a closing text.
 *
 * @module
 */
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { setTimeout as after } from "node:timers/promises"
import type { AiSdkModel } from "@troupe/providers/AiSdk"
import { closing, closingText } from "../../wire/closing.ts"
import { modelFor } from "../../wire/models.ts"
import type { Dialect } from "../../wire/recording.ts"
import { framed, serveBy } from "../../wire/server.ts"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../runner/fields.ts"

/** A model under test, and what it received. */
export interface Model {
  readonly model: AiSdkModel
  /** The body of every request, in order. */
  readonly requests: Array<Fields>
  /** Ends it, and resolves with the number of streams or connections that are still open. */
  readonly close: () => Promise<number>
}

/** The frames of a reply; `{ repeat, frame }` is that frame so many times. */
function* framesOf(reply: unknown): Generator<unknown, void> {
  for (const frame of listOf(reply)) {
    const { repeat, frame: repeated } = fieldsOf(frame)
    if (typeof repeat === "number" && repeated !== undefined) for (let i = 0; i < repeat; i++) yield repeated
    else yield frame
  }
}

/** A package by the name of its provider, and the dialect that it reads. */
export const dialects: Readonly<Record<string, Dialect>> = {
  openai: "responses",
  anthropic: "messages",
  google: "gemini",
  mistral: "chat",
  deepseek: "chat",
  groq: "chat"
}

/** A provider's package; a reply is a list of frames, or `{ status, headers, body }`. */
export const wireModel = async (
  dialect: Dialect,
  provider: string,
  replies: ReadonlyArray<unknown>
): Promise<Model> => {
  const requests: Array<Fields> = []
  const server = await serveBy(async (body, response) => {
    const reply = replies[requests.length] ?? [...closing(dialect), ...(dialect === "chat" ? ["[DONE]"] : [])]
    requests.push(fieldsOf(JSON.parse(body)))
    if (isFields(reply)) return refuse(reply, response)
    response.writeHead(200, { "content-type": "text/event-stream", connection: "close" })
    for (const frame of framesOf(reply)) {
      if (response.destroyed) return undefined
      if (frame === "CUT") return void response.destroy()
      if (frame === "HANG") return void (await once(response, "close"))
      // The callback of a write is called when the data left, so that CUT cuts behind it.
      await new Promise((resolve) => response.write(wired(frame, dialect), resolve))
    }
    return void response.end()
  })
  return { model: modelFor({ provider, dialect }, server.url), requests, close: server.stop }
}

const refuse = (reply: Fields, response: ServerResponse): void => {
  const { status = 500, headers, body = { error: { message: "refused", type: "error" } } } = reply
  const more = Object.fromEntries(Object.entries(fieldsOf(headers)).map(([name, value]) => [name, textOf(value)]))
  response.writeHead(Number(status), { "content-type": "application/json", connection: "close", ...more })
  response.end(textOf(body))
}

/** A frame as bytes. `RAW …` is what follows, as the data of an event unless it is lines of a stream itself. */
const wired = (frame: unknown, dialect: Dialect): string => {
  if (typeof frame !== "string") return framed(JSON.stringify(frame), { dialect })
  if (!frame.startsWith("RAW ")) return framed(frame, { dialect })
  const raw = frame.slice("RAW ".length)
  if (!/^(?:data|event|id|retry)?:|\n/.test(raw)) return `data: ${raw}\n\n`
  return raw.endsWith("\n") ? raw : `${raw}\n\n`
}

type PartsModel = Extract<AiSdkModel, { readonly specificationVersion: "v4" }>
type Part = Awaited<ReturnType<PartsModel["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never

/** The parts of a text. */
export const textParts = (text: string): ReadonlyArray<unknown> => [
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: text },
  { type: "text-end", id: "t" }
]

/** The last part of a reply. */
export const finishPart = (unified: string): unknown => ({
  type: "finish",
  usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
  finishReason: { unified, raw: unified }
})

/** A model that streams parts; `{ wait }` is a pause in milliseconds. */
export const partsModel = (replies: ReadonlyArray<unknown>): Model => {
  const requests: Array<Fields> = []
  const open = new Set<object>()
  const model: PartsModel = {
    specificationVersion: "v4",
    provider: "scripted.chat",
    modelId: "scripted",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("only streaming is used")),
    doStream: async ({ abortSignal, ...request }) => {
      const frames = framesOf(replies[requests.length] ?? [...textParts(closingText), finishPart("stop")])
      const key = {}
      requests.push(fieldsOf(JSON.parse(JSON.stringify(request))))
      open.add(key)
      abortSignal?.addEventListener("abort", () => open.delete(key))
      const stream = new ReadableStream<Part>({
        pull: async (controller) => {
          for (;;) {
            const { value: frame, done } = frames.next()
            if (done === true || frame === "CUT") {
              open.delete(key)
              return frame === "CUT" ? controller.error(new TypeError("terminated")) : controller.close()
            }
            if (frame === "HANG")
              return abortSignal === undefined ? undefined : once(abortSignal, "abort").then(() => {})
            const { wait } = fieldsOf(frame)
            if (typeof wait !== "number") return controller.enqueue(frame as Part)
            await after(wait, undefined, { signal: abortSignal }).catch(() => {})
          }
        },
        cancel: () => void open.delete(key)
      })
      return { stream }
    }
  }
  return { model, requests, close: async () => open.size }
}
