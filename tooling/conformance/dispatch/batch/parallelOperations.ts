/** Runs batches of calls, and notifies listeners of results. */
import { Dispatch } from "@troupe/chat/dispatch"
import type { ToolResult } from "../../../../packages/chat/src/batch/dispatchState.ts"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../runner/json.ts"
import { isScripted } from "../../chat/outcome.ts"
import { type BatchSeen, runBatch } from "./batch.ts"
import {
  type BatchState,
  callOf,
  fieldsOfState,
  printed,
  recordedCall,
  type ScriptedCall,
  stateOf
} from "./batchScript.ts"
import { compared, type Operation, type Operations, meanings } from "../dispatchCases.ts"

const batchOf = (given: Fields, calls: ReadonlyArray<ScriptedCall>): Promise<BatchSeen> =>
  runBatch({
    state: stateOf(fieldsOf(given["state"]), given["tools"]),
    calls,
    cell: given["sharedCell"],
    options: fieldsOf(given["options"])
  })

const isCallResult = (result: unknown): result is Fields => isFields(result) && "callId" in result

const idsOf = (seen: ReadonlyArray<BatchSeen>, isError: boolean): ReadonlyArray<unknown> =>
  seen
    .flatMap(({ results = [] }) => results)
    .filter((result) => isCallResult(result) && result["isError"] === isError)
    .map((result) => fieldsOf(result)["callId"])

const outcomeOf = ({ kind, reason }: BatchSeen): string =>
  kind === "raised-in-caller" && isScripted(reason) ? "the same exception reaches the caller" : kind

/** The facets of batches in written cases; if the case has several batches, all are compared. */
const facets = (seen: ReadonlyArray<BatchSeen>, calls: ReadonlyArray<ScriptedCall>): Fields => {
  const last = seen.at(-1) as BatchSeen
  const { trace, maxInFlight, reason, results } = last
  const marks = (mark: string) => trace.filter((one) => one.startsWith(mark)).map((one) => one.slice(mark.length))
  const [started, ended] = [marks("start:"), marks("end:")]
  const missing = (keys: ReadonlyArray<string>) => calls.map(({ key }) => key).filter((key) => !keys.includes(key))
  const given = (read: (state: BatchState) => unknown) =>
    Object.fromEntries(Object.entries(last.given).map(([key, state]) => [key, read(state)]))
  const state = fieldsOfState(last.state)
  const found = (results ?? []).map(fieldsOf)
  return {
    ...state,
    outcome: outcomeOf(last),
    reason,
    state,
    trace,
    maxInFlight,
    errorText: errorTextOf(last, calls),
    results: results?.map((result) => (isCallResult(result) ? result["content"] : result)) ?? "absent",
    resultIds: found.map(({ callId }) => callId),
    resultOf: Object.fromEntries(found.map(({ callId, content }) => [callId, content])),
    okIds: idsOf(seen, false),
    errorIds: idsOf(seen, true),
    ran: ended,
    neverRan: missing(ended),
    neverStarted: missing(started),
    killed: started.filter((key) => !ended.includes(key)),
    sawPhase: given(({ phase }) => phase),
    sawMistakes: given(({ consecutiveMistakes }) => consecutiveMistakes),
    sawTokens: given(({ budget }) => budget?.tokens)
  }
}

/** The case describes the text of a generated error; ours also names the tool. */
const errorTextOf = ({ results = [] }: BatchSeen, calls: ReadonlyArray<ScriptedCall>): string => {
  const wrong = results.find((result) => isCallResult(result) && result["isError"] === true)
  const { callId, content } = fieldsOf(wrong)
  const tool = calls.find(({ id }) => id === callId)?.tool
  const names = tool !== undefined && new RegExp(`timeout: ${tool}: `).test(textOf(content))
  return names ? "names the tool and says it timed out or crashed" : textOf(content)
}

/** The calls in every order of completion, for a case that holds in each. */
const finishOrders = (calls: ReadonlyArray<ScriptedCall>): ReadonlyArray<ReadonlyArray<ScriptedCall>> =>
  [calls, calls.toReversed()].map((order) =>
    calls.map((call) => ({ ...call, delayMs: 10 * (1 + order.findIndex(({ key }) => key === call.key)) }))
  )

