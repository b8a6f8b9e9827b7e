/**
 * Compares the trees of agents in a store with what a killed program acknowledged.
 *
 * KILL7. Every child has an owner: its parent is stored with the call of the child.
 * KILL8. After the last life every chat is over: no turn runs, no call is open, and no input waits.
 * KILL9. A call that a person allowed has the result of its run.
 * KILL10. The end of a background task is in the thread of its chat at most once, and once after the last life.
 */
import { Message } from "@troupe/chat/messages"
import type { Conversation } from "@troupe/chat/store"
import type { Found, Promised } from "./audit.ts"

const isCalled = ({ thread }: Conversation, id: string): boolean =>
  thread.messages.some(
    (message) => message.role === "assistant" && message.toolCalls?.some((call) => call.id === id) === true
  )

/** The faults of the trees. */
export const wrongTrees = (found: Found, { allowed }: Promised, isLast: boolean): ReadonlyArray<string> => {
  const records = Array.from(found.values(), ({ record }) => record)
  const orphans = records.filter(({ parent }) => {
    const owner = parent === undefined ? undefined : found.get(parent.chat)?.record
    return parent !== undefined && (owner === undefined || !isCalled(owner, parent.call))
  })
  const wrong = orphans.map(
    ({ id, parent }) => `KILL7: ${id} has no owner: ${parent?.chat} has no call ${parent?.call}`
  )
  wrong.push(...records.flatMap((record) => wrongReports(record, isLast)))
  return isLast ? [...wrong, ...records.flatMap(notOver), ...notRun(records, allowed)] : wrong
}

const textsOf = ({ thread }: Conversation, of: string): ReadonlyArray<string> =>
  thread.messages.filter(({ role }) => role === of).map(Message.text)

const tasksIn = (record: Conversation): ReadonlyArray<string> =>
  textsOf(record, "tool").flatMap((text) => /"task":"([^"]+)"/.exec(text)?.slice(1) ?? [])

/** The number of background tasks that began. */
export const tasksOf = (found: Found): number =>
  Array.from(found.values()).flatMap(({ record }) => tasksIn(record)).length

/** KILL10: a call whose result names a task has one message about the end of that task. */
const wrongReports = (record: Conversation, isLast: boolean): ReadonlyArray<string> => {
  const reports = textsOf(record, "user").filter((text) => text.startsWith("The background task"))
  return tasksIn(record).flatMap((task) => {
    const times = reports.filter((text) => text.includes(task)).length
    const isRight = times === 1 || (times === 0 && !isLast)
    return isRight ? [] : [`KILL10: the end of the task ${task} is ${times} times in ${record.id}`]
  })
}

/** KILL8 */
const notOver = ({ id, running, open, inbox = [] }: Conversation): ReadonlyArray<string> => [
  ...(running ? [`KILL8: the turn of ${id} is not over`] : []),
  ...(open === undefined ? [] : [`KILL8: ${id} has open calls`]),
  ...(inbox.length === 0 ? [] : [`KILL8: ${inbox.length} inputs of ${id} wait`])
]

/** The results of a call that ran, or about which a person knows what it did. */
const results: ReadonlySet<string> = new Set(["noted", "looked after"])

/** KILL9 */
const notRun = (records: ReadonlyArray<Conversation>, allowed: ReadonlySet<string>): ReadonlyArray<string> => {
  const given = new Map(
    records.flatMap(({ thread }) =>
      thread.messages.flatMap((message) =>
        message.role === "tool" ? [[message.toolCallId, Message.text(message)] as const] : []
      )
    )
  )
  return Array.from(allowed)
    .filter((call) => !results.has(given.get(call) ?? ""))
    .map((call) => `KILL9: the allowed call ${call} has the result ${given.get(call) ?? "nothing"}`)
}
