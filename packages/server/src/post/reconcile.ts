/**
 * Decides what a posted request means for a conversation, for every protocol.
 *
 * POST1. Answers come first, then a message, then another answer, then a look.
 * POST2. A message is sent once: the newest one again follows its turn, and another text under its id is an edit or a refusal.
 * POST3. Messages of a person that the chat does not have, and that no message of the model separates, are one message.
 * POST4. A history that is shorter than the conversation rewinds it, unless the post has answers.
 * POST7. https://troupe.example/posts lists what a post means in each protocol.
 */
import { type ContentPart, Message } from "@troupe/chat/messages"
import type { Decision, PendingApproval } from "@troupe/chat/tools"
import {
  before,
  behind,
  type CallResult,
  endOfHistory,
  isAnswered,
  isBelow,
  isQuestion,
  isSaid,
  isStep,
  messageName,
  type Place
} from "../wire/index.ts"
import type { PostPolicy } from "../http/index.ts"
import type { Answers, Here, Posted, PostedMessage } from "./Posted.ts"

/** A decision, and the wait that it is for. */
interface Decided {
  readonly id: string
  readonly decision: Decision
  readonly wait: PendingApproval
}

/** A rewind to a place of the thread. `mayCancel`: it may cancel the running turn. */
export interface Rewind {
  readonly place: Place
  readonly mayCancel: boolean
}

/** Why a post is refused. `not_waiting` has the places of the wrong answers, and the ids that would fit. */
export type Refusal =
  | {
      readonly why:
        | "unknown_chat"
        | "awaiting_approval"
        | "awaiting_tool_results"
        | "delivered"
        | "not_last"
        | "inbox"
        | "busy"
        | "no_wait"
    }
  | {
      readonly why: "not_waiting"
      readonly fields: ReadonlyArray<ReadonlyArray<string | number>>
      readonly waiting: ReadonlyArray<string>
    }

/** What a server does with a post. */
export type Action =
  | {
      readonly type: "send"
      readonly message: PostedMessage
      readonly rewind: Rewind | undefined
      readonly whenBusy: Posted["whenBusy"]
    }
  | {
      readonly type: "answer"
      readonly decided: ReadonlyArray<Decided>
      readonly results: ReadonlyMap<string, CallResult>
      readonly text: string | undefined
      /** The message that follows the answers. */
      readonly message: PostedMessage | undefined
    }
  | { readonly type: "regenerate"; readonly rewind: Rewind | undefined }
  /** The action is for another conversation, which begins at the place. */
  | { readonly type: "fork"; readonly place: Place; readonly action: Action }
  | { readonly type: "follow" }
  | { readonly type: "refuse"; readonly refusal: Refusal }

const refuse = (why: Exclude<Refusal["why"], "not_waiting">): Action => ({ type: "refuse", refusal: { why } })
const follow: Action = { type: "follow" }

/** The meaning of a post. `here` is `undefined` when there is no such conversation. */
export const reconcile = (here: Here | undefined, posted: Posted, policy: PostPolicy): Action => {
  const newest = posted.messages.at(-1)
  if (here === undefined) return withoutChat(posted)
  const elsewhere = behindResponse(here, posted, policy)
  if (elsewhere !== undefined) return elsewhere
  const at = indexOf(here, newest?.id)
  const fresh = at === -1 ? joined(here, posted.messages) : undefined
  const fits = fitting(here, posted.answers)
  if (fits.refusal !== undefined) return { type: "refuse", refusal: fits.refusal }
  const rewind = fresh === undefined || hasAny(fits) ? undefined : afterHistory(here, posted, policy)
  const isHeld = fresh !== undefined && rewind === undefined && !here.isRunning
  const answers = isHeld ? withRefusals(here, fits, policy) : fits
  if (typeof answers === "string") return refuse(answers)
  if (hasAny(answers)) return { type: "answer", ...answers, results: usable(here, answers), message: fresh }
  if (newest !== undefined && fresh === undefined) return again(here, posted, newest, at)
  if (fresh !== undefined) return send(here, posted, fresh, rewind)
  if (posted.regenerate !== undefined) return regenerate(here, posted, posted.regenerate)
  return hasAnswers(posted.answers) && !here.isRunning && policy.stale === "refuse" ? refuse("no_wait") : follow
}

const withoutChat = ({ messages, answers, thread }: Posted): Action => {
  const message = joinedOf(messages)
  if (answers.named.length > 0) return refuse("unknown_chat")
  if (message !== undefined) return { type: "send", message, rewind: undefined, whenBusy: undefined }
  return thread === undefined ? follow : { type: "regenerate", rewind: undefined }
}