const runWritten: Operation = async ({ given, when, expected }) => {
  const calls = listOf(when["runBatch"]).map(callOf)
  const { trace, ...rest } = expected
  const required = trace === undefined ? rest : { ...rest, trace: listOf(trace).map(mark) }
  const orders = when["anyFinishOrder"] === true ? finishOrders(calls) : [calls]
  const found = orders.map(async (order) =>
    compared(facets([await batchOf(given, order)], order), { expected: required })
  )
  return (await Promise.all(found)).flat()
}

/** `start r1`, or `start:r1`. */
const mark = (words: unknown): string => textOf(words).replace(" ", ":")

const runEach: Operation = async ({ given, when, expected }) => {
  const batches = listOf(when["runBatchEach"]).map((batch) => listOf(batch).map(callOf))
  const seen = await Promise.all(batches.map((calls) => batchOf(given, calls)))
  return compared(facets(seen, batches.flat()), { expected })
}

const runWithConcurrency: Operation = async ({ given, when, expected }) => {
  const seen = Object.entries(fieldsOf(when["runBatchWithConcurrency"])).map(async ([limit, count]) => {
    const calls = Array.from({ length: Number(count) }, (_, index) => callOf({ id: `r${index}`, tool: "r" }))
    const state = limit === "unset" ? {} : { maxConcurrency: Number(limit) }
    return [limit, (await batchOf({ ...given, state }, calls)).maxInFlight]
  })
  return compared({ maxInFlight: Object.fromEntries(await Promise.all(seen)) }, { expected })
}

/** The text of a generated error is ours; only the tool's name is compared. */
const madeUp = /^tool call '(\w+)' timed out or crashed before returning$/

const inOurWords = (expected: unknown): unknown => {
  const { content, ...rest } = fieldsOf(expected)
  const [, tool] = madeUp.exec(textOf(content)) ?? []
  return tool === undefined ? expected : { ...rest, content: { $contains: `: ${tool}: ` } }
}

const runRecorded: Operation = async ({ recorded, expected }) => {
  const calls = listOf(recorded["calls"]).map(recordedCall)
  const seen = await runBatch({ state: stateOf(fieldsOf(recorded["initial"]), meanings.tools["recordedBatch"]), calls })
  const { kind, reason, results, state, trace, maxInFlight, given } = seen
  const isCaught = kind === "raised-in-caller" && !isScripted(reason)
  const all: Fields = {
    reason,
    trace,
    maxInFlight,
    state: fieldsOfState(state),
    results: results?.map(printed),
    kind: isCaught ? "caught-in-caller" : kind,
    ...(isCaught ? {} : { error: isScripted(reason) ? "RuntimeError" : undefined }),
    seen: Object.fromEntries(Object.entries(given).map(([key, one]) => [key, fieldsOfState(one)]))
  }
  const inOurs = "results" in expected ? { results: listOf(expected["results"]).map(inOurWords) } : {}
  return compared(all, { expected: { ...expected, ...inOurs } })
}

/** The arguments of a listener for a message with these results. */
const reported = (results: unknown): ReadonlyArray<[string, string | undefined]> => {
  const events: Array<Dispatch.DispatchEvent> = []
  const toolResults = results === null ? null : listOf(results).map((one) => asResult(fieldsOf(one)))
  const state = { onEvent: (event: Dispatch.DispatchEvent) => events.push(event) }
  Dispatch.emitEvents(state, { id: "q", name: "t", arguments: {} }, { role: "tool", toolResults }, { announced: true })
  return events.map((event) => [event.type, "toolCallId" in event ? event.toolCallId : undefined])
}

const asResult = ({ id, ui }: Fields): ToolResult => ({
  toolCallId: textOf(id),
  content: "",
  ui: ui as ToolResult["ui"]
})

const emitWritten: Operation = async ({ given, expected }) => {
  const shown = (results: unknown) => reported(results).map((event) => event.join(" "))
  const each = given["resultsEach"]
  const answers =
    each === undefined ? shown(given["results"]) : listOf(each).map((name) => shown(meanings.emitted[textOf(name)]))
  return compared({ answers }, { expected })
}

const emitRecorded: Operation = async ({ recorded, expected }) =>
  compared({ events: reported(meanings.emitted[textOf(recorded["title"])]) }, { expected })

export const parallelOperations: Operations = {
  runBatch: runWritten,
  runBatchEach: runEach,
  runBatchWithConcurrency: runWithConcurrency,
  "golden-parallel.scenarios": runRecorded,
  emitResultEvents: emitWritten,
  "golden-gate.resultEvents": emitRecorded
}
