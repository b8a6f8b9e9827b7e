/**
 * AG-UI: `POST /ag-ui`, one run at a time.
 *
 * AGUIRUN1. The server has the conversation: only the new part of a client's post is used. A client that posts nothing new
 *           gets the current state, and follows the running turn.
 * AGUIRUN2. When a client leaves, only the reading ends (READERS1).
 * AGUIRUN4. A client that removed messages from its history goes on from there: a new message rewinds the conversation to the
 *           last message of a person that the client still has. A message whose answer the client had read, and posts last
 *           again, gets another answer. A client that has none of the messages only adds one.
 */
import type { LocalChatRef } from "@troupe/chat"
import type { ChatSnapshot } from "@troupe/chat/chats"
import { Message } from "@troupe/chat/messages"
import { HttpError } from "../errors/index.ts"
import type { Call, Route, TurnOptions, TurnRead } from "../http/index.ts"
import {
  type AgUiEvent,
  type AgUiInput,
  agUiMessages,
  agUiSplice,
  AgUiRequest,
  AgUiStream,
  checkLengths,
  contentOf,
  isCurrentVersion,
  resultIdsIn,
  sharedStateOf,
  stepCount,
  turnOptionsOf,
  withState
} from "../wire/agUi/index.ts"
import {
  answering,
  behind,
  type CallNews,
  callsOf,
  claim,
  dataChanges,
  dataFrame,
  dataFrames,
  endOfHistory,
  type Follower,
  isRepeated,
  isRunning,
  isSaid,
  messageName,
  named,
  ofChat,
  ofSaidAgain,
  ofTurn,
  ofTurns,
  replyName,
  rewound,
  standingOf,
  watching,
  watchOf,
  withChanges,
  withNews,
  withWriter,
  type WrittenPart,
  writtenDataOf
} from "../wire/index.ts"
import { eventsOf, taken } from "../link/index.ts"
import { type Answers, answersOf } from "./agUiAnswers.ts"
import { ReadAnswers } from "./readAnswers.ts"

type Chat = LocalChatRef
type Context = ChatSnapshot["context"]
type Turn = ReturnType<Chat["send"]>

/** The messages whose answers clients have read to the end. */
const readAnswers = new ReadAnswers()

/** A run in a conversation that exists. */
interface Run {
  readonly call: Call
  readonly chat: Chat
  readonly body: AgUiRequest
}

/** A new message, and its id. */
interface Fresh {
  readonly id: string
  readonly message: Extract<Message.Message, { role: "user" }>
}

const start = async (call: Call): Promise<Response> => {
  const body = await call.body(AgUiRequest, "messages")
  checkLengths(body, call.limits.messageCharacters)
  call.claimStream()
  const last = body.messages.findLast(({ role }) => role !== "activity")
  const said = last?.role === "user" ? freshOf(call, last) : undefined
  const chat = said === undefined ? await existing(call, body.threadId) : await call.chats.chat(body.threadId)
  if (chat === undefined) return nothing(call, body)
  const run: Run = { call, chat, body }
  const context = contextOf(call, chat)
  const at = said === undefined ? -1 : placeOf(context, said)
  if (call.begun !== undefined) {
    // FORWARD9. A message that waits is sent again under its id.
    const waits = said !== undefined && context.inbox.some(({ id }) => id === said.id)
    return waits ? say(run, said) : connect(run)
  }
  const fresh = at === -1 ? said : undefined
  const answers = answersOf(call, body, context, fresh !== undefined)
  if (answers !== undefined) return answer(run, context, answers, fresh)
  if (said === undefined) return connect(run)
  if (fresh !== undefined) return say({ ...run, chat: await afterHistory(run, context) }, fresh)
  return call.isAgain || isRunning(context) || !readAnswers.isRead(chat, said.id)
    ? connect(run)
    : regenerate(run, context, at)
}

const freshOf = ({ limits }: Call, said: AgUiInput): Fresh => ({
  id: said.id,
  message: named(Message.user(contentOf(said, limits.messageCharacters)), said.id)
})

/** The options of the turn that a run begins. */
const optionsOf = ({ call, call: { troupe, limits }, chat, body }: Run): TurnOptions =>
  withWriter(call, chat, turnOptionsOf(body, troupe.tools, sharedStateOf(chat), limits.messageCharacters))

/** The state of the conversation, as the client sees it. */
const contextOf = ({ shown }: Call, chat: Chat): Context => {
  const context = shown.snapshot(chat.getSnapshot())?.context
  if (context === undefined) throw new HttpError("chat_stopped", "The conversation was stopped; ask again")
  return context
}

/** Looking at a conversation does not create it. */
const existing = async ({ chats }: Call, id: string): Promise<Chat | undefined> => {
  try {
    return await chats.existing(id)
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return undefined
    throw error
  }
}

