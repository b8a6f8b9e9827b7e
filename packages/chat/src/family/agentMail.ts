/**
 * The messages that agents send each other, and their questions with their answers.
 *
 * Owns: nothing. The store has a message as an input of the other chat, and the call has its receipt, or the answer, as its result.
 *
 * TELL1. A message is an input of the other chat, and its id follows from the key of the call. So a call that runs again sends nothing twice,
 *        and an accepted message is in the other thread exactly once.
 * TELL2. The result of a message is its receipt: `delivered`, `pending`, or `refused` with the reason. The store keeps a message for an agent that
 *        rests, and the agent reads it before its next input.
 * TELL6. A message wakes an agent that rests: it works as a background task of the chat that called it, unless that has `maxTasks` tasks, or the
 *        agent waits for a person.
 * TELL3. A message answers no question that a person was asked, and carries on the chain of the other chat (CHAIN1).
 * ASK1. The result of a question is the reply that the other agent gave to it, also when the call runs again. For an agent below or
 *       beside the one that asks, the question is another call of that agent (SUB18).
 */
import { SessionError, ToolError } from "../errors/index.ts"
import { cycleText, type WaitGraph } from "./waitGraph.ts"
import { type FamilyChat, nextChange } from "./familyChat.ts"
import { type Message, text, type UserMessage } from "../model/index.ts"
import {
  agentIn,
  type Conversation,
  type InboxEntry,
  isWaiting,
  type Receipt,
  type SendOptions,
  sentByTool,
  shortIdOf,
  type UserInput
} from "../record/index.ts"
import { type AgentMessage, digest, type Returned, type SubagentCall } from "../tool/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"
import { describe } from "../values/index.ts"
import { type Addressee, addresseeOf, isGroup, isRefusal, refusal } from "./addressee.ts"

/** The turn of an input that another chat gets. */
interface SentTurn {
  readonly receipt: Promise<Receipt>
  readonly ended: Promise<void>
}

/** The functions that messages need from the directory of chats, and from the children of chats. */
export interface MailHome {
  readonly living: (id: string) => FamilyChat | undefined
  readonly load: (id: string) => Promise<Conversation | undefined>
  /** Loads the chat, and gives it an input of this id, once. */
  readonly note: (chat: string, message: UserInput, options: SendOptions) => Promise<SentTurn>
  /** Continues the turn of a chat that its program ended, if no turn runs or is next; `undefined` if there is none. */
  readonly goOn: (chat: string) => Promise<SentTurn | undefined>
  /** Takes back an input that waits. */
  readonly withdraw: (chat: string, input: string) => Promise<void>
  /** Stores an input of a chat that has no process. */
  readonly keep: (chat: string, input: InboxEntry) => Promise<unknown>
  /** Begins the conversation of a member of a team, if it has none. */
  readonly begin: (owner: string, chat: string, call: string) => Promise<void>
  /** Has an agent at rest work on the input of this key, as a task of its owner. */
  readonly wake: (
    owner: string,
    chat: string,
    work: { readonly input: string; readonly key: string }
  ) => Promise<unknown>
  /** Why a chat may send no message now; otherwise the message counts. */
  readonly messageRefusal: (id: string) => string | undefined
  /** How many inputs of a chat may wait. */
  readonly maxWaiting: number
  /** Runs a question as a call of an agent below `owner`. */
  readonly run: (owner: string, call: SubagentCall, asker: string) => Promise<Returned>
  /** Whether a call runs a turn of the agent. The call ends when the agent has read its messages. */
  readonly works: (child: string) => boolean
  readonly graph: WaitGraph
}

export class AgentMail {
  readonly #home: MailHome

  constructor(home: MailHome) {
    this.#home = home
  }

  /** Sends a message of a chat, and returns what its model reads. */
  async send(from: string, call: AgentMessage): Promise<Returned> {
    const sender = this.#home.living(from)
    if (sender === undefined || call.signal.aborted) return failed(call, "cancelled", "the call was cancelled")
    const found = addresseeOf(sender, this.#home.living, call)
    if (isRefusal(found)) return refused(call, found)
    try {
      if (isGroup(found)) return await this.#broadcast(sender, found, call)
      return call.kind === "tell"
        ? HandlerResult.ok(await this.#deliver(sender, found, call))
        : await this.#ask(sender, found, call)
    } catch (cause) {
      if (call.signal.aborted) return failed(call, "cancelled", "the call was cancelled")
      return refused(call, refusal("unreachable", describe(cause)))
    }
  }

  /** A message for a group (TEAM2). */
  async #broadcast(sender: FamilyChat, group: ReadonlyArray<Addressee>, call: AgentMessage): Promise<Returned> {
    if (call.kind === "ask")
      return refused(call, refusal("not_allowed", `a question is for one agent, not for ${call.to}`))
    const receipts = group.map((one) => {
      const to = one.owner === undefined ? "parent" : shortIdOf(one.chat, agentIn(one.chat))
      const own = { ...call, to, key: `${call.key}/${one.chat}` }
      return this.#deliver(sender, one, own).catch((cause: unknown) =>
        refusedReceipt(own, refusal("unreachable", describe(cause)))
      )
    })
    return HandlerResult.ok({ to: call.to, receipts: await Promise.all(receipts) })
  }

