/**
 * The AI SDK's UI message stream: `POST /api/chat` and the other routes that its clients call.
 *
 * AISDK1. The server has the conversation: only the new part of a client's post is used, and a post that does not fit is
 *         refused. Editing an earlier message, or regenerating its answer, rewinds the conversation to that message. A new
 *         message behind a shorter history rewinds it to the end of that history. The log keeps the replaced entries, and
 *         the messages before are the server's.
 * AISDK2. A repeated request runs nothing again: the answer is the stream of the running turn, or of its result.
 * AISDK3. When a client leaves, only the reading ends (READERS1). `/api/chat/:id/stream` returns the whole reply again, also one that is over
 *         for a client which says that the question is its last message.
 */
import type { LocalChatRef } from "@troupe/chat"
import type { ChatResult, ChatSnapshot } from "@troupe/chat/chats"
import { HttpError } from "../errors/index.ts"
import type { Call, Route, TurnOptions } from "../http/index.ts"
import {
  contextOf,
  type Encoder,
  existing,
  following,
  handle,
  noAnswers,
  type Posted,
  type Protocol,
  replyMessages,
  type Run
} from "../post/index.ts"
import {
  callsOf,
  dataFrames,
  doneFrame,
  isRunning,
  isSaid,
  isStep,
  messageName,
  replyIn,
  standingOf,
  writtenDataOf
} from "../wire/index.ts"
import {
  answersIn,
  clientOptions,
  type UiChunk,
  type UiInput,
  uiMessages,
  inUiVersion,
  metadataOf,
  uiSplice,
  uiVersionOf,
  UiRequest,
  UiStream,
  userMessage,
  withMetadata
} from "../wire/aiSdk/index.ts"

type Context = ChatSnapshot["context"]

const decode = (call: Call, body: UiRequest): Posted => {
  const last = body.message ?? body.messages?.at(-1)
  if (last === undefined) throw new HttpError("invalid_input", "There is no message")
  const { messages = [last], trigger, messageId, whenBusy } = body
  const most = call.limits.messageCharacters
  const own = call.clientTools ? clientOptions(body, call.troupe.tools, most) : undefined
  const common = {
    messages: [],
    answers: noAnswers,
    whenBusy,
    options: () => own
  }
  if (trigger === "regenerate-message") {
    const of = last.role === "user" ? last.id : undefined
    return { ...common, regenerate: { of, ifRead: false, isNamed: (messageId ?? undefined) !== undefined } }
  }
  if (last.role === "system")
    throw new HttpError(
      "invalid_input",
      "The last message is the user's, or the model's with answers to its tool calls"
    )
  if (last.role === "assistant")
    return { ...common, answers: { ...noAnswers, ...answersIn(last, most) }, reply: last.id }
  const at = messages.findLastIndex(({ role }) => role === "assistant")
  const newest = userMessage(last, most)
  const reply = messages[at]
  return {
    ...common,
    messages: messages.slice(at + 1).flatMap((one) =>
      one.role === "user" && (one === last || one.parts.length > 0)
        ? [
            {
              id: one.id,
              read: () => (one === last ? newest : userMessage(one, most)),
              edits: one.id !== undefined && one.id === messageId
            }
          ]
        : []
    ),
    answers: reply === undefined ? noAnswers : { ...noAnswers, ...answersIn(reply, most) },
    // A client whose messages have no ids has no history.
    history: body.messages === undefined || last.id === undefined ? undefined : userIds(messages)
  }
}

const userIds = (messages: ReadonlyArray<UiInput>): ReadonlyArray<string> =>
  messages.flatMap(({ id, role }) => (role === "user" && id !== undefined ? [id] : []))

/** The tools whose calls the client answers: the server's manual ones, those of the running turn, and those that wait. */
const manualTools = ({ troupe }: Call, chat: LocalChatRef, options: TurnOptions = {}): ReadonlySet<string> => {
  const { turn, pendingToolCalls = [] } = chat.getSnapshot()?.context ?? {}
  const tools = [...troupe.tools, ...(turn?.options.tools ?? []), ...(options.tools ?? [])]
  return new Set([
    ...tools.flatMap((tool) => ("manual" in tool && tool.manual ? [tool.name] : [])),
    ...pendingToolCalls.map(({ name }) => name)
  ])
}

