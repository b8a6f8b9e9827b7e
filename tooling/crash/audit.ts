/**
 * Compares a store with the acknowledgements of a killed program.
 *
 * KILL1. An accepted input is in its conversation once, in the thread or in the inbox.
 * KILL2. A reported answer is in its conversation, and no answer is there twice.
 * KILL3. The log of every conversation has no gap, and each of its entries is a valid record.
 * KILL4. A call that writes ran at most once, and its intent is stored whenever it ran.
 * KILL5. A reported fork exists.
 * KILL6. A conversation that was in a turn is loaded as interrupted, or asks about its calls; its partial text is the
 *        stored one.
 */
import { Message } from "@troupe/chat/messages"
import type { Conversation, Store } from "@troupe/chat/store"
import type { Line } from "./lines.ts"

/** The acknowledgements of all lives so far. */
export interface Promised {
  readonly accepted: Map<string, string>
  readonly answered: Map<string, Set<string>>
  readonly forked: Set<string>
  /** The calls that a person allowed. */
  readonly allowed: Set<string>
}

/** No acknowledgements. */
export const nothingPromised = (): Promised => ({
  accepted: new Map(),
  answered: new Map(),
  forked: new Set(),
  allowed: new Set()
})

/** The state of each conversation, for the life that loads it. */
export type Found = Map<string, { readonly record: Conversation; readonly audited: number }>

/** Adds the lines of a life. The conversations it loaded are compared with the stored state (KILL6). */
export const takeUp = (lines: ReadonlyArray<Line>, promised: Promised, found: Found): ReadonlyArray<string> =>
  lines.flatMap((line) => {
    switch (line.type) {
      case "ready":
      case "continued":
      case "asked":
        return []
      case "allowed":
        promised.allowed.add(line.call)
        return []
      case "wrong":
        return [line.what]
      case "accepted":
      case "stored":
        promised.accepted.set(line.input, line.chat)
        return []
      case "answered": {
        const answers = promised.answered.get(line.chat) ?? new Set()
        promised.answered.set(line.chat, answers.add(line.text))
        return []
      }
      case "forked":
        promised.forked.add(line.to)
        return []
      case "revived":
        return wrongPhase(line, found.get(line.chat)?.record)
    }
  })

const wrongPhase = (
  { chat, phase, partial }: Extract<Line, { readonly type: "revived" }>,
  record: Conversation | undefined
): ReadonlyArray<string> => {
  const asks = record?.open?.calls.some(({ state }) => state === "intended" || state === "waiting") ?? false
  const expected = asks ? "awaitingApproval" : record?.running === true ? "interrupted" : "idle"
  if (phase !== expected) return [`${chat} is ${phase} instead of ${expected}`]
  const text = phase === "interrupted" ? (record?.draft ?? "") : ""
  return phase !== "interrupted" || partial === text ? [] : [`${chat} has said "${partial}" instead of "${text}"`]
}

/** The faults of the store. */
export const audited = async (
  store: Store.SessionStore,
  promised: Promised,
  journal: ReadonlyArray<readonly [key: string, call: string]>,
  found: Found
): Promise<ReadonlyArray<string>> => {
  const wrong: Array<string> = []
  const chats = await allOf(store)
  for (const fork of promised.forked) if (!chats.includes(fork)) wrong.push(`KILL5: there is no ${fork}`)
  for (const id of new Set([...chats, ...promised.accepted.values()])) {
    const record = await store.load(id)
    if (record === undefined) {
      wrong.push(`KILL1: there is no ${id}`)
      continue
    }
    wrong.push(...(await wrongEntries(store, record, found.get(id)?.audited ?? 0)))
    if (!id.includes("/")) wrong.push(...wrongInputs(record, promised), ...wrongAnswers(record, promised))
    found.set(id, { record, audited: record.version ?? 0 })
  }
  return [...wrong, ...wrongCalls(found, journal)]
}

const allOf = async (store: Store.SessionStore): Promise<ReadonlyArray<string>> => {
  const ids: Array<string> = []
  for (let after: string | undefined; ;) {
    const { chats, next } = await store.list({ after, children: true })
    ids.push(...chats.map(({ id }) => id))
    if (next === undefined) return ids
    after = next
  }
}

/** KILL3, for the entries that were not checked yet */
const wrongEntries = async (
  store: Store.SessionStore,
  { id, version = 0 }: Conversation,
  from: number
): Promise<ReadonlyArray<string>> => {
  const wrong: Array<string> = []
  let last = from
  while (last < version) {
    const entries = await store.history(id, { after: last })
    if (entries.length === 0) return [...wrong, `KILL3: ${id} has no entry ${last + 1} of ${version}`]
    for (const { seq } of entries) {
      if (seq !== last + 1) wrong.push(`KILL3: ${id} has the entry ${seq} behind ${last}`)
      last = seq
      const record = await store.at(id, seq)
      if (record?.version !== seq) wrong.push(`KILL3: the entry ${seq} of ${id} is no record`)
    }
  }
  return last === version ? wrong : [...wrong, `KILL3: ${id} has the entry ${last} behind its newest, ${version}`]
}

const times = (list: ReadonlyArray<string>, one: string): number => list.filter((other) => other === one).length

/** KILL1 */
const wrongInputs = ({ id, thread, inbox = [] }: Conversation, { accepted }: Promised) => {
  const said = thread.messages.filter(({ role }) => role === "user").map(Message.text)
  const inputs = [...said, ...inbox.map(({ message }) => Message.text(message))]
  const counts = new Map<string, number>()
  for (const input of inputs) counts.set(input, (counts.get(input) ?? 0) + 1)
  const doubled = Array.from(counts).filter(([, count]) => count > 1)
  const lost = Array.from(accepted).filter(([input, chat]) => chat === id && !counts.has(input))
  return [
    ...doubled.map(([input, count]) => `KILL1: ${input} is ${count} times in ${id}`),
    ...lost.map(([input]) => `KILL1: ${input} is not in ${id}`)
  ]
}

/** KILL2 */
const wrongAnswers = ({ id, thread }: Conversation, { answered }: Promised): ReadonlyArray<string> => {
  const given = thread.messages.filter(({ role }) => role === "assistant").map(Message.text)
  const answers = given.filter((text) => text.includes("The answer to"))
  const doubled = new Set(answers.filter((text, at) => answers.indexOf(text) !== at))
  const lost = Array.from(answered.get(id) ?? []).filter((text) => times(given, text) === 0)
  return [
    ...Array.from(doubled, (text) => `KILL2: "${text}" is ${times(answers, text)} times in ${id}`),
    ...lost.map((text) => `KILL2: "${text}" is not in ${id}`)
  ]
}

/** KILL4 */
const wrongCalls = (
  found: Found,
  journal: ReadonlyArray<readonly [key: string, call: string]>
): ReadonlyArray<string> => {
  const known = new Set(
    Array.from(found.values())
      .flatMap(({ record }) =>
        record.thread.messages.flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []))
      )
      .map(({ id }) => id)
  )
  const keys = journal.map(([key]) => key)
  const doubled = new Set(keys.filter((key, at) => keys.indexOf(key) !== at))
  return [
    ...Array.from(doubled, (key) => `KILL4: the call ${key} ran ${times(keys, key)} times`),
    ...journal.filter(([, call]) => !known.has(call)).map(([, call]) => `KILL4: nothing is kept of ${call}, which ran`)
  ]
}
