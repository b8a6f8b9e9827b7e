/**
 * Runs whole turns, and compares their facets.
 *
 * @module
 */
import { error, ok } from "@troupe/chat"
import type { Event } from "@troupe/chat/events"
import { Message } from "@troupe/chat/messages"
import { Tool } from "@troupe/chat/tools"
import { isScripted } from "../../chat/outcome.ts"
import { ScriptedException } from "../../chat/values/plain.ts"
import { type Fields, fieldsOf, isFields, listOf, present, textOf } from "../../runner/fields.ts"
import type { Difference } from "../../runner/matching.ts"
import { unexaminedCase } from "../../runner/suite.ts"
import { compared, type DispatchCase, type Operation, type Operations } from "../dispatchCases.ts"
import { countedSteps, facets, isBad, judged, messagesOf, outcomeOf, resultsOf } from "./loopFacets.ts"
import { finishOf, type LoopRun, runLoop } from "./loopRun.ts"
import { type Model, modelOf, refusalOf, reply } from "./loopScript.ts"

const endless = modelOf("different calls forever") as Model

const oneCall =
  (name: string): Model =>
  (call) =>
    call === 0 ? reply("t", [{ id: "a", name }]) : reply("bye")

/** Runs a case; without a model of its own, one call if there are hooks or questions, then an answer. */
const run = ({ given }: DispatchCase, prompt: unknown, more: Partial<LoopRun> = {}) => {
  const isPlain = given["hooks"] === undefined && given["ask"] === undefined
  const usual = isPlain ? endless : oneCall("ok_w")
  const model = (given["model"] === undefined ? usual : modelOf(given["model"])) ?? endless
  return runLoop({ prompt: textOf(prompt), model, given, ...more })
}

/** The feature of a case that this project does not have. */
const lacking = ({ given, expected }: DispatchCase): string | undefined => {
  const { mode, provider, capability, ask, model } = given
  if (mode !== undefined) return "loops of other kinds"
  if (textOf(provider).startsWith("starved")) return "retries of replies that only think"
  if (expected["requestTail"] !== undefined) return "notes that the loop adds to requests"
  if (capability !== undefined) return "calls written as text"
  if (textOf(ask).includes("one argument")) return "a callback of another signature"
  return model !== undefined && modelOf(model) === undefined ? textOf(model) : undefined
}

const runWritten: Operation = async (one) => {
  const unsupported = lacking(one)
  if (unsupported !== undefined) return unexaminedCase(unsupported)
  const { given, when, expected } = one
  const [tool] = listOf(given["tools"])
  if (tool === "a module that is not a tool") return refused(expected)
  const throwing = textOf(tool).includes("throws") ? { model: oneCall("raising_safe") } : undefined
  const model = given["provider"] === undefined ? {} : { model: () => reply("Hello") }
  const asking = textOf(when["runLoop"]).includes("asking the user") ? { given: { ...given, ask: "allow" } } : {}
  return judged(await run(one, when["runLoop"], throwing ?? { ...model, ...asking }), expected)
}

/** An invalid tool is refused before anything runs. */
const refused = (expected: Fields): ReadonlyArray<Difference> => {
  try {
    Tool.make({ name: "", handler: () => ok(1) })
  } catch {
    return compared({ outcome: "argument error escapes run" }, { expected })
  }
  return [{ path: "outcome", message: "a tool without a name was made" }]
}

/** A run for each item of the case. */
const runEach: Operation = async (one) => {
  const { given, when, expected } = one
  if (given["toolReturns"] !== undefined) return runReturns(expected)
  const fails = listOf(given["providerFails"])
  const named = listOf(when["runLoopEach"]).map((name) => modelOf(textOf(name)) ?? endless)
  const listener = given["listener"] === undefined ? {} : { listener: raisesOnResult }
  const models = fails.length > 0 ? fails.map(refusalOf) : named
  const seen = await Promise.all(models.map((model) => run(one, "hi", { model, ...listener })))
  const [finishes, outcomes] = [seen.map(finishOf), seen.map(outcomeOf)]
  const failing = { finishes, diagnostics: fails.map(() => null) }
  return compared(fails.length > 0 ? failing : { finishes, answers: outcomes, outcomes }, { expected })
}

const invalid = (content: string): string => (content.includes("invalid_return") ? "invalid tool return: …" : content)

