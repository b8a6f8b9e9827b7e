/**
 * The checks of what agents send each other, and of what a person answered them.
 *
 * LAB29. A message of an agent that has the receipt `delivered` or `pending` is in the other conversation exactly once: in its thread, or,
 *        while that agent rests, in its inbox. A message without a receipt is there at most once.
 * LAB30. The answer that an agent gave to a question is the result of that question, when every chat is at its end.
 */
import { Message } from "@troupe/chat/messages"
import type { Conversation } from "@troupe/chat/store"
import { answersIn } from "../workload.ts"
import type { Kept } from "./kept.ts"

/** A call by which an agent sends a message, and its result. */
interface Sent {
  readonly from: Conversation
  readonly to: string
  readonly text: string
  readonly result: string | undefined
}

/** The calls of the tool in all conversations. */
export const sentBy = (tool: "tell" | "ask", { records }: Kept): ReadonlyArray<Sent> =>
  Array.from(records.values()).flatMap((from) => {
    const { messages } = from.thread
    const results = new Map(
      messages.flatMap((message) => (message.role === "tool" ? [[message.toolCallId, Message.text(message)]] : []))
    )
    return messages
      .flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []))
      .filter(({ name }) => name === tool)
      .map(({ id, arguments: args }) => {
        const text = String(args?.["message"])
        return { from, to: String(args?.["to"]), text, result: results.get(id) }
      })
  })

/** The conversation that an agent means. */
const otherOf = ({ from, to }: Sent, records: Kept["records"]): Conversation | undefined => {
  if (to === "parent") return records.get(from.parent?.chat ?? "")
  return Array.from(records.values()).find(
    ({ id }) => id.includes(`/~/${to}`) && id.startsWith(from.id.split("/~/")[0] ?? "")
  )
}

const isMail = (text: string, { text: sent }: Sent): boolean =>
  text.startsWith("The agent ") && text.endsWith(`:\n${sent}`)

const isAccepted = ({ result = "" }: Sent): boolean => /"receipt":"(?:delivered|pending)"/u.test(result)

/** How many messages of agents the store accepted. */
export const acceptedMessages = (kept: Kept): number => sentBy("tell", kept).filter(isAccepted).length

/** LAB29 */
export const wrongMail = (kept: Kept): ReadonlyArray<string> =>
  sentBy("tell", kept).flatMap((sent) => {
    const other = otherOf(sent, kept.records)
    const { thread, inbox = [], inputs = [] } = other ?? { thread: { messages: [] } }
    const waiting = inbox.filter(({ id }) => !inputs.includes(id)).map(({ message }) => message)
    const times = [...thread.messages.filter(({ role }) => role === "user"), ...waiting].filter((message) =>
      isMail(Message.text(message), sent)
    ).length
    const isRight = times === 1 || (times === 0 && !isAccepted(sent))
    return isRight ? [] : [`LAB29: "${sent.text}" is ${times} times in ${other?.id ?? sent.to}`]
  })

/** LAB30 */
export const wrongAnswers = (kept: Kept): ReadonlyArray<string> =>
  sentBy("ask", kept).flatMap((sent) => {
    const given = otherOf(sent, kept.records)?.thread.messages ?? []
    const answers = given.flatMap((message) => (message.role === "assistant" ? answersIn(Message.text(message)) : []))
    const isLost = answers.includes(sent.text) && !answersIn(sent.result ?? "").includes(sent.text)
    return isLost ? [`LAB30: the answer to "${sent.text}" is lost: ${sent.result ?? "no result"}`] : []
  })
