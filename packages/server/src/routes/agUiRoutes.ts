/**
 * AG-UI 1.0: `POST /ag-ui`, one run at a time.
 *
 * AGUIRUN1. The server has the conversation: only the new part of a client's post is used. A client that posts nothing new
 *           gets the current state, and follows the running turn.
 * AGUIRUN2. When a client leaves, only the reading ends (READERS1).
 * AGUIRUN4. A client that removed messages from its history goes on from there: a new message rewinds the conversation to the
 *           last message of a person that the client still has. A message whose answer the client had read, and posts last
 *           again, gets another answer. A client that has none of the messages only adds one.
 * AGUIRUN3. All answers are checked first. If one is empty, or fits nothing that waits, none is used.
 */
import type { LocalChatRef } from "@troupe/chat"
import type { ChatSnapshot } from "@troupe/chat/chats"
import { Message } from "@troupe/chat/messages"
import { HttpError } from "../errors/index.ts"
import { checkDecision } from "../access/index.ts"
import type { Call, Route, TurnRead } from "../http/index.ts"
import {
  type AgUiEvent,
  type AgUiInput,
  agUiMessages,
  AgUiRequest,
  AgUiStream,
  answersIn,
  contentOf,
  interruptIds,
  resultsIn,
  stepCount
} from "../wire/agUi/index.ts"
import {
  answering,
  behind,
  type CallNews,
  callsOf,
  checkedAnswer,
  claim,
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
  withNews
} from "../wire/index.ts"
import { taken } from "../link/index.ts"
import { ReadAnswers } from "./readAnswers.ts"

type Chat = LocalChatRef
type Context = ChatSnapshot["context"]
type Turn = ReturnType<Chat["send"]>

/** The messages whose answers clients have read to the end. */
const readAnswers = new ReadAnswers()

const run = async (call: Call): Promise<Response> => {
  const body = await call.body(AgUiRequest, "messages")
  call.claimStream()
  const last = body.messages.at(-1)
  const said = last?.role === "user" ? last : undefined
  const message =
    said === undefined ? undefined : named(Message.user(contentOf(said, call.limits.messageCharacters)), said.id)
  const chat = message === undefined ? await existing(call, body.threadId) : await call.chats.chat(body.threadId)
  if (chat === undefined) return nothing(call, body)
  const context = contextOf(call, chat)
  const answered = await answer(chat, context, body, call)
  if (answered.length > 0) return goOn(call, chat, context, body, answered)
  if (said === undefined || message === undefined) return connect(call, chat, body)
  const at = placeOf(context, said)
  if (at === -1) return say(call, await afterHistory(call, chat, context, body), body, message, said.id)
  return isRunning(context) || !readAnswers.isRead(chat, said.id)
    ? connect(call, chat, body)
    : regenerate(call, chat, context, body, at)
}

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
const placeOf = ({ thread }: Context, { id }: Pick<AgUiInput, "id">): number =>
  thread.messages.findLastIndex((message, index) => isSaid(message) && messageName(message, index) === id)

/** The chat, rewound to the end of the client's history when that is shorter (AGUIRUN4). */
const afterHistory = async (call: Call, chat: Chat, context: Context, { threadId, messages }: AgUiRequest) => {
  const posted = messages.flatMap(({ id, role }) => (role === "user" ? [id] : []))
  const place = posted.some((id) => placeOf(context, { id }) !== -1)
    ? endOfHistory(context.thread.messages, posted)
    : undefined
  return place === undefined ? chat : rewound(call, threadId, context, place, call.readers.hasLeft(chat))
}

/** Regenerates the answer to a message: its client had read the whole answer, and removed it (AGUIRUN4). */
const regenerate = async (call: Call, chat: Chat, context: Context, body: AgUiRequest, at: number) => {
  const { messages } = context.thread
  const isNewest = messages.findLastIndex(isSaid) === at
  const there = isNewest ? chat : await rewound(call, body.threadId, context, behind(messages, at), true)
  const turn = there.retry()
  claim(turn)
  await taken(turn)
  const stream = streamFor(body, standingOf(contextOf(call, there)).name)
  return streamed(call, { chat: there, turn }, stream, (follower, signal) => ofTurn(turn, follower, signal))
}