const encoder = ({ call, chat, name, has, steps, asked, options }: Run<UiRequest>): Encoder<UiChunk> => {
  const ui = new UiStream(manualTools(call, chat, options), { asked, sent: callsOf(has) })
  ui.said(steps)
  /** A client forgets the data of a step that is reset: it gets the data of its reply again. */
  const withDataAgain = (chunks: ReadonlyArray<UiChunk>): ReadonlyArray<UiChunk> =>
    chunks.some(({ type }) => type === "reset-step")
      ? [...chunks, ...writtenDataOf(chat).of(name, replyMessages(call, chat, name))]
      : chunks
  const begunAt = writtenDataOf(chat).begunAt(name)
  return {
    begin: () => ui.start(name, metadataOf(replyMessages(call, chat, name), undefined, begunAt)),
    event: (event) =>
      event.type === "chat_completed"
        ? withMetadata(
            ui.push(event),
            metadataOf(replyIn(event.result.thread.messages).messages, event.result, begunAt)
          )
        : withDataAgain(ui.push(event)),
    standing: ({ reply: messages, approvals, partial }) => withDataAgain(ui.standing({ messages, approvals, partial })),
    end: (context) => {
      const { result } = context
      const ends = ui.ended(result ?? { haltedReason: restingReason(context), metadata: {} })
      return withMetadata(ends, metadataOf(standingOf(context).now, result, begunAt))
    },
    fail: (error) => ui.failed(error),
    closing: ({ code, message }) => [
      { type: "error", errorText: code === "closing" ? "The server is closing; load the conversation anew" : message }
    ],
    news: ({ type, data }) => ({ type: `data-troupe-${type}`, transient: true, data })
  }
}

/** The halt reason of a chat at rest that has no result since it was loaded. */
const restingReason = ({ phase, lastHaltedReason = "completed" }: Context): ChatResult["haltedReason"] =>
  phase === "interrupted" ? "interrupted" : lastHaltedReason

const aiSdk: Protocol<UiRequest, UiChunk> = {
  policy: (posts) => ({ stale: "follow", calls: "cancel", approvals: "refuse", history: "add", ...posts }),
  headers: () => ({ "x-vercel-ai-ui-message-stream": "v1" }),
  done: doneFrame,
  encoder,
  frames: ({ call }) => {
    const reduced = inUiVersion(uiVersionOf(call.request))
    return (chunks) => reduced(dataFrames(chunks))
  },
  data: (part) => ({ ...part }),
  nothing: () => {
    throw new HttpError("unknown_chat", "There is no such conversation; send a message to begin one")
  }
}

const post = async (call: Call): Promise<Response> => {
  const body = await call.body(UiRequest, "messages")
  uiVersionOf(call.request)
  const posted = decode(call, body)
  call.claimStream()
  return handle(aiSdk, call, body.id, body, posted)
}

/** Whether the client's last message is the last question, which has an answer meanwhile. */
const lacksAnswer = ({ url }: Call, { thread: { messages } }: Context): boolean => {
  const at = messages.findLastIndex(isSaid)
  const asked = messages[at]
  const isLast = asked !== undefined && url.searchParams.get("after") === messageName(asked, at)
  return isLast && messages.slice(at + 1).some(isStep)
}

/** Sends the running reply, or one that the client lacks, from its beginning (AISDK3); nothing if there is none. */
const resume = async (call: Call): Promise<Response> => {
  uiVersionOf(call.request)
  const chat = await existing(call, idOf(call))
  if (chat === undefined) return new Response(null, { status: 204 })
  const context = contextOf(call, chat)
  if (!lacksAnswer(call, context) && !isRunning(context)) return new Response(null, { status: 204 })
  return following({ protocol: aiSdk, call, chat, body: { id: idOf(call), trigger: "submit-message" } })
}

const stop = async (call: Call): Promise<Response> => {
  await (await existing(call, idOf(call)))?.cancel()
  return new Response(null, { status: 204 })
}

const load = async (call: Call): Promise<Response> => {
  const chat = await existing(call, idOf(call))
  if (chat === undefined) return Response.json({ messages: [] })
  const context = contextOf(call, chat)
  const { thread, pendingApprovals, phase, partial, result } = context
  const standing = standingOf(context)
  const said = phase === "interrupted" ? partial.text : ""
  const calls = { manual: manualTools(call, chat), approvals: pendingApprovals }
  const written = writtenDataOf(chat)
  const metadata: Parameters<typeof uiMessages>[3] = (name, reply) =>
    metadataOf(reply, name === standing.name ? result : undefined, written.begunAt(name))
  return Response.json({
    messages: uiMessages(thread.messages, calls, said, metadata, (...reply) => written.of(...reply))
  })
}

const idOf = ({ params }: Call): string => params["id"] ?? ""

export const aiSdkRoutes: ReadonlyArray<Route> = [
  { method: "POST", path: "/api/chat", handle: post, follows: uiSplice },
  { method: "GET", path: "/api/chat/:id/stream", handle: resume, follows: uiSplice },
  { method: "POST", path: "/api/chat/:id/stop", handle: stop, follows: uiSplice },
  { method: "GET", path: "/api/chat/:id/messages", handle: load, follows: uiSplice }
]
