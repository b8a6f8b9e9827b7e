/**
 * Compares the history of a run with its store.
 *
 * LAB1. An acknowledged input is in its conversation once, in the thread or in the inbox; no input is there twice.
 * LAB2. A reply that a client has seen is stored, and no answer is there twice.
 * LAB3. The log of every conversation has no gap, and each entry is a valid record. In a cluster its epochs never fall, and each
 *       epoch has one writer.
 * LAB4. A call that writes began at most once, and its call is stored whenever it began.
 * LAB5. Every stored call has one result, or belongs to the open step, or waits for the caller.
 */
import { Message } from "@troupe/chat/messages"
import type { Conversation } from "@troupe/chat/store"
import { answersIn } from "../workload.ts"
import { type Line, ofType } from "./history.ts"
import type { Kept } from "./kept.ts"

/** What is more than once in a list. */
export const repeated = (all: ReadonlyArray<string>): ReadonlyArray<string> =>
  Array.from(Map.groupBy(all, (one) => one)).flatMap(([one, same]) => (same.length > 1 ? [one] : []))

export const textsOf = ({ thread }: Conversation, role: "user" | "assistant" | "tool"): ReadonlyArray<string> =>
  thread.messages.filter((message) => message.role === role).map(Message.text)

const callsIn = (message: Message.Message | undefined): ReadonlyArray<string> =>
  message?.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : []

/** The ids of the calls in a conversation. */
export const callsOf = ({ thread }: Conversation): ReadonlyArray<string> => thread.messages.flatMap(callsIn)

/** Whether an outcome is the receipt of an input. */
export const isAcknowledged = (outcome: string): boolean => ["delivered", "pending", "stored"].includes(outcome)

/** The inputs in the thread and in the inbox. An input that the thread has may be accepted again (ARR3); it does not run again. */
const inputsOf = (record: Conversation): ReadonlyArray<string> => {
  const { inbox = [], inputs = [] } = record
  const waiting = inbox.filter(({ id }) => !inputs.includes(id))
  return [...textsOf(record, "user"), ...waiting.map(({ message }) => Message.text(message))]
}

const answersOf = (record: Conversation): ReadonlyArray<string> => textsOf(record, "assistant").flatMap(answersIn)

/** LAB1, LAB2: what was acknowledged, and is not stored. */
export const wrongLost = (lines: ReadonlyArray<Line>, { records }: Kept): ReadonlyArray<string> => {
  const missing = (law: string, texts: ReadonlyMap<string, ReadonlySet<string>>, chat: string, text: string) =>
    texts.get(chat)?.has(text) === true ? [] : [`${law}: "${text}" is not in ${chat}`]
  const inputs = new Map(Array.from(records, ([id, record]) => [id, new Set(inputsOf(record))]))
  const answers = new Map(Array.from(records, ([id, record]) => [id, new Set(answersOf(record))]))
  return [
    ...ofType(lines, "sent").flatMap(({ chat, text, outcome }) =>
      isAcknowledged(outcome) ? missing("LAB1", inputs, chat, text) : []
    ),
    ...ofType(lines, "answered").flatMap(({ chat, text }) =>
      answersIn(text).flatMap((answer) => missing("LAB2", answers, chat, answer))
    )
  ]
}

/** LAB1, LAB2 and LAB5, of one conversation. */
export const wrongRecord = (record: Conversation): ReadonlyArray<string> => [
  ...repeated(inputsOf(record)).map((text) => `LAB1: "${text}" is more than once in ${record.id}`),
  ...repeated(answersOf(record)).map((text) => `LAB2: the answer to "${text}" is more than once in ${record.id}`),
  ...wrongResults(record)
]

/** The calls of a conversation that have no result yet: those of the open step, and those that wait for the caller. */
export const pendingOf = ({ open: step, pendingToolCalls, thread }: Conversation): ReadonlyArray<string> => {
  const ofStep = step === undefined ? [] : callsIn(thread.messages[step.at])
  const undone = ofStep.filter((_, place) => step?.calls[place]?.state !== "done")
  return [...undone, ...pendingToolCalls.map(({ id }) => id).filter((id) => !undone.includes(id))]
}

/** LAB5: a repeated call of one message is two calls. */
const wrongResults = (record: Conversation): ReadonlyArray<string> => {
  const wrong: Array<string> = []
  const unanswered: Array<string> = []
  let open: Array<string> = []
  for (const message of record.thread.messages) {
    if (message.role === "tool") {
      const at = open.indexOf(message.toolCallId)
      if (at !== -1) open.splice(at, 1)
      else wrong.push(`LAB5: ${message.toolCallId} of ${record.id} has a result without a call, or a second one`)
      continue
    }
    unanswered.push(...open)
    open = [...callsIn(message)]
  }
  unanswered.push(...open)
  for (const call of pendingOf(record)) {
    const at = unanswered.indexOf(call)
    if (at !== -1) unanswered.splice(at, 1)
  }
  return [...wrong, ...unanswered.map((call) => `LAB5: ${call} of ${record.id} has no result`)]
}

/** LAB3: in a cluster each entry needs an epoch. */
export const wrongLogs = ({ records, logs }: Kept, isCluster: boolean): ReadonlyArray<string> =>
  Array.from(records.values()).flatMap(({ id, version = 0 }) => {
    const log = logs.get(id) ?? []
    const isWhole = log.length === version && log.every(({ seq }, index) => seq === index + 1)
    const wrong = isWhole ? [] : [`LAB3: the log of ${id} has ${log.length} entries instead of ${version}`]
    for (const [index, { seq, epoch = -1, writer, isRecord = true }] of log.entries()) {
      const entry = `LAB3: the entry ${seq} of ${id}`
      const former = log[index - 1]
      const { epoch: formerEpoch = -1 } = former ?? {}
      if (!isRecord) wrong.push(`${entry} is no record`)
      if (isCluster && epoch < 0) wrong.push(`${entry} has no epoch`)
      if (epoch < formerEpoch) wrong.push(`${entry} has the epoch ${epoch} after ${formerEpoch}`)
      if (former !== undefined && epoch === formerEpoch && writer !== former.writer)
        wrong.push(`${entry} has a second writer in the epoch ${epoch}`)
    }
    return wrong
  })

/** LAB4 */
export const wrongCalls = (lines: ReadonlyArray<Line>, { records }: Kept): ReadonlyArray<string> => {
  const stored = new Set(Array.from(records.values()).flatMap(callsOf))
  const begun = ofType(lines, "call")
  return [
    ...repeated(begun.map(({ key }) => key)).map((key) => `LAB4: the call with the key ${key} began more than once`),
    ...repeated(begun.map(({ call }) => call)).map((call) => `LAB4: the call "${call}" began more than once`),
    ...begun.flatMap(({ call }) => (stored.has(call) ? [] : [`LAB4: "${call}" began, and is not stored`]))
  ]
}
