/** What must hold of a storm, whatever its chat met. */
import { SessionError } from "../../src/errors/ChatError.ts"
import type { Message } from "../../src/model/messageShapes.ts"
import type { Receipt } from "../../src/record/Inbox.ts"
import { said } from "./scripts.ts"
import type { Storm } from "./storm.ts"
import { limits } from "./stormModel.ts"

const isPerson = (message: Message): boolean => message.role === "user" && /^m\d+$/u.test(said(message))

const callsOf = (message: Message | undefined) => (message?.role === "assistant" ? (message.toolCalls ?? []) : [])

/** The call whose question a message of this place answers; `undefined` if it answers none. */
const answeredAt = (messages: ReadonlyArray<Message>, at: number): string | undefined => {
  const before = messages[at - 1]
  const id = before?.role === "assistant" ? before.metadata?.["tool_call_id"] : undefined
  const isOpen = messages.some(
    (one) => one.role === "tool" && one.toolCallId === id && one.outcome !== "cancelled" && one.outcome !== "denied"
  )
  return isOpen && typeof id === "string" ? id : undefined
}

const twice = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  texts.filter((text, at) => texts.indexOf(text) < at)

/** Each input is in a thread at most once. Each call has one result, and the results follow their message in the order of its calls. */
const disorder = (messages: ReadonlyArray<Message>): ReadonlyArray<string> => {
  const found = twice(messages.filter(isPerson).map(said)).map((text) => `${text} is in a thread twice`)
  for (let at = 0; at < messages.length; at++) {
    const calls = callsOf(messages[at]).map(({ id }) => id)
    const results: Array<string> = []
    for (let next = messages[at + 1]; next?.role === "tool"; next = messages[at + 1]) {
      results.push(next.toolCallId)
      at += 1
    }
    if (results.join() !== calls.join()) found.push(`the calls ${calls.join()} have the results ${results.join()}`)
  }
  return found
}

/** No input that was sent before a question is its answer. */
const earlyAnswers = (messages: ReadonlyArray<Message>, { person, deeds }: Storm): ReadonlyArray<string> =>
  messages.flatMap((message, at) => {
    const id = isPerson(message) ? answeredAt(messages, at) : undefined
    const input = person.sent.findLast(({ text }) => text === said(message))
    const isEarly = id !== undefined && input !== undefined && input.at <= (deeds.asked.get(id) ?? Infinity)
    return isEarly ? [`${said(message)} answers ${id}, which asked later`] : []
  })

/** A chain has no more requests than its limits allow. The last input that is no answer began it. */
const longChains = ({ deeds, trace, count }: Storm): ReadonlyArray<string> => {
  const chains = Object.groupBy(deeds.requests, (messages) => {
    const at = messages.findLastIndex((one, place) => isPerson(one) && answeredAt(messages, place) === undefined)
    return said(messages[at])
  })
  // A retry begins a chain again, and nothing counts the request that a death cuts short.
  const deaths = trace.filter((each) => each.startsWith("kill") || each.startsWith("program")).length
  const most = (limits.maxTurns + limits.maxChainRequests) * (1 + count("retry")) + deaths
  return Object.entries(chains).flatMap(([input, requests = []]) =>
    requests.length > most ? [`${input} caused ${requests.length} requests`] : []
  )
}

/** Whether the sender knows that the input is not stored. */
const isRefusal = (receipt: Receipt | undefined): boolean =>
  receipt?.status === "rejected" &&
  !(receipt.error instanceof SessionError && receipt.error.metadata["outcome"] === "unknown")

/** An input that was delivered or is pending is in the thread once, one that was rejected is not. */
const brokenReceipts = ({ person: { sent, withdrawn }, thread, count }: Storm): ReadonlyArray<string> => {
  const lines = thread.filter(isPerson).map(said)
  return Object.entries(Object.groupBy(sent, ({ text }) => text)).flatMap(([text, inputs = []]) => {
    const statuses = inputs.map(({ receipt }) => receipt?.status)
    const isAccepted = statuses.includes("delivered") || (statuses.includes("pending") && !withdrawn.has(text))
    // A retry sends a rejected input again. Answers have no row, so that a lost save has them, and their sender reads that it failed.
    const maySend = count("retry") > 0 || (count("append is lost") > 0 && inputs.some(({ isAnswer }) => isAnswer))
    const isRefused = !maySend && inputs.every(({ receipt }) => isRefusal(receipt))
    const isThere = lines.includes(text)
    const isWrong = isThere ? isRefused : isAccepted
    return isWrong ? [`${text} is ${statuses.join()}, and ${isThere ? "in" : "not in"} the thread`] : []
  })
}

/** A call that writes took effect as often as its outcome says, and no more often than a person and its tool allow. */
const brokenEffects = ({ person: { allowed, byHand }, deeds, thread }: Storm): ReadonlyArray<string> => {
  const names = new Map(thread.flatMap(callsOf).map(({ id, name }) => [id, name]))
  const writes = (id: string): boolean => ["write", "pay", "retry", "fail"].includes(names.get(id) ?? "")
  const often = Array.from(deeds.effects).flatMap(([id, times]) =>
    names.get(id) !== "retry" && times > 1 + (allowed.get(id) ?? 0) ? [`${id} took effect ${times} times`] : []
  )
  const untrue = thread.flatMap((message) => {
    if (message.role !== "tool" || !writes(message.toolCallId)) return []
    const { toolCallId: id, outcome } = message
    if (outcome === "completed" && !byHand.has(id) && !deeds.effects.has(id)) return [`${id} completed without effect`]
    return outcome === "not_started" && deeds.begun.has(id) ? [`${id} is not started, and began`] : []
  })
  return [...often, ...untrue]
}

/** What is wrong with a storm; empty if nothing is. */
export const brokenLaws = (storm: Storm): ReadonlyArray<string> => {
  const { deeds, thread, record } = storm
  const isOther = JSON.stringify(record?.thread.messages ?? []) !== JSON.stringify(thread)
  return [
    ...deeds.wrong,
    ...[...deeds.requests, thread].flatMap((messages) => [...disorder(messages), ...earlyAnswers(messages, storm)]),
    ...(isOther ? ["the chat shows another thread than the store has"] : []),
    ...brokenReceipts(storm),
    ...brokenEffects(storm),
    ...longChains(storm)
  ]
}
