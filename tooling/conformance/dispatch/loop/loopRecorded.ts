/**
 * Runs the recorded turns about questions, hooks and listeners.
 *
 * @module
 */
import type { Event } from "@troupe/chat/events"
import { Message } from "@troupe/chat/messages"
import { type Fields, fieldsOf, isFields, listOf, present, textOf } from "../../runner/fields.ts"
import { isScripted } from "../../chat/outcome.ts"
import { ScriptedException } from "../../chat/values/plain.ts"
import { compared, type Operation } from "../dispatchCases.ts"
import { facets, isBad, messagesOf, resultsOf } from "./loopFacets.ts"
import { type LoopRun, runLoop } from "./loopRun.ts"
import { type Model, modelOf, reply } from "./loopScript.ts"

/** The recorded runs about questions and listeners. */
export const runRecorded: Operation = async ({ recorded, expected }) => {
  const { calls, ask, listener, toolTimeoutMs, maxMistakes } = fieldsOf(recorded["setup"])
  const options = present({ toolTimeoutMs, maxMistakes })
  const seen = await runLoop({
    prompt: "hi",
    model: modelOf(textOf(calls).includes("plan_mode") ? planned : textOf(calls)) ?? batchOnce(textOf(calls)),
    given: { options, ask, tools: recordedTools },
    listener: listener === undefined ? undefined : listenerOf(textOf(listener))
  })
  const all = facets(seen)
  const results = resultsOf(seen).map((message) => ({
    callId: message.toolCallId,
    content: Message.text(message),
    isError: isBad(message)
  }))
  const actual = {
    ...all,
    kind: seen.result === undefined ? "raised" : "result",
    error: isScripted(seen.thrown) ? "RuntimeError" : undefined,
    finishReason: all["finish"],
    results,
    messageRoles: messagesOf(seen).map(({ role }) => role),
    log: isFields(ask) ? seen.log.toSorted() : seen.log,
    questionIsToldTheCallId: seen.log.length > 0 && seen.hasCallId
  }
  const inOurs = { events: eventsIn(expected["events"]), results: resultsIn(expected["results"]) }
  const required = Object.entries(inOurs).filter(([name]) => name in expected)
  return compared(actual, { expected: { ...expected, ...Object.fromEntries(required) } })
}

/** Our last event does not contain the reason of the end. */
const eventsIn = (events: unknown): ReadonlyArray<string> =>
  listOf(events).map((event) => textOf(event).replace(/^done:.*/, "done"))

/** The original prints a reason with its quotes. */
const resultsIn = (results: unknown): ReadonlyArray<Fields> =>
  listOf(results)
    .map(fieldsOf)
    .map((result) => ({ ...result, content: textOf(result["content"]).replace(/^"(.*)"$/, "$1") }))

const recordedTools = [
  { name: "safe", parallelSafe: true, returns: "safe-out" },
  { name: "mutating", returns: "out" }
]

/** `safe a, safe b`: one turn with these calls, then an answer. */
const batchOnce =
  (words: string): Model =>
  (call) => {
    if (call > 0) return reply("bye")
    return reply(
      "t",
      words.split(", ").map((one) => {
        const [name = "", id = ""] = one.split(" ")
        return { id, name, args: {} }
      })
    )
  }

const planned = "a read, and the call that begins a plan"

const listenerOf = (words: string): NonNullable<LoopRun["listener"]> => {
  if (words.startsWith("raises")) return raisesOnResult
  const [, ms = "0"] = /(\d+) ms/.exec(words) ?? []
  return (event, clock) => {
    if (event.type !== "tool_execution_completed") return undefined
    return new Promise((resolve) => void clock.setTimeout(() => resolve(), Number(ms)))
  }
}

/** A listener that throws on a result. */
export const raisesOnResult = (event: Event): void => {
  if (event.type === "tool_execution_completed") throw new ScriptedException("Boom", "the listener raised")
}
