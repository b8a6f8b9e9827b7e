/**
 * The ids of the children of chats, as their owner has them.
 *
 * CHILDID1. In an event, a view, a wait or a progress report, a client gets the id of a child as it is in its own requests.
 */
import type { CallItem, ChatResult, ChatSnapshot } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import type { Store } from "@troupe/chat/store"
import type { PendingApproval } from "@troupe/chat/tools"
import type { Shown } from "./toolErrors.ts"

type Own = (id: string) => string
type Context = ChatSnapshot["context"]
type CallView = Context["toolCalls"][number]
type CallReport = CallItem["call"]

/** The filter, with the ids of children as the owner has them. */
export const withOwnChildren = (shown: Shown, own: Own): Shown => {
  const context = (given: Context): Context => inContext(shown.context(given), own)
  return {
    ...shown,
    context,
    result: (result) => inResult(shown.result(result), own),
    commit: (given) => inCommit(shown.commit(given), own),
    report: (given) => inReport(shown.report(given), own),
    snapshot: (snapshot) => {
      const found = shown.snapshot(snapshot)
      if (found === undefined) return undefined
      const renamed = inContext(found.context, own)
      return renamed === found.context ? found : { ...found, context: renamed }
    },
    events: (reader) => {
      const event = shown.events(reader)
      return (given) => inEvent(event(given), own)
    }
  }
}

const inEvent = (event: Event, own: Own): Event => {
  switch (event.type) {
    case "child_event":
      return { ...event, chat: own(event.chat), event: inEvent(event.event, own) }
    case "step_completed":
      return inWaiting(event, own)
    case "chat_completed": {
      const result = inResult(event.result, own)
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

const inContext = (context: Context, own: Own): Context => {
  const toolCalls = inCalls(context.toolCalls, own)
  const shown = inWaiting(context, own)
  return toolCalls === context.toolCalls ? shown : { ...shown, toolCalls }
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
