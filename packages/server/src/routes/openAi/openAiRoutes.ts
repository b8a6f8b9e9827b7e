/**
 * OpenAI's chat completions: `POST /v1/chat/completions` and `GET /v1/models`.
 *
 * OPENAIRUN1. The messages of a request are the thread, and nothing is stored. When the request names a conversation, by
 *             the header `x-troupe-chat` or `metadata.chat_id`, only its last message is used, and the server has the rest.
 * OPENAIRUN2. When a client leaves, its run ends. In a conversation only the reading ends.
 * OPENAIRUN3. When the server closes, the run ends too: a whole answer with a 503, a stream with an error before `[DONE]`.
 */
import type { ChatTurn } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import { System } from "@troupe/otp"
import { HttpError } from "../errors/index.ts"
import type { Call, Route } from "../http/index.ts"
import { taken } from "../link/index.ts"
import { dataFrame, dataFrames, doneFrame } from "../wire/index.ts"
import {
  finishReasonOf,
  messageOf,
  ofEnd,
  ofFailure,
  ofRefusal,
  type OpenAiError,
  OpenAiReply,
  OpenAiRequest,
  optionsOf,
  responseOf,
  toolsOf,
  unexpected,
  usageOf
} from "../wire/openAi/index.ts"

/** The events of a run. */
type Run = AsyncIterableIterator<Event, undefined>

/** The common fields of all chunks, and of the whole answer. */
interface Head {
  readonly id: string
  readonly created: number
  readonly model: string
}

/** A model name that is always accepted, for clients that know no model of this server. */
const anyModel = "troupe"

const modelsOf = ({ troupe }: Call): ReadonlyArray<string> => [...new Set([troupe.engine.model ?? anyModel, anyModel])]

const complete = async (call: Call): Promise<Response> => {
  const body = await call.body(OpenAiRequest)
  if (!modelsOf(call).includes(body.model)) {
    throw new HttpError("not_found", "There is no such model here; GET /v1/models lists those there are")
  }
  call.claimStream()
  const id = chatNamed(call, body)
  const gone = new AbortController()
  const leave = (): void => gone.abort()
  call.request.signal.addEventListener("abort", leave, { once: true })
  const engineTools = call.troupe.engine.tools
  const tools = id === undefined ? toolsOf(body, new Set(engineTools.map(({ name }) => name))) : []
  try {
    const run = id === undefined ? await runOf(call, body, tools, gone.signal) : await turnOf(call, body, id)
    const manual = new Set([...engineTools, ...tools].flatMap((tool) => (tool.manual ? [tool.name] : [])))
    const reply = new OpenAiReply(manual)
    const { system } = call.troupe
    const head = {
      id: `chatcmpl-${System.uuid(system, "server")}`,
      created: Math.floor(system.clock.now() / 1_000),
      model: body.model
    }
    if (body.stream === true) return streamed(call, body, head, run, reply)
    return await whole(call, head, run, reply, gone.signal)
  } catch (error) {
    const failure = ofFailure(error)
    if (failure === undefined) throw error
    return responseOf(failure)
  } finally {
    call.request.signal.removeEventListener("abort", leave)
  }
}

const runOf = (
  { troupe, limits }: Call,
  body: OpenAiRequest,
  tools: ReturnType<typeof toolsOf>,
  signal: AbortSignal
): Promise<Run> =>
  troupe.stream(
    body.messages.map((said) => messageOf(said, limits.messageCharacters)),
    { ...optionsOf(body, tools), signal }
  )

/** The conversation a request names. */
const chatNamed = ({ request }: Call, { metadata, tools }: OpenAiRequest): string | undefined => {
  const named = request.headers.get("x-troupe-chat") ?? metadata?.["chat_id"]
  if (named === undefined) return undefined
  if (typeof named !== "string")
    throw new HttpError("invalid_id", "metadata.chat_id is the id of a conversation, as text")
  if ((tools ?? []).length > 0) {
    throw new HttpError(
      "invalid_input",
      "A conversation has the tools of its server; leave out tools, or the conversation"
    )
  }
  return named
}

