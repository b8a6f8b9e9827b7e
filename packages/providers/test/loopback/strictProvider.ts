/** Providers that refuse what the real APIs refuse, and answer with calls and texts as a test says, each in its own dialect. */
import { createAnthropic } from "@ai-sdk/anthropic"
import { createGoogle } from "@ai-sdk/google"
import { createMistral } from "@ai-sdk/mistral"
import { createOpenAI } from "@ai-sdk/openai"
import type { LanguageModelV4 } from "@ai-sdk/provider"
import {
  block,
  bodyOf,
  candidate,
  chunk,
  chunkUsage,
  item,
  messageEnd,
  messageStart,
  response
} from "../../../../tooling/wire/dialects.ts"
import { itemRefusal, messageRefusal, blockRefusal, contentRefusal, type Json } from "./refusals.ts"

/** A call of a reply. Its id is the provider's. */
export interface ScriptedCall {
  readonly name: string
  readonly arguments: Json
}

/** A reply: a text, or calls. */
export type Scripted = string | ReadonlyArray<ScriptedCall>

/** What a dialect does: the messages of a body, why the API refuses them, and the events of a reply. */
interface Speech {
  readonly model: (fetch: typeof globalThis.fetch) => LanguageModelV4
  readonly messagesOf: (body: Json) => ReadonlyArray<Json>
  readonly refusal: (messages: ReadonlyArray<Json>) => string | undefined
  readonly events: (reply: Scripted, number: number) => ReadonlyArray<unknown>
  readonly wire: Parameters<typeof bodyOf>[0]
}

const apiKey = "none"
const list = (value: unknown): ReadonlyArray<Json> => value as ReadonlyArray<Json>

/** Nine letters and digits, as Mistral's ids are. */
const idOf = (number: number, at: number): string => `c${String(number).padStart(6, "0")}${String(at).padStart(2, "0")}`

const chatEvents = (reply: Scripted, number: number): ReadonlyArray<unknown> =>
  typeof reply === "string"
    ? [chunk({ role: "assistant", content: reply }), chunk({}, "stop", chunkUsage)]
    : [
        chunk({
          role: "assistant",
          content: "",
          tool_calls: reply.map(({ name, arguments: given }, index) => ({
            index,
            id: idOf(number, index),
            type: "function",
            function: { name, arguments: JSON.stringify(given) }
          }))
        }),
        chunk({}, "tool_calls", chunkUsage)
      ]

const responsesEvents = (reply: Scripted, number: number): ReadonlyArray<unknown> => {
  if (typeof reply !== "string") {
    return response(
      ...reply.flatMap(({ name, arguments: given }, at) => {
        const call_id = idOf(number, at)
        return item(at, { id: `fc_${call_id}`, type: "function_call", call_id, name, arguments: JSON.stringify(given) })
      })
    )
  }
  const part = { type: "output_text", text: reply, annotations: [] }
  const said = { id: `msg_${number}`, type: "message", role: "assistant", content: [part] }
  return response(
    ...item(0, said, { type: "response.output_text.delta", content_index: 0, item_id: said.id, delta: reply })
  )
}

const blockEvents = (reply: Scripted, number: number): ReadonlyArray<unknown> =>
  typeof reply === "string"
    ? [
        messageStart(),
        ...block(0, { type: "text", text: "" }, { type: "text_delta", text: reply }),
        ...messageEnd("end_turn")
      ]
    : [
        messageStart(),
        ...reply.flatMap(({ name, arguments: given }, at) =>
          block(
            at,
            { type: "tool_use", id: idOf(number, at), name, input: {} },
            { type: "input_json_delta", partial_json: JSON.stringify(given) }
          )
        ),
        ...messageEnd("tool_use")
      ]

const geminiEvents = (reply: Scripted): ReadonlyArray<unknown> => [
  candidate(
    typeof reply === "string"
      ? [{ text: reply }]
      : reply.map(({ name, arguments: args }) => ({ functionCall: { name, args } })),
    { finishReason: "STOP" }
  )
]

const bodyMessages = (body: Json): ReadonlyArray<Json> => list(body["messages"])

/** The dialects of the five providers. */
export const speeches = {
  "OpenAI chat": {
    model: (fetch) => createOpenAI({ apiKey, fetch }).chat("gpt-recorded"),
    messagesOf: bodyMessages,
    refusal: (messages) => messageRefusal(messages, "openai"),
    events: chatEvents,
    wire: "chat"
  },
  "OpenAI responses": {
    model: (fetch) => createOpenAI({ apiKey, fetch }).responses("gpt-5"),
    messagesOf: (body) => list(body["input"]),
    refusal: itemRefusal,
    events: responsesEvents,
    wire: "responses"
  },
  Anthropic: {
    model: (fetch) => createAnthropic({ apiKey, fetch })("claude-recorded"),
    messagesOf: bodyMessages,
    refusal: blockRefusal,
    events: blockEvents,
    wire: "messages"
  },
  Google: {
    model: (fetch) => createGoogle({ apiKey, fetch })("gemini-3-pro"),
    messagesOf: (body) => list(body["contents"]),
    refusal: contentRefusal,
    events: geminiEvents,
    wire: "gemini"
  },
  Mistral: {
    model: (fetch) => createMistral({ apiKey, fetch })("mistral-large"),
    messagesOf: bodyMessages,
    refusal: (messages) => messageRefusal(messages, "mistral"),
    events: chatEvents,
    wire: "chat"
  }
} as const satisfies Readonly<Record<string, Speech>>

/** A provider, the messages of the requests it was sent, and why it refused some. */
export const strictProvider = (
  name: keyof typeof speeches,
  answer: (messages: ReadonlyArray<Json>, text: string) => Scripted
) => {
  const speech: Speech = speeches[name]
  const refused: Array<string> = []
  let replies = 0
  const fetch = async (_: unknown, init?: { readonly body?: unknown }): Promise<Response> => {
    const text = String(init?.body)
    const messages = speech.messagesOf(JSON.parse(text) as Json)
    const refusal = speech.refusal(messages)
    if (refusal !== undefined) {
      refused.push(refusal)
      return Response.json({ error: { message: refusal, type: "invalid_request_error", code: 400 } }, { status: 400 })
    }
    const events = speech.events(answer(messages, text), ++replies)
    return new Response(bodyOf(speech.wire, events), { headers: { "content-type": "text/event-stream" } })
  }
  return { model: speech.model(fetch), refused }
}
