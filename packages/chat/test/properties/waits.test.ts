/** Random programs of the verbs that wait. */
import { expect, test } from "vitest"
import type { Message } from "../../src/model/messageShapes.ts"
import { userLines } from "../double/heldModel.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { said } from "../double/scripts.ts"
import { type Lived, limits, lived } from "../double/waiting.ts"
import { seedsOf } from "../../../../tooling/verify/volume.ts"

const check = leakCheck()

const isPerson = (message: Message): boolean => message.role === "user" && /^m\d+$/u.test(said(message))

/** The call whose question a message of this place answers; `undefined` if it answers none. */
const answeredAt = (messages: ReadonlyArray<Message>, at: number): string | undefined => {
  const before = messages[at - 1]
  const id = before?.role === "assistant" ? before.metadata?.["tool_call_id"] : undefined
  const isOpen = messages.some(
    (one) => one.role === "tool" && one.toolCallId === id && one.outcome !== "cancelled" && one.outcome !== "denied"
  )
  return isOpen && typeof id === "string" ? id : undefined
}

const counted = (keys: Iterable<string>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

/** Each input is in the thread at most once, and each call has at most one result. */
const once = (messages: ReadonlyArray<Message>): void => {
  const results = messages.flatMap((one) => (one.role === "tool" ? [one.toolCallId] : []))
  const inputs = messages.filter(isPerson).map(said)
  for (const list of [results, inputs]) expect(list).toEqual([...new Set(list)])
}

/** No input that was sent before a question is its answer. */
const answersSeen = (messages: ReadonlyArray<Message>, { sent, asked }: Lived): void => {
  for (const [at, message] of messages.entries()) {
    const id = isPerson(message) ? answeredAt(messages, at) : undefined
    const input = sent.find(({ text }) => text === said(message))
    if (id !== undefined && input !== undefined) {
      expect([said(message), id, input.at > (asked.get(id) ?? Infinity)]).toEqual([said(message), id, true])
    }
  }
}

/** The requests of each chain, which the last input that is no answer began. */
const chainsOf = ({ requests }: Lived): ReadonlyMap<string, number> =>
  counted(
    requests.map((messages) => {
      const at = messages.findLastIndex((one, place) => isPerson(one) && answeredAt(messages, place) === undefined)
      return said(messages[at])
    })
  )

const laws = (one: Lived): void => {
  const { sent, unsettled, paid, requests, thread, count } = one
  expect(unsettled).toEqual([])
  for (const messages of [...requests, thread]) {
    once(messages)
    answersSeen(messages, one)
  }
  const called = thread.flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []))
  const results = thread.flatMap((message) => (message.role === "tool" ? [message.toolCallId] : []))
  expect(results.toSorted()).toEqual(called.map(({ id }) => id).toSorted())
  expect([...paid.values()].filter((times) => times > 1)).toEqual([])
  const lines = userLines(thread)
  for (const { text, turn } of sent) {
    const times = lines.filter((line) => line === text).length
    if (turn.status === "delivered") expect([text, times]).toEqual([text, 1])
    if (turn.status === "rejected") expect([text, times]).toEqual([text, 0])
  }
  const most = limits.maxTurns + limits.maxChainRequests
  // A retry begins a chain again, and nothing counts the request that a death cuts short.
  const allowed = most * (1 + count("retry")) + count("kill") + count("restart")
  for (const [input, times] of chainsOf(one))
    expect(`${input} ${times > allowed ? times : "within"}`).toBe(`${input} within`)
}

/** What is wrong with a program that ran; empty if nothing is. */
const findings = (one: Lived): string => {
  try {
    laws(one)
    return ""
  } catch (error) {
    return `${String(error)}\n${JSON.stringify(one.thread)}`
  }
}

const seeds = seedsOf(1_000)
const parts = Array.from({ length: 8 }, (_, part) => seeds.filter((_seed, at) => at % 8 === part))

test.each(parts.map((own, part) => [part + 1, own] as const))(
  "MAIL4, MAIL5, CHAIN1, CHAIN3, CALL1, REF4 nothing waits for ever, and each answer is for its question (part %i)",
  { timeout: 600_000 },
  async (_, own) => {
    for (const seed of own) {
      const one = await lived(check, seed)
      expect(findings(one), `seed ${seed}: ${one.done.join(", ")}`).toBe("")
    }
  }
)