  async #deliver(sender: FamilyChat, addressee: Addressee, call: AgentMessage): Promise<SentReceipt> {
    const { chat, owner } = addressee
    const tooMany = this.#home.messageRefusal(sender.id)
    if (tooMany !== undefined) return refusedReceipt(call, refusal("too_many_messages", tooMany))
    const message = messageOf(sender, addressee, call)
    if (owner !== undefined && !this.#home.works(chat)) return this.#keep({ chat, owner }, message, call)
    const turn = await this.#home.note(chat, message, { id: inputOf(addressee, call), whenBusy: call.whenBusy })
    return receiptOf(call, await turn.receipt)
  }

  /** Stores a message for an agent that rests, and has the agent work on it (TELL2, TELL6). */
  async #keep(
    { chat, owner }: Addressee & { readonly owner: string },
    message: UserMessage,
    call: AgentMessage
  ): Promise<SentReceipt> {
    await this.#home.begin(owner, chat, call.toolCall.id)
    const input = inputOf({ chat, owner }, call)
    const record = await this.#home.load(chat)
    if (record === undefined)
      return refusedReceipt(call, refusal("deleted", `the conversation of ${call.to} was deleted`))
    if (record.known?.includes(input) === true) return receiptOf(call, { status: "delivered" })
    const { inbox = [] } = record
    if (!inbox.some(({ id }) => id === input)) {
      if (inbox.length >= this.#home.maxWaiting) {
        return refusedReceipt(
          call,
          refusal("inbox_full", `${inbox.length} messages wait for ${call.to}, and no more may`)
        )
      }
      const called = { key: digest(call.key), counted: record.usage }
      const kept = sentByTool({ ...message, metadata: { ...message.metadata, call: called } })
      await this.#home.keep(chat, { id: input, named: true, whenBusy: "queue", message: kept })
    }
    if (!waitsForPerson(record)) await this.#home.wake(owner, chat, { input: text(message), key: call.key })
    return receiptOf(call, { status: "pending" })
  }

  async #ask(sender: FamilyChat, { chat, owner }: Addressee, call: AgentMessage): Promise<Returned> {
    const tooMany = this.#home.messageRefusal(sender.id)
    if (tooMany !== undefined) return refused(call, refusal("too_many_messages", tooMany))
    if (owner === undefined) return this.#askParent(sender, chat, call)
    const { toolCall, signal, progress, key, span } = call
    const agent = agentIn(chat)
    const message = `${fromOf(sender, { chat, owner })} asks:\n${call.text}`
    await this.#home.begin(owner, chat, call.toolCall.id)
    const child = shortIdOf(chat, agent)
    const asked = { toolCall, signal, progress, key, span, agent, child, input: message, maxDepth: Infinity }
    return this.#home.run(owner, { ...asked, maxChildren: Infinity, events: false }, sender.id)
  }

  /** A question to the chat of the parent is a turn of its own there. */
  async #askParent(sender: FamilyChat, chat: string, call: AgentMessage): Promise<Returned> {
    const { graph, note, withdraw, living } = this.#home
    const cycle = graph.cycle(sender.id, chat)
    if (cycle !== undefined) return refused(call, refusal("cycle", cycleText(cycle)))
    const over = graph.begin(sender.id, chat)
    const input = inputOf({ chat, owner: undefined }, call)
    const aborted = Promise.withResolvers<void>()
    const abort = (): void => aborted.resolve()
    call.signal.addEventListener("abort", abort, { once: true })
    try {
      const message = messageOf(sender, { chat, owner: undefined }, call)
      const turn = await note(chat, message, { id: input, whenBusy: "queue" })
      const recordNow = () => living(chat)?.context?.record
      const answerNow = () => replyTo(recordNow()?.thread.messages ?? [], input)
      const { signal } = call
      await Promise.race([this.#answered(chat, turn, { answer: answerNow, signal }), aborted.promise])
      if (call.signal.aborted) {
        await withdraw(chat, input).catch(() => undefined)
        return failed(call, "cancelled", "the call was cancelled")
      }
      const receipt = await turn.receipt
      if (receipt.status === "rejected") return refused(call, rejectionOf(receipt))
      const answer = answerNow()
      if (answer !== undefined) return HandlerResult.ok(answer)
      return failed(
        call,
        "child_failed",
        `${call.to} ended without an answer, because of ${recordNow()?.lastHaltedReason ?? "a crash"}`
      )
    } finally {
      call.signal.removeEventListener("abort", abort)
      over()
    }
  }

  /**
   * Resolves when the turn of a question is over. One that was interrupted goes on with the next turn, which this begins if nobody else did.
   *
   *   1. the turn of the parent is interrupted, with calls
   *   2. the question begins a turn, which continues that one, and ends when its calls wait for a person
   *   3. the turn of the decisions has the reply
   */
  async #answered(chat: string, turn: SentTurn, { answer, signal }: Answering): Promise<void> {
    const { living, goOn } = this.#home
    await turn.ended
    if (answer() !== undefined || (await turn.receipt).status === "rejected") return
    await living(chat)?.rests()
    if (answer() === undefined) await (await goOn(chat))?.ended
    for (let parent = living(chat); parent?.context !== undefined && !signal.aborted; parent = living(chat)) {
      await parent.rests()
      if (answer() !== undefined || !waitsForPerson(parent.context.record)) return
      await nextChange(parent, signal)
    }
  }
}

