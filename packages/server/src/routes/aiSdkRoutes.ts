/**
 * The AI SDK's UI message stream: `POST /api/chat` and the other routes that its clients call.
 *
 * AISDK1. The server has the conversation: only the new part of a client's post is used, and a post that does not fit is
 *         refused. Editing an earlier message, or regenerating its answer, rewinds the conversation to that message. A new
 *         message behind a shorter history rewinds it to the end of that history. The log keeps the replaced entries, and
 *         the messages before are the server's.
 * AISDK2. A repeated request runs nothing again: the answer is the stream of the running turn, or of its result.
 * AISDK3. When a client leaves, only the reading ends (READERS1). `/api/chat/:id/stream` returns the whole reply again.
 */
import type { LocalChatRef } from "@troupe/chat"
import type { ChatResult, ChatSnapshot } from "@troupe/chat/chats"
import type { Message } from "@troupe/chat/messages"
import type { Decision } from "@troupe/chat/tools"
import { HttpError } from "../errors/index.ts"
import type { Call, Route, TurnOptions, TurnRead } from "../http/index.ts"
import { checkDecision } from "../access/index.ts"
import {
  isAnswered,
  answering,
  before,
  behind,
  type CallNews,
  callsOf,
  claim,
  contextAt,
  dataChanges,
  dataFrame,
  dataFrames,
  doneFrame,
  endOfHistory,
  type Follower,
  isRepeated,
  isRunning,
  isSaid,
  isStep,
  messageName,
  ofChat,
  ofSaidAgain,
  ofTurn,
  ofTurns,
  replyName,
  rewound,
  type Standing,
  standingOf,
  watching,
  watchOf,
  withChanges,
  withNews,
  withWriter,
  writtenDataOf
} from "../wire/index.ts"
import { eventsOf, taken } from "../link/index.ts"
import {
  answersIn,
  clientOptions,
  type UiChunk,
  type UiInput,
  type UiKnown,
  uiMessages,
  uiSplice,
  UiRequest,
  UiStream,
  userMessage,
  withMetadata
} from "../wire/aiSdk/index.ts"
import { ReplyMetadata } from "./replyMetadata.ts"

type Chat = LocalChatRef
type Context = ChatSnapshot["context"]

const replies = new ReplyMetadata()

const headers = { "x-vercel-ai-ui-message-stream": "v1" }

const post = async (call: Call): Promise<Response> => {
  const body = await call.body(UiRequest, "messages")
  const last = body.message ?? body.messages?.at(-1)
  if (last === undefined) throw new HttpError("invalid_input", "There is no message")
  call.claimStream()
  if (body.trigger === "regenerate-message") return regenerate(call, body, last)
  if (last.role === "user") return say(call, body, last)
  if (last.role === "assistant") return answer(call, body, await call.chats.existing(body.id), last)
  throw new HttpError("invalid_input", "The last message is the user's, or the model's with answers to its tool calls")
}

/** The state of the conversation, as the client sees it. */
const contextOf = ({ shown }: Call, chat: Chat): Context | undefined => shown.snapshot(chat.getSnapshot())?.context

/** Handles a user's message: a new one, a repeated one (AISDK2), or one that replaces an earlier message (AISDK1). */
const say = async (call: Call, body: UiRequest, said: UiInput): Promise<Response> => {
  const { id, whenBusy } = body
  const posted = optionsOf(call, body)
  const message = userMessage(said, call.limits.messageCharacters)
  let chat = await call.chats.chat(id)
  const context = contextOf(call, chat)
  const messages = context?.thread.messages ?? []
  const inputId = call.inputId(said.id)
  const at = placeOf(messages, said.id)
  if (context !== undefined && at !== -1) {
    const isSame = JSON.stringify(messages[at]?.content) === JSON.stringify(message.content)
    if (call.begun !== undefined) {
      const end = messages.findIndex((one, index) => index > at && isSaid(one))
      const there = end === -1 ? undefined : await contextAt(call, chat, call.begun)
      return following(call, chat, there ?? context)
    }
    if (isSame && at === messages.findLastIndex(isSaid)) return following(call, chat, context)
    if (isSame || body.messageId !== said.id) throw stays()
    chat = await rewound(call, id, context, before(messages, at), whenBusy !== "reject")
  } else if (context !== undefined) {
    const place = truncatedAt(messages, body, said)
    // A history may be shorter because another client sent messages since: that cancels only a turn without readers.
    const mayCancel = whenBusy === "interrupt" || call.readers.hasLeft(chat)
    if (place !== undefined) chat = await rewound(call, id, context, place, mayCancel)
  }
  const phase = contextOf(call, chat)?.phase
  if (phase === "awaitingApproval") throw new HttpError("awaiting_approval", "Decide about the tool calls first")
  if (phase === "awaitingTools")
    throw new HttpError("awaiting_tool_results", "Give the results of the tool calls first")
  const options = withWriter(call, chat, posted)
  if (said.id !== undefined) writtenDataOf(chat).forget(replyName(said.id))
  const busy = whenBusy ?? (call.readers.hasLeft(chat) ? "interrupt" : undefined)
  const turn = chat.send(message, { whenBusy: busy, options, ...(inputId !== undefined && { id: inputId }) })
  const isOwn = claim(turn)
  await taken(turn)
  call.begins(turn.id)
  const now = contextOf(call, chat)
  if (isRepeated(turn) && now !== undefined) return following(call, chat, now)
  const name = replyName(said.id ?? turn.id)
  if (isOwn) void replies.begin(call, chat, name, turn)
  return streamed(
    call,
    { chat, turn },
    name,
    (ui, signal) => (isOwn ? ofTurn(eventsOf(chat, turn), ui, signal) : ofSaidAgain(chat, turn, ui, signal)),
    { options }
  )
}

