/**
 * OpenAI's chat completions: `POST /v1/chat/completions` and `GET /v1/models`.
 *
 * OPENAIRUN1. The messages of a request are the thread, and nothing is stored. When the request names a conversation, by
 *             the header `x-troupe-chat` or `metadata.chat_id`, only the messages behind the last answer are used, and the server has
 *             the rest.
 */
import type { ChatOptions, ChatResult, ChatSnapshot } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import { System } from "@troupe/otp"
import { HttpError } from "../../errors/index.ts"
import { type Call, type Route, refused as refusedAs } from "../../http/index.ts"
import { type Encoder, handle, namedResults, type Posted, type Protocol, type Run } from "../../post/index.ts"
import { dataFrame, doneFrame, stepsOf } from "../../wire/index.ts"
import {
  checkResults,
  eventsOfStep,
  finishReasonOf,
  messageOf,
  ofFailure,
  ofRefusal,
  ofResult,
  OpenAiReply,
  OpenAiRequest,
  optionsOf,
  responseOf,
  toolsOf,
  unexpected,
  usageOf
} from "../../wire/openAi/index.ts"
import { completionSplice } from "./completionSplice.ts"
import { modelNamed, modelNames, withoutInstructions } from "./models.ts"
import { answered, refusal, runAlone } from "./openAiRun.ts"
import { hasStoredImage, withReplyImage, withReplyImages } from "./replyImages.ts"

/** A request, the options of its run, and the tools whose calls the client answers. */
interface Body {
  readonly request: OpenAiRequest
  readonly options: ChatOptions
  readonly manual: ReadonlySet<string>
}

/** The messages behind the last answer: the results of calls, and the user's message. */
const decode = ({ limits }: Call, { request: { messages }, options }: Body): Posted => {
  const at = messages.findLastIndex(({ role }) => role === "assistant")
  const behind = messages.slice(at + 1).map((message, index) => {
    return {
      message: messageOf(message, limits.messageCharacters),
      field: ["messages", at + 1 + index, "tool_call_id"]
    }
  })
  const results = behind.flatMap(({ message, field }) =>
    message.role === "tool" ? [{ id: message.toolCallId, value: message.content, field }] : []
  )
  const users = behind.flatMap(({ message }) => (message.role === "user" ? [message] : []))
  if (results.length + users.length === 0)
    throw new HttpError("invalid_input", "The last message is the user's, or the result of a tool call")
  return {
    messages: users.map((message) => ({ id: undefined, read: () => message, edits: false })),
    answers: namedResults(results),
    options: () => options
  }
}

/** A run that is answered, with its conversation if it has one. */
type Answering = Pick<Run<Body>, "call" | "body" | "steps"> & Partial<Pick<Run<Body>, "chat">>

/** The frames of a completion, or its body. */
const encoder = ({ call, chat, body, steps }: Answering): Encoder<string> => {
  const { request, manual } = body
  const reply = new OpenAiReply(manual)
  const { system } = call.troupe
  const head = {
    id: `chatcmpl-${call.begun ?? System.uuid(system, "server")}`,
    created: Math.floor(system.clock.now() / 1_000),
    model: request.model
  }
  const withUsage = request.stream_options?.include_usage === true
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...(withUsage && { usage: null })
  })
  let hasBegun = false
  let ended: Ended | undefined
  const push = (one: Event): ReadonlyArray<string> => {
    hasBegun = true
    const deltas = reply.push(one)
    const mark = one.type === "message_started" ? call.stepMark : ""
    const end = one.type === "chat_completed" ? ending(one.result) : []
    return [mark, ...deltas.map((delta) => dataFrame(chunk(delta))), ...end].filter((frame) => frame !== "")
  }
  const ending = (result: Ended): ReadonlyArray<string> => {
    ended = result
    const reason = finishReasonOf(result)
    if (reason === undefined) return [dataFrame({ error: ofResult(result).error })]
    const usage = dataFrame({ ...head, object: "chat.completion.chunk", choices: [], usage: usageOf(result) })
    return [dataFrame(chunk({}, reason)), ...(withUsage ? [usage] : [])]
  }
  const fail = (error: unknown): ReadonlyArray<string> => [dataFrame({ error: (ofFailure(error) ?? unexpected).error })]
  return {
    begin: () => [dataFrame(chunk({ role: "assistant", content: "" }))],
    event: (one) =>
      chat !== undefined && hasStoredImage(one) ? withReplyImage(call, chat, one).then(push) : push(one),
    standing: async ({ reply: messages, partial: { text } }) => {
      // The protocol takes back no text: the turn is read again from its beginning.
      if (hasBegun) throw movedAway()
      const all = chat === undefined ? messages : await withReplyImages(call, chat, messages)
      const stored = stepsOf(all).slice(steps.length).flatMap(eventsOfStep)
      const partial = text === "" ? [] : [{ type: "text_delta", id: null, delta: text } as const]
      return [...stored, ...partial].flatMap(push)
    },
    end: (context) => {
      // The turn was cut, and was not resumed.
      if (context.result === undefined && call.begun !== undefined) throw movedAway()
      return ending(context.result ?? restingOf(context))
    },
    fail,
    closing: (why) => [dataFrame({ error: ofRefusal(why).error }), doneFrame],
    body: () => {
      if (ended === undefined) return undefined
      const finish_reason = finishReasonOf(ended)
      if (finish_reason === undefined) return responseOf(ofResult(ended))
      const choice = { index: 0, message: reply.message, logprobs: null, finish_reason }
      return Response.json({ ...head, object: "chat.completion", choices: [choice], usage: usageOf(ended) })
    }
  }
}

