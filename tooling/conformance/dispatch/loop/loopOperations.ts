/**
 * Runs whole turns, and compares their facets.
 *
 * @module
 */
import { error, ok } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { Tool } from "@troupe/chat/tools"
import { isScripted } from "../../chat/outcome.ts"
import { type Fields, fieldsOf, isFields, listOf, present, textOf } from "../../runner/json.ts"
import type { Difference } from "../../runner/matching.ts"
import { unexaminedCase } from "../../runner/suite.ts"
import { compared, type DispatchCase, meanings, type Operation, type Operations } from "../dispatchCases.ts"
import { countedSteps, facets, isBad, judged, messagesOf, outcomeOf, resultsOf } from "./loopFacets.ts"
import { finishOf, type LoopRun, runLoop } from "./loopRun.ts"
import { type Model, modelOf, refusalOf, reply } from "./loopScript.ts"

const endless = modelOf("different calls forever") as Model
const planned = "a read, and the call that begins a plan"

/** `safe a, safe b`: one turn with these calls, then an answer. */
const callingOnce = (words: string): Model => {
  const calls = words.split(", ").map((one) => ({ id: one.split(" ")[1] ?? "", name: one.split(" ")[0] ?? "" }))
  return (turn) => (turn > 0 ? reply("bye") : reply("t", calls))
}

/** Runs a case; without a model of its own, one call if there are hooks or questions, then an answer. */
const run = ({ given }: DispatchCase, prompt: unknown, more: Partial<LoopRun> = {}) => {
  const isPlain = given["hooks"] === undefined && given["ask"] === undefined
  const usual = isPlain ? endless : callingOnce("ok_w a")
  const model = (given["model"] === undefined ? usual : modelOf(given["model"])) ?? endless
  return runLoop({ prompt: textOf(prompt), model, given, ...more })
}

/** The feature of a case that this project does not have. */
const lacking = ({ given, expected }: DispatchCase): string | undefined => {
  const { provider, ask, model } = given
  const [feature] = Object.keys({ ...given, ...expected }).filter((name) => name in meanings.lacking)
  if (feature !== undefined) return textOf(meanings.lacking[feature])
  if (textOf(provider).startsWith("starved")) return "retries of replies that only think"
  if (textOf(ask).includes("one argument")) return "a callback of another signature"
  return model !== undefined && modelOf(model) === undefined ? textOf(model) : undefined
}

const runWritten: Operation = async (one) => {
  const unsupported = lacking(one)
  if (unsupported !== undefined) return unexaminedCase(unsupported)
  const { given, when, expected } = one
  const [tool] = listOf(given["tools"])
  if (tool === "a module that is not a tool") return refused(expected)
  const throwing = textOf(tool).includes("throws") ? { model: callingOnce("raising_safe a") } : undefined
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

/** A run for each item of the case: failures of the provider, models, or options. */
const runEach: Operation = async (one) => {
  const { given, when, expected } = one
  if (given["toolReturns"] !== undefined) return runReturns(expected)
  const fails = listOf(given["providerFails"])
  const runs: ReadonlyArray<Partial<LoopRun>> = [
    ...fails.map((failure) => ({ model: refusalOf(failure) })),
    ...listOf(when["runLoopEach"]).map((name) => ({ model: modelOf(textOf(name)) ?? endless })),
    ...listOf(when["runLoopWith"]).map((options) => ({ options: fieldsOf(options) }))
  ]
  const seen = await Promise.all(runs.map((more) => run(one, "hi", more)))
  const [outcomes, iterations] = [seen.map(outcomeOf), seen.map((turn) => countedSteps(turn).length)]
  // A case may name the last iteration: `stop at 3`, `stop at iteration 3`.
  const finishes = seen.map((turn, index) => {
    const [at = ""] = / at (?:iteration )?/.exec(textOf(listOf(expected["finishes"])[index])) ?? []
    return `${finishOf(turn)}${at}${at === "" ? "" : iterations[index]}`
  })
  return compared({ finishes, iterations, answers: outcomes, outcomes, diagnostics: fails.map(() => null) }, one)
}

/** The return values of handlers that cases name. */
const returned = [error("bad_thing"), "nonsense", { type: "ok" }, ok({ b: 1 }), ok(null)]

/** A result as the original prints it. */
const print = (content: string): unknown =>
  content.includes("invalid_return") ? "invalid tool return: …" : (meanings.prints[content] ?? content)

const runReturns = async (expected: Fields): Promise<ReadonlyArray<Difference>> => {
  const runs = returned.map((value) =>
    runLoop({ prompt: "hi", model: callingOnce("odd a"), given: { tools: [{ name: "odd", returns: () => value }] } })
  )
  const results = (await Promise.all(runs)).map((seen) => resultsOf(seen)[0])
  const texts = results.map((message) => (message === undefined ? "" : Message.text(message)))
  const isError = results.map((message) => message !== undefined && isBad(message))
  return compared({ resultTexts: texts.map(print), isError }, { expected })
}

/** The recorded runs about questions, hooks and listeners. */
const runRecorded: Operation = async ({ recorded, expected }) => {
  const { calls, ask, listener, toolTimeoutMs, maxMistakes } = fieldsOf(recorded["setup"])
  const seen = await runLoop({
    prompt: "hi",
    model: modelOf(textOf(calls).includes("plan_mode") ? planned : textOf(calls)) ?? callingOnce(textOf(calls)),
    given: { options: present({ toolTimeoutMs, maxMistakes }), ask, listener, tools: meanings.tools["recordedLoop"] }
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

export const loopOperations: Operations = {
  runLoop: runWritten,
  runLoopEach: runEach,
  runLoopWith: runEach,
  "golden-ask.scenarios": runRecorded
}
