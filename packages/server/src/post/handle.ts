/**
 * Handles the posts of protocols: reads the conversation, decides with `reconcile`, applies the decision and answers with the turn.
 *
 * POST5. The decision and the calls that apply it run in one tick, so that a decision is for the wait that was read. Only a message and
 *        another answer may rewind, which awaits.
 * POST6. A refused post leaves no conversation behind: neither a new one nor a fork.
 */
import type { LocalChatRef } from "@troupe/chat"
import type { LiveTurn } from "@troupe/chat/chats"
import { Message } from "@troupe/chat/messages"
import { checkDecision } from "../access/index.ts"
import { HttpError, statusOf } from "../errors/index.ts"
import type { Call, TurnOptions } from "../http/index.ts"
import {
  begunTurn,
  behindCalls,
  type CallResult,
  contextAt,
  forkedAt,
  isAnswerRead,
  isRepeated,
  isRunning,
  isSaid,
  isStep,
  messageName,
  nextReply,
  ofChat,
  ofTurn,
  replyName,
  rewound,
  standingOf,
  withReplyParts,
  withWriter,
  writtenDataOf
} from "../wire/index.ts"
import type { Here, Posted, PostedMessage } from "./Posted.ts"
import type { Context, Protocol, Run, Writing } from "./Protocol.ts"
import { type Action, joinedOf, reconcile, type Rewind } from "./reconcile.ts"
import { errorOf } from "./refusals.ts"
import { streamed } from "./streamed.ts"

/** A post in a conversation. `context` is the conversation as it was decided about. */
interface Post<Body, Item> {
  readonly protocol: Protocol<Body, Item>
  readonly call: Call
  readonly chat: LocalChatRef
  readonly body: Body
  readonly posted: Posted
  readonly context: Context
}

/** Handles a post in the conversation of this id, or in a new one. */
export const handle = async <Body, Item>(
  protocol: Protocol<Body, Item>,
  call: Call,
  id: string | undefined,
  body: Body,
  posted: Posted
): Promise<Response> => {
  const policy = protocol.policy(call.posts)
  const known = id === undefined ? undefined : await existing(call, id)
  if (known === undefined) {
    const action = reconcile(undefined, posted, policy)
    if (action.type === "refuse") throw errorOf(action.refusal, protocol)
    if (action.type === "follow") return protocol.nothing(call, body)
    // A message that is too long begins no conversation (POST6).
    if (action.type === "send") action.message.read()
  }
  const chat = known ?? (await newChat(call, id, posted))
  const context = contextOf(call, chat)
  const post = { protocol, call, chat, body, posted, context }
  const action = reconcile(hereOf(call, chat, context), posted, policy)
  return call.begun === undefined ? applied(post, action) : continued(post, action, call.begun)
}

const newChat = ({ chats, troupe }: Call, named: string | undefined, { thread }: Posted): Promise<LocalChatRef> =>
  named === undefined
    ? chats.begun(undefined, (id) => (thread === undefined ? troupe.chat(id) : troupe.begin(thread, { id })))
    : chats.chat(named)

/**
 * Continues a request that has begun a turn at a former home: it begins no other one (FORWARD9). A message that waits is sent again
 * under its id.
 */
const continued = async <Body, Item>(post: Post<Body, Item>, action: Action, begun: string): Promise<Response> => {
  const { call, chat, posted, context } = post
  const message = joinedOf(posted.messages)
  if (message === undefined) return following(post, answeredBy(post))
  const id = message.id ?? begun
  const isWaiting = context.inbox.some((input) => input.id === id)
  if (isWaiting) return send(post, action.type === "send" ? action : { message, whenBusy: undefined })
  const { messages } = context.thread
  const at = messages.findIndex((one, index) => isSaid(one) && messageName(one, index) === id)
  const isLast = at === messages.findLastIndex(isSaid)
  return following(post, isLast ? undefined : { context: await contextAt(call, chat, begun) })
}