const movedAway = (): HttpError => refusedAs("moved", { retryAfterMs: 1_000 })

/** The end of a turn whose result is no longer in memory. */
const restingOf = ({ phase, lastHaltedReason = "completed" }: ChatSnapshot["context"]): Ended => ({
  haltedReason: phase === "interrupted" ? "interrupted" : lastHaltedReason,
  finalResponse: undefined,
  metadata: {},
  steps: []
})

type Ended = Pick<ChatResult, "haltedReason" | "finalResponse" | "metadata" | "steps">

const completions: Protocol<Body, string> = {
  // As OpenAI, which refuses a message behind calls without their results.
  policy: (posts) => ({ stale: "follow", calls: "refuse", approvals: "refuse", history: "add", ...posts }),
  isWhole: ({ request }) => request.stream !== true,
  frames: () => (frames) => frames.join(""),
  done: doneFrame,
  encoder,
  refusal,
  nothing: () => {
    throw refusedAs("unknown_chat")
  }
}

const complete = async (call: Call): Promise<Response> => {
  const request = await call.body(OpenAiRequest)
  const model = modelNamed(call, request.model)
  call.claimStream()
  const id = chatNamed(call, request)
  const engineTools = call.troupe.tools
  const tools = toolsOf(request, new Set(engineTools.map(({ name }) => name)))
  const manual = new Set([...engineTools, ...tools].flatMap((tool) => (tool.manual ? [tool.name] : [])))
  const body = { request, options: { ...model, ...optionsOf(request, tools) }, manual }
  return answered(call, async (gone) => {
    if (id !== undefined) return handle(completions, call, id, body, decode(call, body))
    const messages = request.messages.map((one) => messageOf(one, call.limits.messageCharacters))
    checkResults(messages, "messages")
    const { thread, rest } = withoutInstructions(messages, body.options)
    const events = await call.troupe.stream(thread, { ...rest, signal: gone })
    return runAlone(completions, call, body, events, encoder({ call, body, steps: [] }), gone)
  })
}

/** The conversation a request names. */
const chatNamed = ({ request }: Call, { metadata }: OpenAiRequest): string | undefined => {
  const named = request.headers.get("x-troupe-chat") ?? metadata?.["chat_id"]
  if (named === undefined) return undefined
  if (typeof named !== "string")
    throw new HttpError("invalid_id", "metadata.chat_id is the id of a conversation, as text")
  return named
}

const models = async (call: Call): Promise<Response> =>
  Response.json({ object: "list", data: modelNames(call).map(modelObject) })

const model = async (call: Call): Promise<Response> => {
  const id = call.params["id"] ?? ""
  modelNamed(call, id)
  return Response.json(modelObject(id))
}

const modelObject = (id: string) => ({ id, object: "model", created: 0, owned_by: "troupe" })

const refused = (error: HttpError): Response => responseOf(ofRefusal(error))

export const openAiRoutes: ReadonlyArray<Route> = [
  { method: "POST", path: "/v1/chat/completions", handle: complete, refused, follows: completionSplice },
  { method: "GET", path: "/v1/models", handle: models, refused },
  { method: "GET", path: "/v1/models/:id", handle: model, refused }
]