/** The return values of handlers that cases name, and how the original prints the result. */
const returned: ReadonlyArray<readonly [returns: unknown, print: (content: string) => string]> = [
  [error("bad_thing"), (content) => (content === '{"error":"bad_thing"}' ? "error: :bad_thing" : content)],
  ["nonsense", invalid],
  [{ type: "ok" }, invalid],
  [ok({ b: 1 }), (content) => (content === '{"b":1}' ? "a printed map" : content)],
  [ok(null), (content) => (content === "null" ? "nil" : content)]
]

const runReturns = async (expected: Fields): Promise<ReadonlyArray<Difference>> => {
  const runs = returned.map(([value]) =>
    runLoop({ prompt: "hi", model: oneCall("odd"), given: { tools: [{ name: "odd", returns: () => value }] } })
  )
  const results = (await Promise.all(runs)).map((seen) => resultsOf(seen)[0])
  const texts = results.map((message) => (message === undefined ? "" : Message.text(message)))
  const resultTexts = texts.map((text, index) => returned[index]?.[1](text))
  const isError = results.map((message) => message !== undefined && isBad(message))
  return compared({ resultTexts, isError }, { expected })
}

/** The same run under several options. */
const runWith: Operation = async (one) => {
  const { when, expected } = one
  const each = listOf(when["runLoopWith"]).map(fieldsOf)
  const seen = await Promise.all(each.map((options) => run(one, "hi", { options })))
  const iterations = seen.map((turn) => countedSteps(turn).length)
  const finishes = seen.map((turn, index) => {
    const words = textOf(listOf(expected["finishes"])[index])
    return `${finishOf(turn)} at ${words.includes("iteration") ? "iteration " : ""}${iterations[index]}`
  })
  return compared({ finishes, iterations }, { expected })
}

/** The recorded runs about questions, hooks and listeners. */
const runRecorded: Operation = async ({ recorded, expected }) => {
  const { calls, ask, listener, toolTimeoutMs, maxMistakes } = fieldsOf(recorded["setup"])
  const seen = await runLoop({
    prompt: "hi",
    model: modelOf(textOf(calls).includes("plan_mode") ? planned : textOf(calls)) ?? batchOnce(textOf(calls)),
    given: { options: present({ toolTimeoutMs, maxMistakes }), ask, tools: recordedTools },
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
    finishReason: all["finish"],
    results,
    messageRoles: messagesOf(seen).map(({ role }) => role),
    kind: seen.result === undefined ? "raised" : "result",
    error: isScripted(seen.thrown) ? "RuntimeError" : undefined,
    log: isFields(ask) ? seen.log.toSorted() : seen.log,
    questionIsToldTheCallId: seen.log.length > 0 && seen.hasCallId
  }
  const required = Object.entries(expected).map(([name, value]) => [name, inOurs[name]?.(value) ?? value])
  return compared(actual, { expected: Object.fromEntries(required) as Fields })
}

const inOurs: Readonly<Record<string, (required: unknown) => unknown>> = {
  /** Our last event does not contain the reason of the end. */
  events: (events) => listOf(events).map((event) => textOf(event).replace(/^done:.*/, "done")),
  /** The original prints a reason with its quotes. */
  results: (results) => {
    const unquoted = (content: unknown) => textOf(content).replace(/^"(.*)"$/, "$1")
    return listOf(results).map((one) => ({ ...fieldsOf(one), content: unquoted(fieldsOf(one)["content"]) }))
  }
}

const recordedTools = [
  { name: "safe", parallelSafe: true, returns: "safe-out" },
  { name: "mutating", returns: "out" }
]

const planned = "a read, and the call that begins a plan"

/** `safe a, safe b`: one turn with these calls, then an answer. */
const batchOnce =
  (words: string): Model =>
  (call) => {
    const calls = words.split(", ").map((one) => one.split(" "))
    return call > 0
      ? reply("bye")
      : reply(
          "t",
          Array.from(calls, ([name = "", id = ""]) => ({ id, name }))
        )
  }

type Listener = NonNullable<LoopRun["listener"]>

const listenerOf = (words: string): Listener => {
  if (words.startsWith("raises")) return raisesOnResult
  const [, ms = "0"] = /(\d+) ms/.exec(words) ?? []
  return async ({ type }, clock) => {
    if (type === "tool_execution_completed") await new Promise<void>((over) => void clock.setTimeout(over, Number(ms)))
  }
}

/** A listener that throws on a result. */
const raisesOnResult = ({ type }: Event): void => {
  if (type === "tool_execution_completed") throw new ScriptedException("Boom", "the listener raised")
}

export const loopOperations: Operations = {
  runLoop: runWritten,
  runLoopEach: runEach,
  runLoopWith: runWith,
  "golden-ask.scenarios": runRecorded
}