/** Where the client's history ends before the conversation does. A client whose messages have no ids has no history. */
const truncatedAt = (
  messages: ReadonlyArray<Message.Message>,
  { messages: posted }: UiRequest,
  { id: own }: UiInput
): ReturnType<typeof endOfHistory> =>
  posted === undefined || own === undefined
    ? undefined
    : endOfHistory(
        messages,
        posted.flatMap(({ id, role }) => (role === "user" && id !== undefined ? [id] : []))
      )

/** The index of the message of this id in a thread; -1 if there is none. */
const placeOf = (messages: ReadonlyArray<Message.Message>, id: string | undefined): number =>
  id === undefined ? -1 : messages.findLastIndex((one, index) => isSaid(one) && messageName(one, index) === id)

const stays = () =>
  new HttpError(
    "already_delivered",
    "This message was said, and stays as it was; say another thing in its place with its id as messageId, or regenerate its answer"
  )

/** Applies the client's answers to the calls that wait. */
const answer = async (call: Call, body: UiRequest, chat: Chat, said: UiInput): Promise<Response> => {
  const options = withWriter(call, chat, optionsOf(call, body))
  const context = contextOf(call, chat)
  const { decisions, results } = answersIn(said, call.limits.messageCharacters)
  if (context !== undefined && call.begun !== undefined) {
    const given = [...decisions.keys(), ...results.keys()]
    const sent = standingOf(context).now.filter(isStep)
    const last = sent.findLastIndex(({ toolCalls = [] }) => toolCalls.some(({ id }) => given.includes(id)))
    return following(call, chat, context, { asked: given, steps: sent.slice(0, last + 1) })
  }
  const approvals = (context?.pendingApprovals ?? []).filter(
    (waits) => decisions.has(waits.toolCall.id) || (isAnswered(waits) && results.has(waits.toolCall.id))
  )
  const given = (context?.pendingToolCalls ?? []).filter(({ id }) => results.has(id))
  if (approvals.length === 0 && given.length === 0) {
    if (context !== undefined && isRunning(context)) return following(call, chat, context)
    throw new HttpError(
      "invalid_status_for_operation",
      "The conversation waits for none of these answers, or no longer; load it anew"
    )
  }
  const decided = approvals.map((waits) => {
    const { id } = waits.toolCall
    const decision = isAnswered(waits) && results.has(id) ? resultIn(results.get(id)) : decisionOf(decisions.get(id))
    checkDecision(call.may, decision, waits)
    return { id, decision }
  })
  const outputs = Object.fromEntries(given.map(({ id }) => [id, results.get(id)]))
  const turns = await answering(chat, decided, outputs, { options })
  const turn = turns.at(-1)
  call.begins(said.id ?? "")
  if (turn === undefined || context === undefined) throw new Error("an answer began no turn")
  const asked = context.pendingApprovals.map(({ toolCall }) => toolCall.id)
  const known = { asked, sent: callsOf(context.thread.messages), options }
  const name = said.id ?? standingOf(context).name
  for (const one of turns) void replies.begin(call, chat, name, one, true)
  return streamed(call, { chat, turn }, name, (ui, signal) => ofTurns(turns, ui, signal), {
    ...known,
    thread: context.thread.messages
  })
}

/** The answer to a wait of a sub-agent; an error says that there is none. */
const resultIn = (value: unknown): Decision =>
  value instanceof Error ? { type: "deny", reason: value.message } : { type: "result", value }