/** Sends the last messages to the conversation: results of calls it waits for, else the user's message. */
const turnOf = async (call: Call, { messages }: OpenAiRequest, id: string): Promise<Run> => {
  const behind = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1)
  const read = (said: (typeof behind)[number]) => messageOf(said, call.limits.messageCharacters)
  const results = behind.flatMap((said) =>
    said.role === "tool" ? [[said.tool_call_id, read(said).content] as const] : []
  )
  const last = behind.findLast(({ role }) => role === "user")
  const message = last === undefined ? undefined : read(last)
  if (results.length > 0) return begun((await call.chats.existing(id)).submitToolResults(Object.fromEntries(results)))
  if (message?.role === "user") return begun((await call.chats.chat(id)).send(message))
  throw new HttpError("invalid_input", "The last message is the user's, or the result of a tool call")
}

const begun = async (turn: ChatTurn): Promise<Run> => {
  await taken(turn)
  return turn
}

const whole = async (call: Call, head: Head, run: Run, reply: OpenAiReply, signal: AbortSignal): Promise<Response> => {
  const leave = (): void => void run.return?.()
  signal.addEventListener("abort", leave, { once: true })
  const forget = call.whenClosing(async () => run.return?.())
  if (call.closing.aborted) leave()
  try {
    for await (const event of run) reply.push(event)
  } finally {
    forget()
    signal.removeEventListener("abort", leave)
  }
  if (call.closing.aborted && reply.result === undefined) {
    throw new HttpError("closing", "The server is closing; try again", { retryAfterMs: 1_000 })
  }
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
  return result.haltedReason === "error"
    ? (ofFailure(result.metadata["error"]) ?? unexpected)
    : ofEnd(result.haltedReason)
}

const streamed = (
  call: Call,
  { stream_options }: OpenAiRequest,
  head: Head,
  run: Run,
  reply: OpenAiReply
): Response => {
  const withUsage = stream_options?.include_usage === true
  const frames = (signal: AbortSignal) => {
    const forget = call.whenClosing(async () => run.return?.())
    // A reader that leaves before its first frame never starts the frames: this listener ends the run.
    const over = (): void => {
      forget()
      void run.return?.()
    }
    signal.addEventListener("abort", over, { once: true })
    return framesOf(head, run, reply, withUsage)
  }
  return call.stream(frames, { last: lastFrame })
}

async function* framesOf(head: Head, run: Run, reply: OpenAiReply, withUsage: boolean): AsyncGenerator<string, void> {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...(withUsage ? { usage: null } : {})
  })
  try {
    yield dataFrame(chunk({ role: "assistant", content: "" }))
    for await (const event of run) {
      const deltas = reply.push(event)
      if (deltas.length > 0) yield dataFrames(deltas.map((delta) => chunk(delta)))
    }
    const end = endOf(reply)
    if ("error" in end) yield dataFrame({ error: end.error })
    else {
      yield dataFrame(chunk({}, end.reason))
      if (withUsage) yield dataFrame({ ...head, object: "chat.completion.chunk", choices: [], usage: end.usage })
    }
    yield doneFrame
  } catch (error) {
    yield dataFrame({ error: (ofFailure(error) ?? unexpected).error }) + doneFrame
  } finally {
    await run.return?.()
  }
}

/** The last frames of a stream that the server ends. */
const lastFrame = (why: HttpError): string => dataFrame({ error: ofRefusal(why).error }) + doneFrame

const models = async (call: Call): Promise<Response> => {
  const data = modelsOf(call).map((id) => ({ id, object: "model", created: 0, owned_by: "troupe" }))
  return Response.json({ object: "list", data })
}

const refused = (error: HttpError): Response => responseOf(ofRefusal(error))

export const openAiRoutes: ReadonlyArray<Route> = [
  { method: "POST", path: "/v1/chat/completions", handle: complete, refused },
  { method: "GET", path: "/v1/models", handle: models, refused }
]
