/**
 * Compares the history of a storm with the database.
 *
 * STORM1. An acknowledged input is in its conversation once, in the thread or in the inbox; no input is there twice.
 * STORM2. A call that writes began at most once, and its call is stored whenever it began.
 * STORM3. The log of every conversation has no gap. Its epochs never fall, and each epoch has one writer.
 * STORM4. The newest texts of each reader are the stored ones, and a streamed text is the beginning of its message.
 * STORM5. An answer that a client has seen is stored, and no answer is there twice.
 * STORM6. Within the lease and five seconds after the last fault, every chat has answered an input. The time in which
 *         processes waited for a processor is not counted (DELAY1).
 *
 * STORM10. A conversation of a sub-agent belongs to a stored call of its root, and no call has two.
 *
 * STORM7 to STORM9 are in `nodeChecks.ts`.
 */
import { Message } from "@troupe/chat/messages"
import type { Conversation } from "@troupe/chat/store"
import { isAcknowledged } from "./clients.ts"
import { type Line, type NodeEvent, ofType } from "./history.ts"
import type { Call, Written } from "./ledger.ts"
import { wrongNodes } from "./nodeChecks.ts"
import { answersIn } from "./script.ts"

/** How many inputs were answered together with a later one. */
export const together = (records: Kept["records"]): number =>
  Array.from(records.values())
    .flatMap((record) => textsOf(record, "assistant"))
    .reduce((sum, text) => sum + Math.max(0, answersIn(text).length - 1), 0)

/** The database at the end, and the effects of the tool. `children` are the conversations of sub-agents, by their ids. */
export interface Kept {
  readonly records: ReadonlyMap<string, Conversation>
  readonly children: ReadonlyMap<string, Conversation>
  readonly ledger: ReadonlyArray<Written>
  readonly journal: ReadonlyArray<Call>
}

/** How long a chat may take to answer after the last fault, beside the lease, in milliseconds. */
const answerMs = 5_000

/** The faults that the history and the database show. */
export const checked = (
  lines: ReadonlyArray<Line>,
  { records, children, ledger, journal }: Kept,
  { leaseMs }: { readonly leaseMs: number }
): ReadonlyArray<string> => [
  ...wrongInputs(lines, records),
  ...wrongCalls(new Map([...records, ...children]), journal),
  ...wrongLogs(new Map([...records, ...children]), ledger),
  ...wrongChildren(records, children),
  ...wrongReads(lines, records),
  ...wrongAnswers(lines, records),
  ...late(lines, leaseMs),
  ...wrongNodes(lines, journal, leaseMs)
]

/** The chats, and when each first answered after the last fault, in milliseconds after it. */
export const recoveries = (lines: ReadonlyArray<Line>): ReadonlyMap<string, number> => {
  const last = lastFault(lines)
  const chats = new Map(ofType(lines, "send").map(({ chat }) => [chat, Infinity]))
  for (const { chat, at } of ofType(lines, "answered")) {
    if (at >= last) chats.set(chat, Math.min(at - last, chats.get(chat) ?? Infinity))
  }
  return chats
}

const faults: ReadonlySet<string> = new Set<NodeEvent>([
  "started",
  "ready",
  "kill",
  "term",
  "stop",
  "cont",
  "cut",
  "healed",
  "restart",
  "restarted"
])

const lastFault = (lines: ReadonlyArray<Line>): number =>
  Math.max(0, ...ofType(lines, "node").map(({ at, event }) => (faults.has(event) ? at : 0)))

const repeated = (all: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(all.filter((one, at) => all.indexOf(one) !== at))
]

const textsOf = ({ thread }: Conversation, role: "user" | "assistant"): ReadonlyArray<string> =>
  thread.messages.filter((message) => message.role === role).map(Message.text)

/** STORM1 */
const wrongInputs = (lines: ReadonlyArray<Line>, records: Kept["records"]): ReadonlyArray<string> => {
  const acknowledged = new Set(
    ofType(lines, "sent").flatMap(({ id, outcome }) => (isAcknowledged(outcome) ? [id] : []))
  )
  const inputs = new Map(
    Array.from(records, ([chat, record]) => {
      const waiting = (record.inbox ?? []).map(({ message }) => Message.text(message))
      return [chat, [...textsOf(record, "user"), ...waiting]] as const
    })
  )
  const doubled = Array.from(inputs, ([chat, texts]) =>
    repeated(texts).map((text) => `STORM1: "${text}" is more than once in ${chat}`)
  )
  const lost = ofType(lines, "send").filter(
    ({ chat, id, text }) => acknowledged.has(id) && inputs.get(chat)?.includes(text) !== true
  )
  return [...doubled.flat(), ...lost.map(({ chat, text }) => `STORM1: "${text}" is not in ${chat}`)]
}

/** The ids of the calls in a conversation. */
const callsOf = ({ thread }: Conversation): ReadonlyArray<string> =>
  thread.messages.flatMap((message) =>
    message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : []
  )

/** STORM10 */
const wrongChildren = (records: Kept["records"], children: Kept["children"]): ReadonlyArray<string> => {
  const calls = new Set(
    Array.from(records, ([chat, record]) => callsOf(record).map((call) => `${chat}: ${call}`)).flat()
  )
  const owned = Array.from(children.values(), ({ parent }) =>
    parent === undefined ? "none" : `${parent.chat.replace("storm/", "")}: ${parent.call}`
  )
  return [
    ...repeated(owned).map((call) => `STORM10: the call "${call}" has more than one sub-agent`),
    ...owned.flatMap((call) =>
      calls.has(call) ? [] : [`STORM10: a sub-agent has the call "${call}", which is not stored`]
    )
  ]
}