/**
 * Applies the client's answers. Throws an `HttpError` (403, 413, 422), and 409 when the chat does not wait for them.
 */
const answer = async (
  chat: Chat,
  context: Context,
  { messages, resume }: AgUiRequest,
  call: Call
): Promise<ReadonlyArray<Turn>> => {
  const { results, decisions, texts } = answersOf(messages, resume, call)
  // AGUIRUN3.
  const answers = new Map(Array.from(texts, ([id, text]) => [id, answerOf(text, call)]))
  if (!isRunning(context)) checkInterrupts(context, resume ?? [])
  const given = context.pendingToolCalls.filter(({ id }) => results.has(id))
  const decided = context.pendingApprovals.flatMap(({ toolCall: { id } }) => {
    const decision = decisions.get(id)
    return decision === undefined ? [] : [{ id, decision }]
  })
  for (const { decision } of decided) checkDecision(call.may, decision)
  const asked = context.pendingQuestion
  const said = asked === undefined ? undefined : answers.get(asked.toolCallId)
  const turns =
    given.length + decided.length === 0
      ? []
      : await answering(chat, decided, Object.fromEntries(given.map(({ id }) => [id, results.get(id)])))
  return said === undefined ? turns : [...turns, chat.send(said)]
}

/** Throws an `HttpError` (409) for an answer that the chat does not wait for. */
const checkInterrupts = (
  { pendingApprovals, pendingQuestion }: Context,
  resume: NonNullable<AgUiRequest["resume"]>
): void => {
  const waiting = interruptIds(pendingApprovals, pendingQuestion)
  const issues = resume.flatMap(({ interruptId }, index) =>
    waiting.includes(interruptId)
      ? []
      : [{ field: ["resume", index, "interruptId"], reason: `must_be_one_of ${waiting.join(", ")}` }]
  )
  if (issues.length === 0) return
  const advice = waiting.length === 0 ? "it waits for no answer" : `it waits for ${waiting.join(", ")}`
  throw new HttpError(
    "invalid_status_for_operation",
    `The conversation does not wait for some of these answers: ${advice}; load it anew`,
    { issues }
  )
}

/** All answers of a request. Throws an `HttpError` (413, 422). */
const answersOf = (messages: AgUiRequest["messages"], resume: AgUiRequest["resume"], { limits }: Call) => {
  const results = resultsIn(messages)
  const { decisions, answers: texts } = answersIn(resume ?? [])
  for (const given of [...results.values(), ...decisions.values()]) checkedAnswer(given, limits.messageCharacters)
  return { results, decisions, texts }
}

const answerOf = (text: string, { limits }: Call): string =>
  contentOf({ id: "answer", role: "user", content: text }, limits.messageCharacters) as string

/** Continues the reply. */
const goOn = async (
  call: Call,
  chat: Chat,
  before: Context,
  body: AgUiRequest,
  turns: ReadonlyArray<Turn>
): Promise<Response> => {
  const turn = turns.at(-1)
  if (turn === undefined) throw new Error("an answer began no turn")
  if (turns.length === 1) await taken(turn)
  const asked = turn.turn.messages.some(({ role }) => role === "user")
  const { name, now } = standingOf(asked ? contextOf(call, chat) : before)
  const stream = streamFor(body, name, asked ? [] : now)
  return streamed(
    call,
    { chat, turn },
    stream,
    (follower, signal) => ofTurns(turns, follower, signal),
    asked ? [] : now
  )
}