/** The calls that a post answers, and the steps of the reply up to theirs, which its client has. */
const answeredBy = <Body, Item>({ posted, context }: Post<Body, Item>): Pick<Run<never>, "asked" | "steps"> => {
  const { decisions, results, texts } = posted.answers
  const asked = [...decisions.keys(), ...results.keys(), ...texts.keys()]
  const all = standingOf(context).now.filter(isStep)
  const last = all.findLastIndex(({ toolCalls = [] }) => toolCalls.some((one) => asked.includes(one.id)))
  return { asked, steps: all.slice(0, last + 1) }
}

const applied = async <Body, Item>(post: Post<Body, Item>, action: Action): Promise<Response> => {
  switch (action.type) {
    case "refuse":
      throw errorOf(action.refusal, post.protocol)
    case "follow":
      return following(post, answeredBy(post))
    case "fork": {
      const { call } = post
      const chat = await forkedAt(call, call.chats.outerId(post.chat.id), action.place)
      return applied({ ...post, chat, context: contextOf(call, chat) }, action.action)
    }
    case "send":
      return send({ ...post, chat: await rewoundTo(post, action.rewind) }, action)
    case "answer":
      return answer(post, action)
    case "regenerate":
      return regenerate({ ...post, chat: await rewoundTo(post, action.rewind) }, action.rewind)
  }
}

const rewoundTo = async <Body, Item>(
  { call, chat, context }: Post<Body, Item>,
  rewind: Rewind | undefined
): Promise<LocalChatRef> =>
  rewind === undefined ? chat : rewound(call, call.chats.outerId(chat.id), context, rewind.place, rewind.mayCancel)

/** Resolves when the chat has the input of a turn that the post begins. */
const accepted = <Body, Item>({ protocol, ...run }: Post<Body, Item>, turn: LiveTurn): Promise<void> =>
  run.call.accepted(run.chat, turn, protocol.turnName?.(run))

/** The options of the turn, with the writer of its data, and the data that is stored with its reply. */
const optionsOf = <Body, Item>({ protocol, call, chat, posted }: Post<Body, Item>): TurnOptions => {
  const options = posted.options(chat)
  // A turn with options of its own gets no others from the server.
  return protocol.data === undefined ? (options ?? {}) : withReplyParts(call, chat, withWriter(call, chat, options))
}

/** A turn begins the reply of this name. */
const begins = <Body, Item>({ protocol, call, chat }: Post<Body, Item>, name: string, turn: LiveTurn): void => {
  if (protocol.data !== undefined) writtenDataOf(chat).begins(name, call.troupe.system.clock.now(), turn.ended)
}

const send = async <Body, Item>(
  post: Post<Body, Item>,
  { message: { id, read }, whenBusy }: Pick<Extract<Action, { type: "send" }>, "message" | "whenBusy">
): Promise<Response> => {
  const { call, chat } = post
  const message = read()
  const options = optionsOf(post)
  const inputId = call.inputId(id)
  if (id !== undefined) writtenDataOf(chat).forget(replyName(id))
  const turn = chat.send(message, { whenBusy, options, ...(inputId !== undefined && { id: inputId }) })
  const begun = begunTurn(chat, turn, true)
  begins(post, replyName(id ?? turn.id), turn)
  await accepted(post, turn)
  if (isRepeated(turn)) return following(post)
  const run = { name: replyName(id ?? turn.id), options, reads: turn }
  return streamed(post, run, (follower) => ofTurn(begun, follower))
}

/** Applies the answers in one turn, and continues the reply. A message that comes with them has a reply of its own. */
const answer = async <Body, Item>(
  post: Post<Body, Item>,
  { decided, results, text, message }: Extract<Action, { type: "answer" }>
): Promise<Response> => {
  const { call, chat, posted, context } = post
  for (const { decision, wait } of decided) checkDecision(call.may, decision, wait)
  const options = optionsOf(post)
  const decisions = Object.fromEntries(decided.map(({ id, decision }) => [id, decision]))
  const input = inputOf(text, message)
  // The place of the question in the thread: an answer that is posted twice is used once.
  const place = text && `answer.${context.pendingQuestion?.toolCallId}.${context.thread.messages.length}`
  const id = call.inputId(message?.id ?? place)
  const turn = chat.answer({ decisions, results: valuesOf(results), input }, { id, options })
  const begun = begunTurn(chat, turn, true)
  const messageReply = message && replyName(message.id ?? turn.id)
  if (messageReply !== undefined) begins(post, messageReply, turn)
  await accepted(post, turn)
  if (isRepeated(turn)) return following(post)
  const standing = () => standingOf(contextOf(call, chat))
  const { name, now } = input === undefined ? standingOf(context) : standing()
  if (input !== undefined && messageReply === undefined) begins(post, name, turn)
  const run = {
    name: messageReply ?? posted.reply ?? name,
    has: input === undefined ? now : [],
    asked: context.pendingApprovals.map(({ toolCall }) => toolCall.id),
    options,
    reads: turn
  }
  const isBehind = input !== undefined && decided.length > 0
  return streamed(post, run, (follower) => ofTurn(begun, isBehind ? behindCalls(follower, standing) : follower))
}