const decisionOf = (said: { readonly approved: boolean; readonly reason: string | undefined } | undefined): Decision =>
  said?.approved === true
    ? { type: "allow" }
    : { type: "deny", ...(said?.reason === undefined ? {} : { reason: said.reason }) }

/** Regenerates the answer to the last question, or to the one that is named. */
const regenerate = async (call: Call, body: UiRequest, last: UiInput): Promise<Response> => {
  const { id, messageId, whenBusy } = body
  const posted = optionsOf(call, body)
  let chat = await call.chats.existing(id)
  const context = contextOf(call, chat)
  const messages = context?.thread.messages ?? []
  const newest = messages.findLastIndex(isSaid)
  const at = last.role === "user" && last.id !== undefined && newest !== -1 ? placeOf(messages, last.id) : newest
  const mayCancel = whenBusy !== "reject"
  if (context !== undefined && call.begun !== undefined) return following(call, chat, context)
  if (context !== undefined && at !== newest) {
    if (at === -1 || (messageId ?? undefined) === undefined) throw notLast()
    chat = await rewound(call, id, context, behind(messages, at), mayCancel)
  } else if (!mayCancel && isRunning(context)) {
    throw new HttpError("busy", "A turn runs in this conversation; wait for it")
  }
  const running = contextOf(call, chat)?.turn?.delivery?.id
  if (running !== undefined) await chat.cancel({ turn: running })
  writtenDataOf(chat).forget(replyOf(call, chat))
  const options = withWriter(call, chat, posted)
  const turn = chat.retry({ options })
  claim(turn)
  await taken(turn)
  call.begins(turn.id)
  const now = contextOf(call, chat)
  const standing = now === undefined ? undefined : standingOf(now)
  const name = standing?.name ?? replyName("m")
  void replies.begin(call, chat, name, turn)
  return streamed(call, { chat, turn }, name, (ui, signal) => ofTurn(turn, ui, signal, standing), { options })
}

const notLast = () =>
  new HttpError(
    "invalid_status_for_operation",
    "This is not the last question of the conversation; load it anew, or name the message whose answer is to be another"
  )

/** The running turn, or the reply of the last one, behind the part that the client has. */
const following = (call: Call, chat: Chat, context: Context, known?: Known): Response =>
  streamed(call, { chat }, standingOf(context).name, (ui, signal) => ofChat(chat, context, ui, signal), known)

/** The options that the client posts. Throws an `HttpError` (413, 422). */
const optionsOf = ({ clientTools, troupe, limits }: Call, body: UiRequest): TurnOptions | undefined =>
  clientTools ? clientOptions(body, troupe.tools, limits.messageCharacters) : undefined

/** The name of the reply of the running turn, or of the last one. */
const replyOf = (call: Call, chat: Chat): string => {
  const context = contextOf(call, chat)
  return context === undefined ? replyName("m") : standingOf(context).name
}

/** The messages of the reply of this name, if it is the newest. */
const messagesOf = (call: Call, chat: Chat, name: string): ReadonlyArray<Message.Message> => {
  const context = contextOf(call, chat)
  const standing = context === undefined ? undefined : standingOf(context)
  return standing?.name === name ? standing.now : []
}

/** The tools whose calls the client answers: the server's manual ones, those of the running turn, and those that wait. */
const manualTools = ({ troupe }: Call, chat: Chat, options: TurnOptions = {}): ReadonlySet<string> => {
  const { turn, pendingToolCalls = [] } = chat.getSnapshot()?.context ?? {}
  const tools = [...troupe.tools, ...(turn?.options.tools ?? []), ...(options.tools ?? [])]
  return new Set([
    ...tools.flatMap((tool) => ("manual" in tool && tool.manual ? [tool.name] : [])),
    ...pendingToolCalls.map(({ name }) => name)
  ])
}

/** A followed turn, until the client is gone. */
type Followed = (ui: Follower<UiChunk>, signal: AbortSignal) => AsyncIterable<ReadonlyArray<UiChunk>>

/**
 * What the client has of a continued reply; `thread` is that reply's state, and `steps` the model's messages that the client has, without
 * their results. `options` are those of the client's turn.
 */
interface Known extends UiKnown {
  readonly thread?: ReadonlyArray<Message.Message>
  readonly steps?: ReadonlyArray<Message.Message>
  readonly options?: TurnOptions | undefined
}

