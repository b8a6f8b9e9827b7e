/**
 * The inputs that broke programs in practice. An input is run as its kind says, and judged by its own right value and by the
 * laws that hold for every input.
 *
 * PRACTICE5. An input passes when each phrase of its right value and each law holds. An input with words or fields that the
 *            runner does not know is not examined.
 *
 * @module
 */
import type { Dialect } from "../../wire/recording.ts"
import { type Fields, fieldsOf, listOf, textOf } from "../runner/json.ts"
import type { Difference } from "../runner/matching.ts"
import { type Finding, type Suite, unexaminedCase } from "../runner/suite.ts"
import { brokenLaws, shortened } from "./laws.ts"
import { runMachine } from "./machines.ts"
import { finishPart, type Model, partsModel, wireModel } from "./models.ts"
import { differencesFrom } from "./rights.ts"
import { callOf, replyOf } from "./script.ts"
import { runSteps } from "./steps.ts"
import { World } from "./world.ts"

type Run = (world: World) => Promise<ReadonlyArray<Difference> | void>

/** Runs an input in a world, and judges it. */
const judged = async (input: Fields, main: Model, run: Run = runSteps, child?: Model): Promise<Finding> => {
  const world = new World(input, main, child)
  try {
    await world.start()
    // From the first use of the page on, inputs are sent by it.
    if (/\blive client\b/.test(textOf(input["right"]))) void world.page
    const found = (await run(world)) ?? []
    const differences = await differencesFrom(textOf(input["right"]), world)
    return [...found, ...differences, ...(await brokenLaws(world))]
  } finally {
    await world.close()
  }
}

/** One call for each case, in a turn of its own. */
const schema = (input: Fields): Promise<Finding> => {
  const cases = listOf(input["cases"]).map(fieldsOf)
  const calls = cases.map((one, at) => [
    callOf(`c${at}`, "tool", JSON.stringify(one["arguments"])),
    finishPart("tool-calls")
  ])
  const tools = { tool: { parameters: input["parameters"], returns: "ok" } }
  return judged({ ...input, tools }, partsModel(calls.flatMap((call) => [call, replyOf("text")])), async (world) => {
    const found: Array<Difference> = []
    for (const [at, { arguments: args, outcome }] of cases.entries()) {
      const before = world.runs.length
      world.send("go")
      await world.settle()
      const got = JSON.stringify(world.runs.slice(before).map((run) => run.args))
      if (world.outcomes[at] === outcome && got === JSON.stringify(outcome === "completed" ? [args] : [])) continue
      const message = `is ${textOf(world.outcomes[at])}, not ${textOf(outcome)}; the handler got ${got}`
      found.push({ path: `arguments ${shortened(args)}`, message })
    }
    return found
  })
}

const dialects: Readonly<Record<string, Dialect>> = { openai: "responses", anthropic: "messages", google: "gemini" }

/** The model of a chat: a package that reads the replies or that the steps name, or a script. */
const modelOf = async (input: Fields): Promise<Model> => {
  const { dialect, package: provider = "openai-compatible", replies, parent, script, reply, tool, steps = [] } = input
  const [, name] = /with a model of (\w+)/.exec(JSON.stringify(steps).toLowerCase()) ?? []
  const [, status, wait] = /(\d{3}) with retry-after: (\d+)/.exec(JSON.stringify(steps)) ?? []
  const refusal = { status: Number(status), headers: { "retry-after": wait } }
  if (name !== undefined) return wireModel(dialects[name] ?? "chat", name, [])
  if (dialect === undefined && status === undefined) {
    const usual = tool === undefined ? [] : [["call tool", "finish tool_calls"], "text"]
    return partsModel(replies ?? listOf(parent ?? script ?? (reply === undefined ? usual : [reply])).map(replyOf))
  }
  return wireModel((dialect ?? "chat") as Dialect, textOf(provider).replace("@ai-sdk/", ""), replies ?? [refusal])
}

/** Every field that an input may have. */
const fields =
  /^(?:kind|right|tools?|options|hooks|retry|ask|dialect|replies|package|then|parameters|cases|script|steps|parent|child|thread|machine|reply|note)$/

const run = async (input: Fields): Promise<Finding> => {
  const { kind, machine, child } = input
  const unknown = Object.keys(input).find((field) => !fields.test(field))
  if (!/^(?:wire|parts|schema|scene)$/.test(textOf(kind))) return unexaminedCase(`the kind ${textOf(kind)}`)
  if (unknown !== undefined) return unexaminedCase(`the field ${unknown}`)
  if (machine !== undefined) return runMachine(input)
  if (kind === "schema") return schema(input)
  const children = child === undefined ? undefined : partsModel(listOf(child).map(replyOf))
  return judged(input, await modelOf(input), runSteps, children)
}

/** The suite; each file is one input. */
export const practiceSuite: Suite = {
  casesOf: (content, id) => {
    const given = fieldsOf(content)
    const expected = { [textOf(given["right"])]: true }
    const facts = { suite: "practice", operation: textOf(given["kind"]), given, expected } as const
    return [{ id, facts, run: () => run(given) }]
  }
}