/** The reply to a question, if there is one, and the signal of its call. */
interface Answering {
  readonly answer: () => string | undefined
  readonly signal: AbortSignal
}

/**
 * The last text after the message of this input, and before the next message of a user. A reply that was interrupted is none: the next turn
 * has the answer. Messages that were read together have one reply.
 */
const replyTo = (messages: ReadonlyArray<Message>, input: string): string | undefined => {
  let at = messages.findLastIndex(({ role, metadata }) => role === "user" && inputIn(metadata) === input)
  while (at !== -1) {
    const from = at
    at = messages.findIndex(({ role }, index) => index > from && role === "user")
    const replies = messages.slice(from + 1, at === -1 ? undefined : at).filter(({ role }) => role === "assistant")
    const whole = replies.filter(({ metadata }) => metadata?.["interrupted"] !== true)
    const answer = whole.map(text).findLast((said) => said.trim() !== "")
    if (answer !== undefined) return answer
    if (replies.length > 0 && whole.length === replies.length) return undefined
  }
  return undefined
}

const inputIn = (metadata: Message["metadata"]): unknown => {
  const sender = metadata?.["from"]
  return typeof sender === "object" && sender !== null ? Reflect.get(sender, "input") : undefined
}

/** The id of the input that a call sends (TELL1). For an agent that was called it is that of a call, which an agent that rests gets. */
const inputOf = ({ owner }: Addressee, { kind, key }: AgentMessage): string =>
  `${owner === undefined ? kind : "call"}-${digest(key)}`

/** The message with who sent it; people and observers read this in its metadata. */
const messageOf = (sender: FamilyChat, to: Addressee, call: AgentMessage): UserMessage => {
  const content = `${fromOf(sender, to)} ${call.kind === "tell" ? "says" : "asks"}:\n${call.text}`
  return { role: "user", content, metadata: { from: { chat: sender.id, kind: call.kind, input: inputOf(to, call) } } }
}

/** Whether a chat at rest waits for a person. */
const waitsForPerson = ({ open, pendingQuestion, pendingToolCalls }: Conversation): boolean =>
  pendingQuestion !== undefined || pendingToolCalls.length > 0 || (open !== undefined && isWaiting(open))

/** The name of the sender, as the other agent can address it. */
const fromOf = ({ id }: FamilyChat, { owner }: Addressee): string =>
  owner === id ? "The agent that called you (parent)" : `The agent ${shortIdOf(id, agentIn(id))}`

/** The receipt of a message, as the model reads it. */
interface SentReceipt {
  readonly receipt: string
  readonly to: string
  readonly reason?: string
  readonly message?: string
}

const receiptOf = (call: AgentMessage, receipt: Receipt): SentReceipt =>
  receipt.status === "rejected" ? refusedReceipt(call, rejectionOf(receipt)) : { receipt: receipt.status, to: call.to }

/** Why a message is refused, for the model. */
interface Refused {
  readonly refused: string
  readonly message: string
}

const rejectionOf = ({ reason, error }: Extract<Receipt, { readonly status: "rejected" }>): Refused => ({
  refused: reason,
  message: error instanceof SessionError ? error.message : describe(error)
})

const refusedReceipt = ({ to }: AgentMessage, { refused: reason, message }: Refused): SentReceipt => ({
  receipt: "refused",
  to,
  reason,
  message
})

/** A refused message has its receipt; a refused question is a failed call. */
const refused = (call: AgentMessage, found: Refused): Returned =>
  call.kind === "tell"
    ? HandlerResult.ok(refusedReceipt(call, found))
    : failed(call, "child_refused", found.message, found.refused)

const failed = (
  { toolCall }: AgentMessage,
  error: "cancelled" | "child_failed" | "child_refused",
  message: string,
  reason?: string
): HandlerResult.Failed =>
  HandlerResult.error(
    new ToolError(error, {
      message,
      toolName: toolCall.name,
      toolCallId: toolCall.id,
      ...(reason !== undefined && { metadata: { reason } })
    })
  )
