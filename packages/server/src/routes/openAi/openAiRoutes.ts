/**
 * OpenAI's chat completions: `POST /v1/chat/completions` and `GET /v1/models`.
 *
 * OPENAIRUN1. The messages of a request are the thread, and nothing is stored. When the request names a conversation, by
 *             the header `x-troupe-chat` or `metadata.chat_id`, only its last message is used, and the server has the rest.
 */
import type { ChatOptions } from "@troupe/chat/chats"
import { System } from "@troupe/otp"
import { HttpError } from "../../errors/index.ts"
import type { Call, Route } from "../../http/index.ts"
import { dataFrame, dataFrames, doneFrame } from "../../wire/index.ts"
import {
  checkResults,
  finishReasonOf,
  messageOf,
  ofFailure,
  ofRefusal,
  ofResult,
  type OpenAiError,
  OpenAiReply,
  OpenAiRequest,
  optionsOf,
  responseOf,
  toolsOf,
  unexpected,
  usageOf
} from "../../wire/openAi/index.ts"
import { begunRun } from "./begunRun.ts"
import { completionSplice } from "./completionSplice.ts"
import { modelNamed, modelNames, withoutInstructions } from "./models.ts"
import { answered, begun, opened, readWhole, type Run, streamedRun } from "./openAiRun.ts"

/** The common fields of all chunks, and of the whole answer. */
interface Head {
  readonly id: string
  readonly created: number
  readonly model: string
}

const complete = async (call: Call): Promise<Response> => {
  const body = await call.body(OpenAiRequest)
  const model = modelNamed(call, body.model)
  call.claimStream()
  const id = chatNamed(call, body)
  const engineTools = call.troupe.tools
  const tools = toolsOf(body, new Set(engineTools.map(({ name }) => name)))
  const options = { ...model, ...optionsOf(body, tools) }
  return answered(call, async (gone) => {
    const run = id === undefined ? await runOf(call, body, options, gone) : await turnOf(call, body, id, options)
    const manual = new Set([...engineTools, ...tools].flatMap((tool) => (tool.manual ? [tool.name] : [])))
    const reply = new OpenAiReply(manual)
    const { system } = call.troupe
    const head = {
      id: `chatcmpl-${call.begun ?? System.uuid(system, "server")}`,
      created: Math.floor(system.clock.now() / 1_000),
      model: body.model
    }
    if (body.stream === true) {
      const withUsage = body.stream_options?.include_usage === true
      return streamedRun(call, run, () => framesOf(call, head, run, reply, withUsage), lastFrame)
    }
    return whole(call, head, run, reply, gone)
  })
}

const runOf = async (
  { troupe, limits }: Call,
  body: OpenAiRequest,
  options: ChatOptions,
  signal: AbortSignal
): Promise<Run> => {
  const messages = body.messages.map((said) => messageOf(said, limits.messageCharacters))
  checkResults(messages, "messages")
  const { thread, rest } = withoutInstructions(messages, options)
  return opened(await troupe.stream(thread, { ...rest, signal }))
}

/** The conversation a request names. */
const chatNamed = ({ request }: Call, { metadata }: OpenAiRequest): string | undefined => {
  const named = request.headers.get("x-troupe-chat") ?? metadata?.["chat_id"]
  if (named === undefined) return undefined
  if (typeof named !== "string")
    throw new HttpError("invalid_id", "metadata.chat_id is the id of a conversation, as text")
  return named
}

/** Sends the last messages to the conversation: results of calls it waits for, else the user's message. */
const turnOf = async (call: Call, { messages }: OpenAiRequest, id: string, options: ChatOptions): Promise<Run> => {
  const behind = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1)
  const read = (said: (typeof behind)[number]) => messageOf(said, call.limits.messageCharacters)
  const results = behind.flatMap((said) =>
    said.role === "tool" ? [[said.tool_call_id, read(said).content] as const] : []
  )
  const last = behind.findLast(({ role }) => role === "user")
  const message = last === undefined ? undefined : read(last)
  if (results.length > 0) {
    const chat = await call.chats.existing(id)
    if (call.begun === undefined)
      return begun(
        call,
        chat,
        chat.submitToolResults(Object.fromEntries(results), {
          options,
          ...(message?.role === "user" && { input: message })
        })
      )
    return begunRun(
      call,
      chat,
      undefined,
      results.map(([toolCallId]) => toolCallId)
    )
  }
  if (message?.role === "user") {
    const chat = await call.chats.chat(id)
    const isAgain = call.begun !== undefined
    const whenBusy = !isAgain && call.readers.hasLeft(chat) ? "interrupt" : "queue"
    const inputId = call.inputId(undefined)
    const turn = chat.send(message, { options, whenBusy, ...(inputId !== undefined && { id: inputId }) })
    return isAgain ? begunRun(call, chat, turn) : begun(call, chat, turn)
  }
  throw new HttpError("invalid_input", "The last message is the user's, or the result of a tool call")
}

const whole = async (call: Call, head: Head, run: Run, reply: OpenAiReply, gone: AbortSignal): Promise<Response> => {
  await readWhole(
    call,
    run,
    (event) => reply.push(event),
    () => reply.result !== undefined,
    gone
  )
  const end = endOf(reply)
  if ("error" in end) return responseOf(end)
  const choice = { index: 0, message: reply.message, logprobs: null, finish_reason: end.reason }
  return Response.json({ ...head, object: "chat.completion", choices: [choice], usage: end.usage })
}

/** The end of a run that was read to its end. */
const endOf = ({
  result
}: OpenAiReply): OpenAiError | { readonly reason: string; readonly usage: ReturnType<typeof usageOf> } => {
  if (result === undefined) return unexpected
  const reason = finishReasonOf(result)
  if (reason !== undefined) return { reason, usage: usageOf(result) }
  return ofResult(result)
}

async function* framesOf(
  call: Call,
  head: Head,
  run: Run,
  reply: OpenAiReply,
  withUsage: boolean
): AsyncGenerator<string, void> {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...(withUsage ? { usage: null } : {})
  })
  try {
    yield dataFrame(chunk({ role: "assistant", content: "" }))
    for await (const event of run.events) {
      const deltas = reply.push(event)
      const mark = event.type === "message_started" ? call.stepMark : ""
      if (deltas.length > 0 || mark !== "") yield mark + dataFrames(deltas.map((delta) => chunk(delta)))
    }
    const end = endOf(reply)
    if ("error" in end) yield dataFrame({ error: end.error })
    else {
      yield dataFrame(chunk({}, end.reason))
      if (withUsage) yield dataFrame({ ...head, object: "chat.completion.chunk", choices: [], usage: end.usage })
    }
    yield doneFrame
  } catch (error) {
    call.cutIfMoved(error)
    yield dataFrame({ error: (ofFailure(error) ?? unexpected).error }) + doneFrame
  } finally {
    await run.events.return?.()
  }
}

/** The last frames of a stream that the server ends. */
const lastFrame = (why: HttpError): string => dataFrame({ error: ofRefusal(why).error }) + doneFrame

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