/** A post behind a response that is in progress, or behind which the conversation goes on. */
const behindResponse = (here: Here, { end, ...posted }: Posted, policy: PostPolicy): Action | undefined => {
  const at = end?.(here.messages)
  if (at === undefined) return undefined
  if (here.isRunning && at >= here.messages.length) return refuse("busy")
  if (at >= here.messages.length + here.inbox) return undefined
  const action = reconcile(asOf(here, at), posted, policy)
  return action.type === "refuse" ? action : { type: "fork", place: { from: at, to: at }, action }
}

/** The conversation at rest, when it had this many messages. */
const asOf = (here: Here, end: number): Here => {
  const rest = { ...here, isRunning: false, hasLeft: false, inbox: 0 }
  if (end === here.messages.length) return rest
  const messages = here.messages.slice(0, end)
  const step = messages.findLast(isStep)
  const results = messages.slice(messages.findLastIndex(isStep))
  const calls = (step?.toolCalls ?? []).filter(
    ({ id }) => !results.some((one) => one.role === "tool" && one.toolCallId === id)
  )
  return { ...rest, messages, approvals: [], calls, question: undefined }
}

const hasAnswers = ({ results, decisions, texts }: Answers): boolean => results.size + decisions.size + texts.size > 0

const indexOf = ({ messages }: Here, id: string | undefined): number =>
  id === undefined ? -1 : messages.findLastIndex((one, index) => isSaid(one) && messageName(one, index) === id)

/** The messages that the chat does not have, as one (POST3). Of those without an id it has the one that equals its newest. */
const joined = (here: Here, messages: Posted["messages"]): PostedMessage | undefined => {
  const newest = here.messages.findLast(isSaid)
  const isKnown = ({ id, read }: PostedMessage, index: number): boolean =>
    id === undefined
      ? index < messages.length - 1 && newest !== undefined && Message.isSame(newest, read())
      : indexOf(here, id) !== -1
  return joinedOf(messages.slice(messages.findLastIndex(isKnown) + 1))
}

/** Messages as one, under the id of the newest. */
export const joinedOf = (messages: Posted["messages"]): PostedMessage | undefined => {
  const newest = messages.at(-1)
  if (newest === undefined || messages.length === 1) return newest
  const read = (): UserMessage => ({ ...newest.read(), content: messages.flatMap((one) => partsOf(one.read())) })
  return { ...newest, read }
}

type UserMessage = ReturnType<PostedMessage["read"]>

const partsOf = ({ content }: UserMessage): ReadonlyArray<ContentPart> =>
  typeof content === "string" ? [{ type: "text", text: content }] : content

// ---- answers

/** The answers that the chat waits for. */
interface Fitting {
  readonly decided: ReadonlyArray<Decided>
  readonly results: ReadonlyMap<string, CallResult>
  readonly text: string | undefined
  readonly refusal?: Refusal
}

const hasAny = ({ decided, results, text }: Fitting): boolean => decided.length + results.size > 0 || text !== undefined

const fitting = (here: Here, { results, decisions, texts, named }: Answers): Fitting => {
  const { approvals, calls, question } = here
  const decided = approvals.flatMap((wait): ReadonlyArray<Decided> => {
    const { id } = wait.toolCall
    const text = texts.get(id)
    const result = isAnswered(wait) ? (text === undefined ? results.get(id) : { value: text }) : undefined
    const decision = result === undefined ? decisions.get(id) : decisionOf(result)
    return decision === undefined ? [] : [{ id, decision, wait }]
  })
  const own = calls.flatMap(({ id }) => {
    const result = results.get(id)
    return result === undefined ? [] : [[id, result] as const]
  })
  const text = question === undefined ? undefined : texts.get(question.toolCallId)
  const waiting = [
    ...approvals.map((wait) => `${isAnswered(wait) ? "answer" : "decision"}:${wait.toolCall.id}`),
    ...(question === undefined ? [] : [`answer:${question.toolCallId}`])
  ]
  const isWaiting = ({ id, kind }: Answers["named"][number]): boolean =>
    kind === "result" ? own.some(([call]) => call === id) : waiting.includes(`${kind}:${id}`)
  const wrong = here.isRunning ? [] : named.filter((one) => !isWaiting(one) && !wasAnswered(here.messages, one.id))
  return {
    decided,
    results: new Map(own),
    text,
    ...(wrong.length > 0 && {
      refusal: { why: "not_waiting", fields: wrong.map(({ field }) => field), waiting }
    })
  }
}

