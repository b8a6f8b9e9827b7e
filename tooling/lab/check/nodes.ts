/**
 * The checks of a cluster: its nodes, its readers, and its answers after the last fault.
 *
 * LAB11. The newest texts of each reader are the stored ones, and a streamed text is the beginning of its message. Of a reply that its home
 *        could not end, the message is the newest draft, so the streamed text may be longer.
 * LAB12. Every input has an answer. Within the lease and five seconds after the last fault, every chat has answered an input. The
 *        time in which processes waited for a processor is not counted (LAB16).
 * LAB13. A node ends only by a signal, and ends by itself after SIGTERM. It is refused only while PostgreSQL is restarted.
 * LAB14. A node with another protocol is refused with `protocol_mismatch`, and is never ready.
 * LAB15. A node that is cut from PostgreSQL for longer than the lease begins no call that writes until it is reached again.
 */
import { Message } from "@troupe/chat/messages"
import type { Conversation } from "@troupe/chat/store"
import { type Line, type NodeEvent, ofType } from "./history.ts"
import type { Kept } from "./kept.ts"

/** The name of the database in a history. */
export const database = "PostgreSQL"

/** How long a chat may take to answer after the last fault, beside the lease, in milliseconds. */
const answerMs = 5_000

/** The text of a message for a reader, who does not get the errors of tools (TERR2). */
const shown = (message: Conversation["thread"]["messages"][number]): string =>
  message.role === "tool" && message.outcome === "failed"
    ? JSON.stringify({ error: "failed", id: message.toolCallId })
    : Message.text(message)

/** The texts of the replies that their home could not end. */
const interrupted = (record: Conversation | undefined): ReadonlySet<string> =>
  new Set(
    record?.thread.messages.flatMap((message) => (message.metadata?.["interrupted"] === true ? [shown(message)] : []))
  )

/** LAB11: a reader may have more than is stored until its next snapshot, so its newest texts count. */
const wrongReads = (lines: ReadonlyArray<Line>, { records }: Kept): ReadonlyArray<string> => {
  const newest = new Map<string, ReadonlyArray<string>>()
  const wrong: Array<string> = []
  for (const { chat, from, texts, partial } of ofType(lines, "read")) {
    newest.set(chat, [...(newest.get(chat) ?? []).slice(0, from), ...texts])
    const cut = interrupted(records.get(chat))
    const begins = (text: string) => text.startsWith(partial) || (cut.has(text) && partial.startsWith(text))
    if (partial !== "" && texts.length > 0 && !texts.some(begins))
      wrong.push(`LAB11: a reader of ${chat} has "${partial}", which no message begins with`)
  }
  for (const [chat, texts] of newest) {
    const stored = (records.get(chat)?.thread.messages ?? []).map(shown)
    const different = stored.findIndex((text, index) => texts[index] !== text)
    if (different !== -1) wrong.push(`LAB11: a reader of ${chat} has another message ${different}`)
    if (texts.length > stored.length) wrong.push(`LAB11: a reader of ${chat} has more than is stored`)
  }
  return wrong
}

const notes: ReadonlySet<NodeEvent> = new Set(["refused", "left", "ended", "reported"])

const lastFault = (lines: ReadonlyArray<Line>): number =>
  Math.max(0, ...ofType(lines, "node").map(({ at, event }) => (notes.has(event) ? 0 : at)))

/** The chats, and when each first answered after the last fault, in milliseconds after it. */
export const recoveries = (lines: ReadonlyArray<Line>): ReadonlyMap<string, number> => {
  const last = lastFault(lines)
  const chats = new Map(ofType(lines, "send").map(({ chat }) => [chat, Infinity]))
  for (const { chat, at } of ofType(lines, "answered"))
    if (at >= last) chats.set(chat, Math.min(at - last, chats.get(chat) ?? Infinity))
  return chats
}

/** LAB12 */
const wrongAnswers = (lines: ReadonlyArray<Line>, leaseMs: number): ReadonlyArray<string> => {
  const last = lastFault(lines)
  const answered = new Set(ofType(lines, "answered").map(({ id }) => id))
  const delayed = (ms: number): number =>
    ofType(lines, "delay").reduce((sum, line) => (line.at > last && line.at <= last + ms ? sum + line.ms : sum), 0)
  return [
    ...ofType(lines, "send").flatMap(({ id }) => (answered.has(id) ? [] : [`LAB12: ${id} has no answer`])),
    ...Array.from(recoveries(lines)).flatMap(([chat, ms]) =>
      ms - delayed(ms) <= leaseMs + answerMs ? [] : [`LAB12: ${chat} answered ${ms} ms after the last fault`]
    )
  ]
}

/** The times from one event of a node to another of its events. */
const spans = (lines: ReadonlyArray<Line>, first: NodeEvent, last: NodeEvent) =>
  ofType(lines, "node").flatMap(({ at, node, event, other }, index, all) => {
    if (event !== first) return []
    const end = all.slice(index).find((line) => line.event === last && line.node === node && line.other === other)
    return [{ node, other, from: at, to: end?.at ?? Infinity }]
  })

/** LAB13, LAB14 */
const wrongNodes = (lines: ReadonlyArray<Line>): ReadonlyArray<string> => {
  const restarts = spans(lines, "restart", "restarted")
  return ofType(lines, "node").flatMap(({ at, node, event, detail = "" }, index, all) => {
    if (event === "ended") return [`LAB13: ${node} ended: ${detail}`]
    if (event !== "ready" && event !== "refused") return []
    const start = all.slice(0, index).findLast((line) => line.node === node && line.event === "started")
    const isRestarted = restarts.some(({ from, to }) => from <= at && to >= (start?.at ?? 0))
    if (event === "refused" && detail === "database_failed" && isRestarted) return []
    const isOther = start?.detail === "other"
    const seen = event === "ready" ? event : `${event}: ${detail}`
    const expected = isOther ? "refused: protocol_mismatch" : "ready"
    return seen === expected ? [] : [`${isOther ? "LAB14" : "LAB13"}: ${node} is ${seen}`]
  })
}

/** LAB15 */
const wrongActs = (lines: ReadonlyArray<Line>, leaseMs: number): ReadonlyArray<string> => {
  const cuts = spans(lines, "cut", "healed").filter(({ other }) => other === database)
  return ofType(lines, "call").flatMap(({ call, node, at }) =>
    cuts.some((cut) => cut.node === node && at > cut.from + leaseMs && at < cut.to)
      ? [`LAB15: "${call}" began on ${node}, which was cut from PostgreSQL`]
      : []
  )
}

/** LAB11 to LAB15 */
export const wrongCluster = (lines: ReadonlyArray<Line>, kept: Kept, leaseMs: number): ReadonlyArray<string> =>
  [wrongReads(lines, kept), wrongAnswers(lines, leaseMs), wrongNodes(lines), wrongActs(lines, leaseMs)].flat()