/** The index of a message in the thread; -1 if it is new. */
const placeOf = ({ thread }: Context, { id }: { readonly id: string }): number =>
  thread.messages.findLastIndex((message, index) => isSaid(message) && messageName(message, index) === id)

/** The chat, rewound to the end of the client's history when that is shorter (AGUIRUN4). */
const afterHistory = async ({ call, chat, body: { threadId, messages } }: Run, context: Context): Promise<Chat> => {
  const posted = messages.flatMap(({ id, role }) => (role === "user" ? [id] : []))
  const place = posted.some((id) => placeOf(context, { id }) !== -1)
    ? endOfHistory(context.thread.messages, posted)
    : undefined
  return place === undefined ? chat : rewound(call, threadId, context, place, call.readers.hasLeft(chat))
}

/** Regenerates the answer to a message: its client had read the whole answer, and removed it (AGUIRUN4). */
const regenerate = async (run: Run, context: Context, at: number): Promise<Response> => {
  const { call, body } = run
  const { messages } = context.thread
  const isNewest = messages.findLastIndex(isSaid) === at
  const chat = isNewest ? run.chat : await rewound(call, body.threadId, context, behind(messages, at), true)
  const there = { ...run, chat }
  writtenDataOf(chat).forget(standingOf(contextOf(call, chat)).name)
  const turn = chat.retry({ options: optionsOf(there) })
  claim(turn)
  await taken(turn)
  call.begins(turn.id)
  const stream = streamFor(body, standingOf(contextOf(call, chat)).name)
  return streamed(there, turn, stream, (follower, signal) => ofTurn(turn, follower, signal))
}

/** Applies the answers, and continues the reply. A new message follows them (AGUIRUN5). */
const answer = async (
  run: Run,
  before: Context,
  { results, decided, text }: Answers,
  fresh: Fresh | undefined
): Promise<Response> => {
  const { call, chat, body } = run
  const options = optionsOf(run)
  const isOneTurn = fresh !== undefined && decided.length === 0 && text === undefined
  const begun = await answering(chat, decided, results, { options, ...(isOneTurn ? { input: fresh.message } : {}) })
  const turns = text === undefined ? begun : [...begun, chat.send(text, { options })]
  const turn = turns.at(-1)
  if (turn === undefined) throw new Error("an answer began no turn")
  if (fresh !== undefined && !isOneTurn) return sayBehind(run, turns, fresh, options)
  if (turns.length === 1) await taken(turn)
  call.begins(turn.id)
  const asked = turn.turn.messages.some(({ role }) => role === "user")
  const { name, now } = standingOf(asked ? contextOf(call, chat) : before)
  const own = asked ? [] : now
  const stream = streamFor(body, fresh === undefined ? name : replyName(fresh.id), own)
  return streamed(run, turn, stream, (follower, signal) => ofTurns(turns, follower, signal), own)
}

/** Sends a message behind the turns of answers. Its client gets their messages in a snapshot. */
const sayBehind = async (
  run: Run,
  turns: ReadonlyArray<Turn>,
  { id, message }: Fresh,
  options: TurnOptions
): Promise<Response> => {
  for (const turn of turns) await turn.return()
  const turn = run.chat.send(message, { id, options })
  claim(turn)
  await taken(turn)
  run.call.begins(turn.id)
  return streamed(run, turn, streamFor(run.body, replyName(id)), (follower, signal) =>
    ofSaidAgain(run.chat, turn, follower, signal)
  )
}

const say = async (run: Run, { id, message }: Fresh): Promise<Response> => {
  const { call, chat, body } = run
  const options = optionsOf(run)
  const turn = chat.send(message, { id, options, ...(call.readers.hasLeft(chat) ? { whenBusy: "interrupt" } : {}) })
  const isOwn = claim(turn)
  await taken(turn)
  call.begins(turn.id)
  if (isRepeated(turn)) return connect(run)
  return streamed(run, turn, streamFor(body, replyName(id)), (follower, signal) =>
    isOwn ? ofTurn(eventsOf(chat, turn), follower, signal) : ofSaidAgain(chat, turn, follower, signal)
  )
}

/** There is no conversation yet: answers are refused, and a look gets an empty state. */
const nothing = (call: Call, body: AgUiRequest): Response => {
  if ((body.resume ?? []).length > 0)
    throw new HttpError("unknown_chat", "There is no such conversation; say something in it")
  const stream = streamFor(body, replyName("m"))
  const events = [
    ...stream.start(),
    ...stream.snapshot([], 0),
    ...stream.ended({ haltedReason: "completed", metadata: {}, pendingToolCalls: [], steps: [] })
  ]
  return call.stream(alone(dataFrames(events)), { last: lastFrame })
}

