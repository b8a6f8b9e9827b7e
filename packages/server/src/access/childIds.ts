/**
 * The ids of the children of chats, as their owner has them.
 *
 * CHILDID1. In an event, a view, a wait, a progress report, and in the message of an agent, a client gets the id of a chat as it is in its
 *           own requests.
 */
import type { CallItem, ChatResult, ChatSnapshot } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import type { Message, Thread } from "@troupe/chat/messages"
import type { Store } from "@troupe/chat/store"
import type { PendingApproval } from "@troupe/chat/tools"
import type { Shown } from "./toolErrors.ts"

type Own = (id: string) => string
type Context = ChatSnapshot["context"]
type CallView = Context["toolCalls"][number]
type CallReport = CallItem["call"]

/** The filter, with the ids of children as the owner has them. */
export const withOwnChildren = (shown: Shown, own: Own): Shown => {
  const messages = messagesFor(own)
  const inContext = (given: Context): Context => inContextOf(given, own, messages)
  const context = (given: Context): Context => inContext(shown.context(given))
  return {
    ...shown,
    context,
    result: (result) => inThread(inResult(shown.result(result), own), messages),
    commit: (given) => {
      const commit = inCommit(shown.commit(given), own)
      return { ...commit, messages: messages(commit.messages) }
    },
    report: (given) => inReport(shown.report(given), own),
    snapshot: (snapshot) => {
      const found = shown.snapshot(snapshot)
      if (found === undefined) return undefined
      const renamed = inContext(found.context)
      return renamed === found.context ? found : { ...found, context: renamed }
    },
    events: (reader) => {
      const event = shown.events(reader)
      return (given) => inEvent(event(given), own, messages)
    }
  }
}

type Messages = ReadonlyArray<Message.Message>
type Renamed = (messages: Messages) => Messages

/** The messages, with the ids of the agents that sent them, or that they are about. A list without any is the same object. */
const messagesFor = (own: Own): Renamed => {
  const made = new WeakMap<object, Message.Message>()
  const lists = new WeakMap<Messages, Messages>()
  const renamed = (message: Message.Message): Message.Message => {
    const known = made.get(message)
    if (known !== undefined) return known
    const { metadata = {} } = message
    const named = ["from", "down"].flatMap((key) => {
      const about = metadata[key]
      const chat: unknown = typeof about === "object" && about !== null ? Reflect.get(about, "chat") : undefined
      return typeof chat === "string" ? [[key, { ...(about as object), chat: own(chat) }] as const] : []
    })
    const found = { ...message, metadata: { ...metadata, ...Object.fromEntries(named) } }
    made.set(message, found)
    return found
  }
  return (messages) => {
    const known = lists.get(messages)
    if (known !== undefined) return known
    const isOfAgent = ({ role, metadata }: Message.Message): boolean =>
      role === "user" && (metadata?.["from"] ?? metadata?.["down"]) !== undefined
    const found = messages.some(isOfAgent)
      ? messages.map((message) => (isOfAgent(message) ? renamed(message) : message))
      : messages
    lists.set(messages, found)
    return found
  }
}

/** A value with the messages of its thread so. */
const inThread = <A extends { readonly thread: Thread.Thread }>(value: A, renamed: Renamed): A => {
  const { thread } = value
  const messages = renamed(thread.messages)
  return messages === thread.messages ? value : { ...value, thread: { ...thread, messages } }
}

const inEvent = (event: Event, own: Own, messages: Renamed): Event => {
  switch (event.type) {
    case "child_event":
      return { ...event, chat: own(event.chat), event: inEvent(event.event, own, messages) }
    case "step_completed":
      return inThread(inWaiting(event, own), messages)
    case "chat_completed": {
      const result = inThread(inResult(event.result, own), messages)
      return result === event.result ? event : { ...event, result }
    }
    default:
      return event
  }
}

interface Waiting {
  readonly pendingApprovals?: ReadonlyArray<PendingApproval> | undefined
}

