/**
 * The messages of a request: a pure function of the thread.
 *
 * PREFIX1. Between two compactions, the messages of a request, without the trailing note, extend those of the request before.
 * PREFIX2. A compaction changes them once.
 * NOTE1. What else the record has is one note at the end of a request, never before other messages of the thread: the background tasks that
 *        run, the agents that can be called again, and the plan, if its call is left out. The thread never has the note. It has a
 *        bounded length, and a request for which there is nothing to say has none.
 */
import type { Compaction, Message, Thread, ToolMessage, UserMessage } from "../model/index.ts"
import { mediaText } from "../model/index.ts"
import { agentIn, type Conversation, shortIdOf, waitOfTask } from "../record/index.ts"

/** The messages that a request has of a thread. */
export const sentMessages = ({ messages, compaction }: Thread): ReadonlyArray<Message> => {
  if (compaction === undefined || compaction.upTo > messages.length) return messages
  const { upTo, kept, pruned } = compaction
  return [
    ...(upTo === 0 ? [] : [summaryMessage(compaction)]),
    ...kept.flatMap((place) => sentBetween(messages, place, place + 1, pruned)),
    ...sentBetween(messages, upTo, messages.length, pruned)
  ]
}

/** The messages from a place to another, with their results shortened. */
export const sentBetween = (
  messages: ReadonlyArray<Message>,
  from: number,
  to: number,
  pruned: Compaction["pruned"]
): ReadonlyArray<Message> => {
  const sent = messages.slice(from, to)
  return pruned === undefined || from >= pruned.before
    ? sent
    : sent.map((message, at) =>
        from + at >= pruned.before ? message : shortResult(message, from + at, pruned.characters)
      )
}

/** The message in place of those that a request leaves out. */
const summaryMessage = ({ upTo, summary }: Pick<Compaction, "upTo" | "summary">): UserMessage => {
  const about = `The first ${upTo} messages of this conversation are not in this request.`
  return {
    role: "user",
    content: summary === undefined ? `[${about}]` : `[${about} Their summary:]\n<summary>\n${summary}\n</summary>`
  }
}

/** The text of a result, and of its images and files their description. */
export const resultOf = ({ content }: ToolMessage): string =>
  typeof content === "string"
    ? content
    : content
        .map((part) => (part.type === "text" || part.type === "reasoning" ? part.text : mediaText(part)))
        .join("\n")

/** A result as its head and its tail, with the number by which `read_result` finds it; any other message unchanged. */
const shortResult = (message: Message, place: number, characters: number): Message => {
  if (message.role !== "tool") return message
  const text = resultOf(message)
  if (text.length <= characters) return typeof message.content === "string" ? message : { ...message, content: text }
  const head = cutAt(text, Math.ceil(characters * 0.7))
  const tail = cutFrom(text, text.length - Math.floor(characters * 0.3))
  const left = text.length - head.length - tail.length
  return { ...message, content: `${head}\n[${left} characters left out; message ${place} has them]\n${tail}` }
}

/** The text before a place, which does not split a character of two code units. */
const cutAt = (text: string, at: number): string => text.slice(0, isSplit(text, at) ? at - 1 : at)

const cutFrom = (text: string, at: number): string => text.slice(isSplit(text, at) ? at + 1 : at)

const isSplit = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** The name of the tool whose last call is the plan of a conversation. */
export const planTool = "plan"

/** The plan that the last call of the plan tool from a place on wrote; `undefined` without one. */
export const planFrom = (messages: ReadonlyArray<Message>, from: number): string | undefined => {
  for (let place = messages.length - 1; place >= from; place--) {
    const message = messages[place]
    const call =
      message?.role === "assistant" ? message.toolCalls?.findLast(({ name }) => name === planTool) : undefined
    const plan = call?.arguments?.["plan"]
    if (typeof plan === "string") return plan
  }
  return undefined
}

/** The most characters of a plan, and the most tasks and the most agents that a note has. */
export const mostPlan = 8_000
const mostListed = 16

const noteBegin = "[A note of the program, from the record of this conversation; nobody wrote it to you:]"

/** What a note has of a record beside its thread. */
export type Noted = Pick<Conversation, "tasks" | "children">

/** The note at the end of a request (NOTE1). A request that continues a paused reply ends with that reply, so it has none. */
export const trailingNote = (
  { messages, compaction }: Thread,
  { tasks = [], children = [] }: Noted
): ReadonlyArray<UserMessage> => {
  const plan = planLeftOut(messages, compaction)
  if ((tasks.length === 0 && children.length === 0 && plan === undefined) || messages.at(-1)?.role === "assistant")
    return []
  const lines = [
    ...listed(
      "Background tasks that run",
      tasks.map((task) => `${task.id} (${task.tool}${waitOfTask(task) === undefined ? "" : ", waits for a person"})`)
    ),
    ...listed(
      "Agents that have a conversation with you, by their ids",
      children.map((child) => shortIdOf(child, agentIn(child)))
    ),
    ...(plan === undefined ? [] : [`The present plan:\n<plan>\n${beginningOf(plan)}\n</plan>`])
  ]
  return [{ role: "user", content: [noteBegin, ...lines].join("\n") }]
}

/** The plan, if the call that wrote it is not in the request. */
const planLeftOut = (messages: Thread["messages"], compaction: Thread["compaction"]): string | undefined => {
  const { plan, upTo = 0 } = compaction ?? {}
  return plan === undefined || upTo > messages.length || planFrom(messages, upTo) !== undefined ? undefined : plan
}

/** Whether a message of a request is its note. */
export const isNote = ({ role, content }: Message): boolean =>
  role === "user" && typeof content === "string" && content.startsWith(noteBegin)

/** A line with the last names. */
const listed = (what: string, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (names.length === 0) return []
  const more = names.length - mostListed
  return [`${what}: ${names.slice(-mostListed).join(", ")}${more > 0 ? `, and ${more} more` : ""}`]
}

const beginningOf = (plan: string): string =>
  plan.length <= mostPlan ? plan : `${cutAt(plan, mostPlan)}\n[The call of ${planTool} has the rest.]`