/** Beside decisions a part of the results is not used: the client sends it again with the rest. */
const usable = ({ calls }: Here, { decided, results }: Fitting): Fitting["results"] =>
  decided.length > 0 && results.size < calls.length ? new Map() : results

/** The answer to a wait of a sub-agent. An error denies it. */
const decisionOf = (result: CallResult): Decision =>
  "error" in result ? { type: "deny", reason: result.error } : { type: "result", value: result.value }

/** Whether a call, or the one above a wait of a sub-agent, has its result, or has asked its question. */
const wasAnswered = (messages: Here["messages"], id: string): boolean =>
  messages.some(
    (message) =>
      (message.role === "tool" && (message.toolCallId === id || isBelow(id, message.toolCallId))) ||
      (isQuestion(message) && message.metadata?.["tool_call_id"] === id)
  )

/** The answers before a new message. The policy answers what still waits, or the message is refused. */
const withRefusals = (
  { approvals, calls }: Here,
  fits: Fitting,
  policy: PostPolicy
): Fitting | "awaiting_approval" | "awaiting_tool_results" => {
  const decided = new Set(fits.decided.map(({ id }) => id))
  // What waits in the background holds up no message.
  const open = approvals.filter(({ toolCall, task }) => task === undefined && !decided.has(toolCall.id))
  if (open.length > 0 && policy.approvals === "refuse") return "awaiting_approval"
  const running = calls.filter(({ id }) => !fits.results.has(id))
  if (running.length > 0 && policy.calls === "refuse") return "awaiting_tool_results"
  const denied = open.map((wait): Decided => {
    const { id } = wait.toolCall
    return { id, decision: { type: "deny", reason: replaced }, wait }
  })
  const failed = running.map(({ id }) => [id, { error: replaced }] as const)
  return { ...fits, decided: [...fits.decided, ...denied], results: new Map([...fits.results, ...failed]) }
}

const replaced = "The user sent another message instead"

// ---- a message

const send = (here: Here, { whenBusy }: Posted, message: PostedMessage, rewind: Rewind | undefined): Action =>
  rewinding(here, rewind, {
    type: "send",
    message,
    rewind,
    whenBusy: whenBusy ?? (here.hasLeft ? "interrupt" : undefined)
  })

/** A message that the chat has (POST2). */
const again = (here: Here, posted: Posted, message: PostedMessage, at: number): Action => {
  const { messages } = here
  const known = messages[at]
  if (known === undefined || !Message.isSame(known, message.read())) {
    if (!message.edits) return refuse("delivered")
    return send(here, posted, message, { place: before(messages, at), mayCancel: posted.whenBusy !== "reject" })
  }
  if (posted.regenerate !== undefined) return regenerate(here, posted, posted.regenerate)
  return at === messages.findLastIndex(isSaid) ? follow : refuse("delivered")
}

const regenerate = (
  here: Here,
  { whenBusy }: Posted,
  { of, ifRead, isNamed }: NonNullable<Posted["regenerate"]>
): Action => {
  const { messages } = here
  const newest = messages.findLastIndex(isSaid)
  const at = of === undefined ? newest : indexOf(here, of)
  if (ifRead && (here.isRunning || of === undefined || !here.isRead(of))) return follow
  // It is the question of the calls that wait, and no wish for another answer.
  if (ifRead && at === newest && here.approvals.some(({ task }) => task === undefined)) return follow
  if (ifRead && at === newest && here.calls.length > 0) return follow
  const mayCancel = whenBusy !== "reject"
  if (at === newest) return here.isRunning && !mayCancel ? refuse("busy") : { type: "regenerate", rewind: undefined }
  if (at === -1 || !isNamed) return refuse("not_last")
  const rewind = { place: behind(messages, at), mayCancel }
  return rewinding(here, rewind, { type: "regenerate", rewind })
}

// ---- the client's history

/** Where the client's history ends before the conversation does. It may be shorter because other clients have sent messages since. */
const afterHistory = (here: Here, { history, whenBusy }: Posted, policy: PostPolicy): Rewind | undefined => {
  if (history === undefined) return undefined
  if (policy.history === "add" && !history.some((id) => indexOf(here, id) !== -1)) return undefined
  const place = endOfHistory(here.messages, history)
  return place === undefined ? undefined : { place, mayCancel: whenBusy === "interrupt" || here.hasLeft }
}

const rewinding = ({ inbox, isRunning }: Here, rewind: Rewind | undefined, action: Action): Action => {
  if (rewind === undefined) return action
  if (inbox > 0) return refuse("inbox")
  return isRunning && !rewind.mayCancel ? refuse("busy") : action
}
