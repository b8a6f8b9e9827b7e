/** The content of a posted request, in the words of no protocol. */
import type { LocalChatRef } from "@troupe/chat"
import type { Message } from "@troupe/chat/messages"
import type { Decision, PendingApproval } from "@troupe/chat/tools"
import type { TurnOptions } from "../http/index.ts"
import type { CallResult } from "../wire/index.ts"

/**
 * A person's message, and the id that its client gave it. With `edits` it replaces the message that has this id. `read` throws an
 * `HttpError` for content that is too long or has an unknown form: it is called only for a message that is new.
 */
export interface PostedMessage {
  readonly id: string | undefined
  readonly read: () => UserMessage
  readonly edits: boolean
}

type UserMessage = Extract<Message.Message, { role: "user" }>

/**
 * Answers, by the ids of their calls. `named` are answers to waits that the client names, with the place in its body: a wrong one is
 * refused. All others stand in its history, and count only while the chat waits for them.
 */
export interface Answers {
  readonly results: ReadonlyMap<string, CallResult>
  readonly decisions: ReadonlyMap<string, Decision>
  readonly texts: ReadonlyMap<string, string>
  readonly named: ReadonlyArray<{
    readonly id: string
    readonly kind: "decision" | "answer" | "result"
    readonly field: ReadonlyArray<string | number>
  }>
}

export const noAnswers: Answers = { results: new Map(), decisions: new Map(), texts: new Map(), named: [] }

/** Results that a client names, each with its place in the body. */
export const namedResults = (
  results: ReadonlyArray<{
    readonly id: string
    readonly value: unknown
    readonly field: ReadonlyArray<string | number>
  }>
): Answers => ({
  ...noAnswers,
  results: new Map(results.map(({ id, value }) => [id, { value }])),
  named: results.map(({ id, field }) => ({ id, kind: "result", field }))
})

/**
 * A posted request.
 *
 * - `messages`: the person's messages behind the last one of the model, the newest last
 * - `history`: the ids of all messages of persons that the client has
 * - `regenerate`: another answer, to the message `of` or to the newest; with `ifRead` only when a client has read the present answer
 *   to its end. `isNamed`: the client names an earlier message
 * - `reply`: the client's id of the reply that the answers continue
 * - `end`: how many messages the conversation has up to the end of the response that the post continues; infinite for its present end.
 *   Throws an `HttpError` (404) when it no longer has that response
 * - `thread`: the messages with which a new conversation begins
 */
export interface Posted {
  readonly messages: ReadonlyArray<PostedMessage>
  readonly answers: Answers
  readonly history?: ReadonlyArray<string> | undefined
  readonly regenerate?:
    | { readonly of: string | undefined; readonly ifRead: boolean; readonly isNamed: boolean }
    | undefined
  readonly reply?: string | undefined
  readonly end?: ((messages: ReadonlyArray<Message.Message>) => number) | undefined
  readonly thread?: ReadonlyArray<Message.Message> | undefined
  readonly whenBusy?: "queue" | "steer" | "interrupt" | "reject" | undefined
  readonly options: (chat: LocalChatRef) => TurnOptions | undefined
}

/**
 * The facts of a conversation that decide about a post.
 *
 * - `hasLeft`: all clients have left the running turn
 * - `inbox`: how many messages wait
 */
export interface Here {
  readonly messages: ReadonlyArray<Message.Message>
  readonly isRunning: boolean
  readonly hasLeft: boolean
  readonly inbox: number
  readonly approvals: ReadonlyArray<PendingApproval>
  readonly calls: ReadonlyArray<{ readonly id: string }>
  readonly question: { readonly toolCallId: string } | undefined
  /** Whether a client has read the answer to this message to its end. */
  readonly isRead: (id: string) => boolean
}