const valuesOf = (results: ReadonlyMap<string, CallResult>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Array.from(results, ([id, result]) => [id, "error" in result ? new Error(result.error) : result.value])
  )

/** The answer to the question of the chat, and the message behind it, as one input. */
const inputOf = (
  text: string | undefined,
  message: PostedMessage | undefined
): ReturnType<PostedMessage["read"]> | undefined =>
  joinedOf([
    ...(text === undefined ? [] : [{ id: undefined, edits: false, read: () => Message.user(text) }]),
    ...(message === undefined ? [] : [message])
  ])?.read()

/** Another answer, to the last message that the rewind has left. Its number follows from the thread before the rewind (RNAME2). */
const regenerate = async <Body, Item>(post: Post<Body, Item>, rewind: Rewind | undefined): Promise<Response> => {
  const { call, chat, context } = post
  const { attempt, name } = nextReply(context.thread.messages.slice(0, rewind?.place.from))
  const running = contextOf(call, chat).turn?.delivery?.id
  if (running !== undefined) await chat.cancel({ turn: running })
  const options = optionsOf(post)
  const turn = chat.retry({ options, attempt })
  const begun = begunTurn(chat, turn, true)
  begins(post, name, turn)
  await accepted(post, turn)
  const standing = standingOf(contextOf(call, chat))
  const run = { name: standing.name, options, reads: turn }
  return streamed(post, run, (follower) => ofTurn(begun, follower, { standing: () => standing }))
}

/** Streams the running turn, or the last reply, behind the part that the client has. */
export const following = <Body, Item>(
  post: Pick<Run<Body>, "call" | "chat" | "body"> & { readonly protocol: Writing<Body, Item> },
  part: Partial<Pick<Run<never>, "asked" | "steps">> & { readonly context?: Context | undefined } = {}
): Promise<Response> => {
  const { call, chat } = post
  const { context = contextOf(call, chat), ...known } = part
  const run = { ...known, name: standingOf(context).name, isLook: !isRunning(context) }
  return streamed({ ...post, context }, run, (follower) => ofChat(chat, context, follower))
}

/** The state of the conversation, as the client sees it. Throws an `HttpError` when the chat was stopped. */
export const contextOf = ({ shown }: Call, chat: LocalChatRef): Context => {
  const context = shown.snapshot(chat.getSnapshot())?.context
  if (context === undefined) throw new HttpError("chat_stopped", "The conversation was stopped; ask again")
  return context
}

const hereOf = ({ readers }: Call, chat: LocalChatRef, context: Context): Here => ({
  messages: context.thread.messages,
  isRunning: isRunning(context),
  hasLeft: readers.hasLeft(chat),
  inbox: context.inbox.length,
  approvals: context.pendingApprovals,
  calls: context.pendingToolCalls,
  question: context.pendingQuestion,
  isRead: (id) =>
    readers.hasRead(chat, id) ?? (context.interrupted === undefined && isAnswerRead(context.thread.messages, id))
})

/** The chat of this id, if there is one: a look creates none. */
export const existing = async ({ chats }: Call, id: string): Promise<LocalChatRef | undefined> => {
  try {
    return await chats.existing(id)
  } catch (error) {
    if (error instanceof HttpError && statusOf(error.code) === 404) return undefined
    throw error
  }
}