/** A value with the ids of the children that wait. */
const inWaiting = <A extends Waiting>(value: A, own: Own): A => {
  const { pendingApprovals: waits } = value
  return waits?.some(({ chat }) => chat !== undefined) === true
    ? { ...value, pendingApprovals: inWaits(waits, own) }
    : value
}

const inWaits = (waits: ReadonlyArray<PendingApproval>, own: Own): ReadonlyArray<PendingApproval> =>
  waits.map((wait) => (wait.chat === undefined ? wait : { ...wait, chat: own(wait.chat) }))

const inResult = (result: ChatResult, own: Own): ChatResult => inWaiting(result, own)

/** A commit has the ids of the children that have begun, and of those that its open calls wait for. */
const inCommit = (given: Store.Commit, own: Own): Store.Commit => {
  const { open, children, tasks } = given.state
  const named = {
    ...(children !== undefined && { children: children.map(own) }),
    ...(tasks?.some(({ child }) => child !== undefined) === true && {
      tasks: tasks.map((task) => (task.child === undefined ? task : { ...task, child: inWait(task.child, own) }))
    })
  }
  const commit = Object.keys(named).length === 0 ? given : { ...given, state: { ...given.state, ...named } }
  const calls = open?.calls.map((call) => {
    if ((call.state !== "waiting" && call.state !== "decided") || call.child === undefined) return call
    return { ...call, child: inWait(call.child, own) }
  })
  if (open === undefined || calls?.every((call, at) => call === open.calls[at]) !== false) return commit
  return { ...commit, state: { ...commit.state, open: { ...open, calls } } }
}

const inWait = <A extends { readonly chat: string; readonly asks: ReadonlyArray<{ readonly chat: string }> }>(
  wait: A,
  own: Own
): A => ({ ...wait, chat: own(wait.chat), asks: wait.asks.map((ask) => ({ ...ask, chat: own(ask.chat) })) })

const inContextOf = (context: Context, own: Own, messages: Renamed): Context => {
  const toolCalls = inCalls(context.toolCalls, own)
  const inbox = inInbox(context.inbox, messages)
  const shown = inThread(inWaiting(context, own), messages)
  return toolCalls === context.toolCalls && inbox === context.inbox ? shown : { ...shown, toolCalls, inbox }
}

/** The waiting inputs, of which some are messages of agents. */
const inInbox = (inbox: Context["inbox"], renamed: Renamed): Context["inbox"] => {
  const messages = inbox.map(({ message }) => message)
  const found = renamed(messages)
  if (found === messages) return inbox
  return inbox.map((input, at) => ({ ...input, message: (found[at] ?? input.message) as typeof input.message }))
}

const inCalls = (calls: ReadonlyArray<CallView>, own: Own): ReadonlyArray<CallView> =>
  calls.some((call) => call.child !== undefined || childIn(call.progress) !== undefined)
    ? calls.map((call) => inCall(call, own))
    : calls

const inCall = (call: CallView, own: Own): CallView => {
  const { child, progress } = call
  return {
    ...call,
    progress: inProgress(progress, own),
    ...(child === undefined
      ? {}
      : { child: { ...child, chat: own(child.chat), toolCalls: inCalls(child.toolCalls, own) } })
  }
}

const inReport = (report: CallReport, own: Own): CallReport => {
  const { calls, progress } = report
  const named = { ...report, progress: inProgress(progress, own) }
  return calls === undefined ? named : { ...named, calls: calls.map((call) => inReport(call, own)) }
}

const inProgress = (progress: unknown, own: Own): unknown => {
  const id = childIn(progress)
  return id === undefined ? progress : { ...(progress as object), chat: own(id) }
}

/** The id of a child that a call reports. */
const childIn = (progress: unknown): string | undefined => {
  const chat: unknown = typeof progress === "object" && progress !== null ? Reflect.get(progress, "chat") : undefined
  return typeof chat === "string" && chat.includes("/~/") ? chat : undefined
}
