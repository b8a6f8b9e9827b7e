/**
 * The checks of a store whose program was killed: its conversations, its forks and its trees of agents.
 *
 * LAB6. A conversation of a sub-agent belongs to a stored call of its parent, and no call has two.
 * LAB7. A conversation that was in a turn is loaded as interrupted, or asks about its calls; its partial text is the stored one.
 * LAB8. A reported fork exists.
 * LAB9. A call that a person allowed has the result of its run, and a question has the answer of the person. When nothing is killed any
 *       longer, every chat comes to its end: no turn runs, no call is open, and no input waits.
 * LAB10. The end of a background task is in the thread of its chat at most once, and once when every chat is at its end.
 */
import { Message } from "@troupe/chat/messages"
import type { Conversation } from "@troupe/chat/store"
import { isReport, looked } from "../workload.ts"
import { callsOf, repeated, textsOf } from "./conversations.ts"
import { type Line, ofType } from "./history.ts"
import type { Kept } from "./kept.ts"

/** LAB6 */
export const wrongChildren = ({ records }: Kept): ReadonlyArray<string> => {
  const children = Array.from(records.values()).flatMap(({ id, parent }) =>
    parent === undefined ? [] : [{ id, parent }]
  )
  const calls = new Map(Array.from(records, ([id, record]) => [id, new Set(callsOf(record))]))
  return [
    ...repeated(children.map(({ parent }) => `"${parent.call}" of ${parent.chat}`)).map(
      (call) => `LAB6: the call ${call} has more than one sub-agent`
    ),
    ...children.flatMap(({ id, parent: { chat, call } }) =>
      calls.get(chat)?.has(call) === true ? [] : [`LAB6: ${id} has no owner: ${chat} has no call "${call}"`]
    )
  ]
}

/** LAB7: `former` is what the store had before this life. */
export const wrongRevivals = (lines: ReadonlyArray<Line>, { records }: Kept): ReadonlyArray<string> =>
  ofType(lines, "revived").flatMap(({ chat, phase, partial }) => {
    if (partial === undefined) return []
    const record = records.get(chat)
    const asks = record?.open?.calls.some(({ state }) => state === "intended" || state === "waiting") ?? false
    const expected = asks ? "awaitingApproval" : record?.running === true ? "interrupted" : "idle"
    const text = phase === "interrupted" ? (record?.draft ?? "") : partial
    if (phase !== expected) return [`LAB7: ${chat} is ${phase} instead of ${expected}`]
    return partial === text ? [] : [`LAB7: the reply of ${chat} is "${partial}" instead of "${text}"`]
  })

/** LAB8 to LAB10 */
export const wrongLives = (lines: ReadonlyArray<Line>, { records }: Kept, isLast: boolean): ReadonlyArray<string> => [
  ...ofType(lines, "forked").flatMap(({ to }) => (records.has(to) ? [] : [`LAB8: there is no ${to}`])),
  ...Array.from(records.values()).flatMap((record) => wrongReports(record, isLast)),
  ...(isLast ? Array.from(records.values()).flatMap(notOver) : []),
  ...(isLast ? notRun(lines, records) : [])
]

/** The background tasks that began in a conversation. */
export const tasksOf = (record: Conversation): ReadonlyArray<string> =>
  textsOf(record, "tool").flatMap((text) => /"task":"([^"]+)"/.exec(text)?.slice(1) ?? [])

/** LAB10: a call whose result names a task has one message about the end of that task. */
const wrongReports = (record: Conversation, isLast: boolean): ReadonlyArray<string> => {
  const reports = textsOf(record, "user").filter(isReport)
  return tasksOf(record).flatMap((task) => {
    const times = reports.filter((text) => text.includes(task)).length
    const isRight = times === 1 || (times === 0 && !isLast)
    return isRight ? [] : [`LAB10: the end of the task ${task} is ${times} times in ${record.id}`]
  })
}

/** LAB9 */
const notOver = ({ id, running, open, inbox = [] }: Conversation): ReadonlyArray<string> => [
  ...(running ? [`LAB9: the turn of ${id} is not over`] : []),
  ...(open === undefined ? [] : [`LAB9: ${id} has open calls`]),
  ...(inbox.length === 0
    ? []
    : [`LAB9: ${inbox.length} inputs of ${id} wait: ${inbox.map(({ id: input }) => input).join(", ")}`])
]

/** The results of a call that ran, or about which a person knows what it did. */
const ran: ReadonlySet<string> = new Set(["noted", looked])

/** LAB9 */
const notRun = (lines: ReadonlyArray<Line>, records: Kept["records"]): ReadonlyArray<string> => {
  const messages = Array.from(records.values()).flatMap(({ thread }) => thread.messages)
  const results = messages.filter((message) => message.role === "tool")
  const given = new Map(results.map((message) => [message.toolCallId, Message.text(message)]))
  const answers = new Set(messages.flatMap((message) => (message.role === "user" ? [Message.text(message)] : [])))
  return ofType(lines, "allowed").flatMap(({ call }) => {
    const result = given.get(call) ?? "nothing"
    return ran.has(result) || answers.has(`${looked} ${call}`)
      ? []
      : [`LAB9: the allowed call ${call} has the result ${result}`]
  })
}
