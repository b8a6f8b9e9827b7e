/**
 * Runs whole turns, and compares their facets.
 *
 * @module
 */
import { unexaminedCase } from "../../runner/suite.ts"
import { error, ok } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { Tool } from "@troupe/chat/tools"
import { type Fields, fieldsOf, listOf, textOf } from "../../runner/fields.ts"
import type { Difference } from "../../runner/matching.ts"
import { compared, type DispatchCase, type Operation, type Operations } from "../dispatchCases.ts"
import { countedSteps, isBad, judged, outcomeOf, resultsOf } from "./loopFacets.ts"
import { raisesOnResult, runRecorded } from "./loopRecorded.ts"
import { finishOf, type LoopRun, runLoop } from "./loopRun.ts"
import { type Model, modelOf, refusalOf, reply } from "./loopScript.ts"

const endless = modelOf("different calls forever") as Model

const runOf = ({ given }: DispatchCase, prompt: unknown, more: Partial<LoopRun> = {}): LoopRun => ({
  prompt: textOf(prompt),
  model: (given["model"] === undefined ? defaultModel(given) : modelOf(given["model"])) ?? endless,
  given,
  ...more
})

/** The default model of a case without one: one call, if there are tools, then an answer. */
const defaultModel = (given: Fields): Model =>
  given["hooks"] === undefined && given["ask"] === undefined ? endless : oneCall("ok_w")

const oneCall =
  (name: string): Model =>
  (call) =>
    call === 0 ? reply("t", [{ id: "a", name, args: {} }]) : reply("bye")

/** The feature of a case that this project does not have. */
const lacking = ({ given, expected, when }: DispatchCase): string | undefined => {
  if (given["mode"] !== undefined) return "loops of other kinds"
  if (textOf(given["provider"]).startsWith("starved")) return "retries of replies that only think"
  if (expected["requestTail"] !== undefined) return "notes that the loop adds to requests"
  if (given["capability"] !== undefined) return "calls written as text"
  if (textOf(given["ask"]).includes("one argument")) return "a callback of another signature"
  if (when["runLoop"] !== undefined && given["model"] !== undefined && modelOf(given["model"]) === undefined)
    return textOf(given["model"])
  return undefined
}

const runWritten: Operation = async (one) => {
  const unsupported = lacking(one)
  if (unsupported !== undefined) return unexaminedCase(unsupported)
  const { given, when, expected } = one
  if (listOf(given["tools"])[0] === "a module that is not a tool") return refused(expected)
  if (textOf(listOf(given["tools"])[0]).includes("throws")) return thrown(one)
  const model = given["provider"] === undefined ? {} : { model: () => reply("Hello") }
  const asking = textOf(when["runLoop"]).includes("asking the user") ? { given: { ...given, ask: "allow" } } : {}
  return judged(await runLoop(runOf(one, when["runLoop"], { ...model, ...asking })), expected)
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

const thrown = async (one: DispatchCase): Promise<ReadonlyArray<Difference>> =>
  judged(await runLoop(runOf(one, one.when["runLoop"], { model: oneCall("raising_safe") })), one.expected)

/** A run for each item of the case. */
const runEach: Operation = async (one) => {
  const { given, when, expected } = one
  const fails = listOf(given["providerFails"])
  if (fails.length > 0) {
    const seen = await Promise.all(fails.map((failure) => runLoop(runOf(one, "hi", { model: refusalOf(failure) }))))
    return compared({ finishes: seen.map(finishOf), diagnostics: fails.map(() => null) }, { expected })
  }
  if (given["toolReturns"] !== undefined) return runReturns(expected)
  const models = listOf(when["runLoopEach"]).map((name) => modelOf(textOf(name)))
  const listener = given["listener"] === undefined ? {} : { listener: raisesOnResult }
  const seen = await Promise.all(
    models.map((model) => runLoop(runOf(one, "hi", { model: model ?? endless, ...listener })))
  )
  const outcomes = seen.map(outcomeOf)
  return compared({ finishes: seen.map(finishOf), answers: outcomes, outcomes }, { expected })
}

/** The return values of handlers that cases name, and how the original prints the result. */
const returned: ReadonlyArray<readonly [() => unknown, (content: string) => string]> = [
  [() => error("bad_thing"), (content) => (content === '{"error":"bad_thing"}' ? "error: :bad_thing" : content)],
  [() => "nonsense", (content) => (content.includes("invalid_return") ? "invalid tool return: …" : content)],
  [() => ({ type: "ok" }), (content) => (content.includes("invalid_return") ? "invalid tool return: …" : content)],
  [() => ok({ b: 1 }), (content) => (content === '{"b":1}' ? "a printed map" : content)],
  [() => ok(null), (content) => (content === "null" ? "nil" : content)]
]

const runReturns = async (expected: Fields): Promise<ReadonlyArray<Difference>> => {
  const seen = await Promise.all(
    returned.map(([returns]) =>
      runLoop({ prompt: "hi", model: oneCall("odd"), given: { tools: [{ name: "odd", returns }] } })
    )
  )
  const results = seen.map((one) => resultsOf(one)[0])
  const texts = results.map((message) => (message === undefined ? "" : Message.text(message)))
  const resultTexts = texts.map((text, index) => returned[index]?.[1](text))
  const isError = results.map((message) => message !== undefined && isBad(message))
  return compared({ resultTexts, isError }, { expected })
}

/** The same run under several options. */
const runWith: Operation = async (one) => {
  const { when, expected } = one
  const seen = await Promise.all(
    listOf(when["runLoopWith"]).map((options) => runLoop(runOf(one, "hi", { options: fieldsOf(options) })))
  )
  const finishes = seen.map((run, index) => {
    const words = textOf(listOf(expected["finishes"])[index])
    return `${finishOf(run)} at ${words.includes("iteration") ? "iteration " : ""}${countedSteps(run).length}`
  })
  return compared({ finishes, iterations: seen.map((run) => countedSteps(run).length) }, { expected })
}

export const loopOperations: Operations = {
  runLoop: runWritten,
  runLoopEach: runEach,
  runLoopWith: runWith,
  "golden-ask.scenarios": runRecorded
}