/** STORM2 */
const wrongCalls = (records: Kept["records"], journal: Kept["journal"]): ReadonlyArray<string> => {
  const stored = new Set(Array.from(records.values()).flatMap(callsOf))
  return [
    ...repeated(journal.map(({ key }) => key)).map(
      (key) => `STORM2: the call with the key ${key} began more than once`
    ),
    ...repeated(journal.map(({ call }) => call)).map((call) => `STORM2: the call "${call}" began more than once`),
    ...journal.flatMap(({ call }) => (stored.has(call) ? [] : [`STORM2: "${call}" began, and is not stored`]))
  ]
}

/** STORM3 */
const wrongLogs = (records: Kept["records"], ledger: Kept["ledger"]): ReadonlyArray<string> => {
  const wrong: Array<string> = []
  const byChat = Map.groupBy(ledger, ({ chat }) => chat)
  for (const [chat, { version = 0 }] of records) {
    const written = byChat.get(chat) ?? []
    const isWhole = written.length === version && written.every(({ seq }, index) => seq === index + 1)
    if (!isWhole) wrong.push(`STORM3: the log of ${chat} has ${written.length} entries instead of ${version}`)
    for (const [index, { seq, epoch = -1, writer }] of written.entries()) {
      if (epoch < 0) wrong.push(`STORM3: the entry ${seq} of ${chat} has no epoch`)
      const before = written[index - 1]
      const former = before?.epoch ?? -1
      if (epoch < former) wrong.push(`STORM3: the entry ${seq} of ${chat} has the epoch ${epoch} after ${former}`)
      if (before !== undefined && epoch === former && writer !== before.writer) {
        wrong.push(`STORM3: the entry ${seq} of ${chat} has a second writer in the epoch ${epoch}`)
      }
    }
  }
  return wrong
}

/** The text of a message for a reader, who does not get the errors of tools (TERR2). */
const shown = (message: Conversation["thread"]["messages"][number]): string =>
  message.role === "tool" && message.outcome === "failed"
    ? JSON.stringify({ error: "failed", id: message.toolCallId })
    : Message.text(message)

/** STORM4: a reader may have more than is stored until its next snapshot, so its newest texts count. */
const wrongReads = (lines: ReadonlyArray<Line>, records: Kept["records"]): ReadonlyArray<string> => {
  const read = new Map<string, ReadonlyArray<string>>()
  const wrong: Array<string> = []
  for (const { chat, from, texts, partial } of ofType(lines, "read")) {
    read.set(chat, [...(read.get(chat) ?? []).slice(0, from), ...texts])
    if (partial !== "" && texts.length > 0 && !texts.some((text) => text.startsWith(partial))) {
      wrong.push(`STORM4: a reader of ${chat} has "${partial}", which no message begins with`)
    }
  }
  for (const [chat, texts] of read) {
    const stored = (records.get(chat)?.thread.messages ?? []).map(shown)
    const different = stored.findIndex((text, index) => texts[index] !== text)
    if (different !== -1) wrong.push(`STORM4: a reader of ${chat} has another message ${different}`)
    if (texts.length > stored.length) wrong.push(`STORM4: a reader of ${chat} has more than is stored`)
  }
  return wrong
}

/** STORM5 */
const wrongAnswers = (lines: ReadonlyArray<Line>, records: Kept["records"]): ReadonlyArray<string> => {
  const texts = new Map(ofType(lines, "send").map(({ id, text }) => [id, text]))
  const answeredIn = (chat: string): ReadonlyArray<string> => {
    const record = records.get(chat)
    return record === undefined ? [] : textsOf(record, "assistant").flatMap(answersIn)
  }
  const doubled = Array.from(records.keys(), (chat) =>
    repeated(answeredIn(chat)).map((text) => `STORM5: the answer to "${text}" is more than once in ${chat}`)
  )
  const lost = ofType(lines, "answered").filter(({ chat, id }) => !answeredIn(chat).includes(texts.get(id) ?? ""))
  return [...doubled.flat(), ...lost.map(({ chat, id }) => `STORM5: the answer to ${id} is not in ${chat}`)]
}

/** STORM6 */
const late = (lines: ReadonlyArray<Line>, leaseMs: number): ReadonlyArray<string> => {
  const answered = new Set(ofType(lines, "answered").map(({ id }) => id))
  const silent = ofType(lines, "send").filter(({ id }) => !answered.has(id))
  return [
    ...silent.map(({ id }) => `STORM6: ${id} has no answer`),
    ...Array.from(recoveries(lines)).flatMap(([chat, ms]) =>
      ms - delayed(lines, ms) <= leaseMs + answerMs ? [] : [`STORM6: ${chat} answered ${ms} ms after the last fault`]
    )
  ]
}

/** For how long the machine was busy in this time after the last fault. */
const delayed = (lines: ReadonlyArray<Line>, ms: number): number => {
  const last = lastFault(lines)
  return ofType(lines, "delay").reduce((sum, line) => (line.at > last && line.at <= last + ms ? sum + line.ms : sum), 0)
}