async function* alone<A>(item: A): AsyncGenerator<A, void> {
  yield item
}

/** Sends the state of the conversation and the running turn (AGUIRUN1). */
const connect = async (run: Run): Promise<Response> => {
  const { call, chat, body } = run
  const context = contextOf(call, chat)
  const stream = streamFor(body, standingOf(context).name)
  const atRest: Pick<Follower<AgUiEvent>, "over"> = {
    over: ({ thread, pendingQuestion, pendingApprovals, pendingToolCalls }, { now }) => [
      ...stream.snapshot(thread.messages, stepCount(now)),
      ...stream.ended({
        haltedReason: "completed",
        metadata: {},
        pendingQuestion,
        pendingApprovals,
        pendingToolCalls,
        steps: []
      })
    ]
  }
  return streamed(run, undefined, stream, (follower, signal) =>
    ofChat(chat, context, isRunning(context) ? follower : { ...follower, ...atRest }, signal)
  )
}

const streamFor = (
  { threadId, runId, protocolVersion, messages }: AgUiRequest,
  reply: string,
  said: ReadonlyArray<Message.Message> = []
): AgUiStream =>
  new AgUiStream({
    threadId,
    runId,
    isCurrent: isCurrentVersion(protocolVersion),
    resultIds: resultIdsIn(messages),
    reply,
    steps: stepCount(said),
    calls: callsOf(said)
  })

const followerOf = ({ shown, cutIfMoved }: Call, stream: AgUiStream): Follower<AgUiEvent> => ({
  shown,
  before: (reply, earlier) => stream.snapshot([...earlier, ...reply], stepCount(reply)),
  event: (event) => stream.push(event),
  standing: ({ thread, partial }, { now }) => stream.snapshot(thread.messages, stepCount(now), partial),
  over: ({ thread, result }, { now }) => [
    ...stream.snapshot(thread.messages, stepCount(now)),
    ...(result === undefined ? stream.failed(undefined) : stream.ended(result))
  ],
  failed: (error) => {
    cutIfMoved(error)
    return stream.failed(error)
  }
})

/** `turn` is the client's own turn, and `now` the part that the client has of the continued reply. */
const streamed = (
  { call, chat, body }: Run,
  turn: TurnRead["turn"],
  stream: AgUiStream,
  followed: (follower: Follower<AgUiEvent>, signal: AbortSignal) => AsyncIterable<ReadonlyArray<AgUiEvent>>,
  now: ReadonlyArray<Message.Message> = []
): Response => {
  const watch = watchOf(call, chat)
  watch.goesOnWith(now)
  const notifying = { first: dataFrames(stream.start()), frames: dataFrames, notify: customOf }
  const follower = watching(followerOf(call, stream), watch)
  const frames = (signal: AbortSignal): AsyncIterable<string> => {
    const events = readAnswers.reading(chat, followed(follower, signal), signal)
    const context = call.shown.snapshot(chat.getSnapshot())?.context
    const standing = context === undefined ? undefined : standingOf(context)
    const reply = { name: stream.reply, messages: standing?.name === stream.reply ? standing.now : [] }
    const written = () => dataChanges(writtenDataOf(chat), reply, (parts) => dataFrames(parts.map(writtenOf)))
    return withState(withChanges(withNews(events, watch, notifying), written), sharedStateOf(chat), body.state)
  }
  return call.stream(frames, { last: lastFrame, reads: { chat, turn } })
}

/** A custom event, which is no part of a message. */
const customOf = ({ type, data }: CallNews): AgUiEvent => ({ type: "CUSTOM", name: `troupe.${type}`, value: data })

/** A part that a handler wrote. */
const writtenOf = ({ type: name, ...value }: WrittenPart): AgUiEvent => ({ type: "CUSTOM", name, value })

/** The last frame of a stream that the server ends. */
const lastFrame = ({ code, message }: HttpError): string =>
  dataFrame({
    type: "RUN_ERROR",
    message: code === "closing" ? "The server is closing; run again to go on" : message,
    code
  })

/** Sends a thread as its messages, to a client that has none. */
const load = async (call: Call): Promise<Response> => {
  const chat = await call.chats.existing(call.params["id"] ?? "")
  const isCurrent = isCurrentVersion(call.url.searchParams.get("protocolVersion"))
  return Response.json({ messages: agUiMessages(contextOf(call, chat).thread.messages, isCurrent) })
}

export const agUiRoutes: ReadonlyArray<Route> = [
  { method: "POST", path: "/ag-ui", handle: start, follows: agUiSplice },
  { method: "GET", path: "/ag-ui/:id/messages", handle: load, follows: agUiSplice }
]