const streamed = (call: Call, reads: TurnRead, name: string, followed: Followed, known: Known = {}): Response => {
  const { chat } = reads
  const ui = new UiStream(manualTools(call, chat, known.options), known)
  const watch = watchOf(call, chat)
  if (known.steps !== undefined) ui.said(known.steps)
  if (known.thread !== undefined) watch.goesOnWith(known.thread)
  const begins = ui.start(name, replies.of(call, chat, name))
  const notifying = { first: dataFrames(begins), frames: dataFrames, notify: chunkOf, last: doneFrame }
  const written = writtenDataOf(chat)
  return call.stream(
    (signal) => {
      const follower = watching(followerOf(call, chat, name, ui), watch)
      return withChanges(withNews(followed(follower, signal), watch, notifying), () =>
        dataChanges(written, { name, messages: messagesOf(call, chat, name) }, dataFrames)
      )
    },
    {
      headers,
      last: lastFrame,
      reads
    }
  )
}

const chunkOf = ({ type, data }: CallNews): UiChunk => ({ type: `data-troupe-${type}`, transient: true, data })

/** The last frame of a stream that the server ends; the turn continues. */
const lastFrame = ({ code, message }: HttpError): string =>
  dataFrame({
    type: "error",
    errorText: code === "closing" ? "The server is closing; load the conversation anew" : message
  })

const followerOf = (call: Call, chat: Chat, name: string, ui: UiStream): Follower<UiChunk> => ({
  shown: call.shown,
  before: (messages) => ui.said(messages),
  event: (event) =>
    event.type === "chat_completed"
      ? withMetadata(ui.push(event), replies.ended(call, chat, name, event.result))
      : withDataAgain(ui.push(event), call, chat, name),
  standing: (context, { now }) => withDataAgain(ui.standing(stands(context, now)), call, chat, name),
  over: (context, { now }) => {
    const { result } = context
    const metadata = result === undefined ? replies.of(call, chat, name) : replies.ended(call, chat, name, result)
    const ends = ui.ended(result ?? { haltedReason: restingReason(context), metadata: {} })
    return [...ui.standing(stands(context, now)), ...withMetadata(ends, metadata)]
  },
  failed: (error) => {
    call.cutIfMoved(error)
    return ui.failed(error)
  }
})

/** A client forgets the data of a step that is reset: it gets the data of its reply again. */
const withDataAgain = (chunks: ReadonlyArray<UiChunk>, call: Call, chat: Chat, name: string): ReadonlyArray<UiChunk> =>
  chunks.some(({ type }) => type === "reset-step")
    ? [...chunks, ...writtenDataOf(chat).of(name, messagesOf(call, chat, name))]
    : chunks

/** The halt reason of a chat at rest that has no result since it was loaded. */
const restingReason = ({ phase, lastHaltedReason = "completed" }: Context): ChatResult["haltedReason"] =>
  phase === "interrupted" ? "interrupted" : lastHaltedReason

const stands = (context: Context, messages: Standing["now"]) => ({
  messages,
  approvals: context.pendingApprovals,
  partial: context.partial
})

/** Sends the running reply, from its beginning (AISDK3); nothing if none is running. */
const resume = async (call: Call): Promise<Response> => {
  const chat = await existing(call)
  const context = chat === undefined ? undefined : contextOf(call, chat)
  if (chat === undefined || !isRunning(context)) return new Response(null, { status: 204 })
  return following(call, chat, context)
}

const stop = async (call: Call): Promise<Response> => {
  await (await existing(call))?.cancel()
  return new Response(null, { status: 204 })
}

const load = async (call: Call): Promise<Response> => {
  const chat = await existing(call)
  const context = chat === undefined ? undefined : contextOf(call, chat)
  if (chat === undefined || context === undefined) return Response.json({ messages: [] })
  const { thread, pendingApprovals, phase, partial, result } = context
  if (result !== undefined) replies.ended(call, chat, standingOf(context).name, result)
  const said = phase === "interrupted" ? partial.text : ""
  const calls = { manual: manualTools(call, chat), approvals: pendingApprovals }
  const metadataOf = (name: string) => replies.of(call, chat, name)
  const written = writtenDataOf(chat)
  return Response.json({
    messages: uiMessages(thread.messages, calls, said, metadataOf, (...reply) => written.of(...reply))
  })
}

/** An unknown conversation is no error here: clients request it before their first message. */
const existing = async ({ chats, params }: Call): Promise<Chat | undefined> => {
  try {
    return await chats.existing(params["id"] ?? "")
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return undefined
    throw error
  }
}

export const aiSdkRoutes: ReadonlyArray<Route> = [
  { method: "POST", path: "/api/chat", handle: post, follows: uiSplice },
  { method: "GET", path: "/api/chat/:id/stream", handle: resume, follows: uiSplice },
  { method: "POST", path: "/api/chat/:id/stop", handle: stop, follows: uiSplice },
  { method: "GET", path: "/api/chat/:id/messages", handle: load, follows: uiSplice }
]