const say = async (
  call: Call,
  chat: Chat,
  body: AgUiRequest,
  message: Extract<Message.Message, { role: "user" }>,
  id: string
): Promise<Response> => {
  const { phase } = contextOf(call, chat)
  if (phase === "awaitingApproval")
    throw new HttpError("awaiting_approval", "Decide about the tool calls first, with resume")
  if (phase === "awaitingTools") {
    throw new HttpError("awaiting_tool_results", "Give the results of the tool calls first, as tool messages")
  }
  const turn = chat.send(message, { id, ...(call.readers.hasLeft(chat) ? { whenBusy: "interrupt" } : {}) })
  const isOwn = claim(turn)
  await taken(turn)
  if (isRepeated(turn)) return connect(call, chat, body)
  const stream = streamFor(body, replyName(id))
  return streamed(call, { chat, turn }, stream, (follower, signal) =>
    isOwn ? ofTurn(turn, follower, signal) : ofSaidAgain(chat, turn, follower, signal)
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
    ...stream.ended({ haltedReason: "completed", metadata: {}, pendingToolCalls: [] })
  ]
  return call.stream(alone(dataFrames(events)), { last: lastFrame })
}

async function* alone<A>(item: A): AsyncGenerator<A, void> {
  yield item
}

/** Sends the state of the conversation and the running turn (AGUIRUN1). */
const connect = async (call: Call, chat: Chat, body: AgUiRequest): Promise<Response> => {
  const context = contextOf(call, chat)
  const stream = streamFor(body, standingOf(context).name)
  const atRest: Pick<Follower<AgUiEvent>, "over"> = {
    over: ({ thread, pendingQuestion, pendingApprovals, pendingToolCalls }, { now }) => [
      ...stream.snapshot(thread.messages, stepCount(now)),
      ...stream.ended({ haltedReason: "completed", metadata: {}, pendingQuestion, pendingApprovals, pendingToolCalls })
    ]
  }
  return streamed(call, { chat }, stream, (follower, signal) =>
    ofChat(chat, context, isRunning(context) ? follower : { ...follower, ...atRest }, signal)
  )
}

const streamFor = (
  { threadId, runId }: AgUiRequest,
  reply: string,
  said: ReadonlyArray<Message.Message> = []
): AgUiStream => new AgUiStream({ threadId, runId, reply, steps: stepCount(said), calls: callsOf(said) })

const followerOf = ({ shown }: Call, stream: AgUiStream): Follower<AgUiEvent> => ({
  shown,
  before: (reply, earlier) => stream.snapshot([...earlier, ...reply], stepCount(reply)),
  event: (event) => stream.push(event),
  standing: ({ thread, partial }, { now }) => stream.snapshot(thread.messages, stepCount(now), partial),
  over: ({ thread, result }, { now }) => [
    ...stream.snapshot(thread.messages, stepCount(now)),
    ...(result === undefined ? stream.failed(undefined) : stream.ended(result))
  ],
  failed: (error) => stream.failed(error)
})

/** `now` is the part that the client has of the continued reply. */
const streamed = (
  call: Call,
  reads: TurnRead,
  stream: AgUiStream,
  followed: (follower: Follower<AgUiEvent>, signal: AbortSignal) => AsyncIterable<ReadonlyArray<AgUiEvent>>,
  now: ReadonlyArray<Message.Message> = []
): Response => {
  const watch = watchOf(call, reads.chat)
  watch.goesOnWith(now)
  const notifying = { first: dataFrames(stream.start()), frames: dataFrames, notify: customOf }
  const follower = watching(followerOf(call, stream), watch)
  const frames = (signal: AbortSignal): AsyncIterable<string> =>
    withNews(readAnswers.reading(reads.chat, followed(follower, signal), signal), watch, notifying)
  return call.stream(frames, { last: lastFrame, reads })
}

/** A custom event, which is no part of a message. */
const customOf = ({ type, data }: CallNews): AgUiEvent => ({ type: "CUSTOM", name: `troupe.${type}`, value: data })

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
  return Response.json({ messages: agUiMessages(contextOf(call, chat).thread.messages) })
}

export const agUiRoutes: ReadonlyArray<Route> = [
  { method: "POST", path: "/ag-ui", handle: run },
  { method: "GET", path: "/ag-ui/:id/messages", handle: load }
]
