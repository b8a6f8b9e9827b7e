/**
 * The inputs that broke programs in practice: an input is run as its kind says, and judged by its own right value and by the
 * laws that hold for every input.
 *
 * @module
 */
import { Clock, Process, StateMachine, System } from "@troupe/otp"
import { setup } from "xstate"
import type { Dialect } from "../../wire/recording.ts"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../runner/fields.ts"
import type { Difference } from "../runner/matching.ts"
import { type Finding, type Suite, unexaminedCase } from "../runner/suite.ts"
import { brokenLaws, shortened } from "./laws.ts"
import { dialects, finishPart, type Model, partsModel, wireModel } from "./models.ts"
import { differencesFrom } from "./rights.ts"
import { replyOf } from "./script.ts"
import { runSteps } from "./steps.ts"
import { countOf, UnknownWords } from "./words.ts"
import { type Models, World } from "./world.ts"

/** Runs a world's input, and judges it. */
const judged = async (
  input: Fields,
  models: Models,
  run: (world: World) => Promise<ReadonlyArray<Difference>>
): Promise<ReadonlyArray<Difference>> => {
  const world = new World(input, models)
  try {
    await world.start()
    if (/\blive client\b/.test(textOf(input["right"]))) world.page()
    const found = await run(world)
    const laws = await brokenLaws(world)
    return [...found, ...(await differencesFrom(textOf(input["right"]), world)), ...laws, ...(await leftOf(world))]
  } finally {
    await world.close()
  }
}

const leftOf = async (world: World): Promise<ReadonlyArray<Difference>> => {
  const open = await world.close()
  return open === 0 ? [] : [{ path: "law: end", message: `${open} streams, connections or handlers are open` }]
}

const stepped = async (world: World): Promise<ReadonlyArray<Difference>> => {
  await runSteps(world)
  return []
}

const mainOnly = (main: Model): Models => ({ main, children: {} })

const wire = async (input: Fields): Promise<Finding> => {
  const dialect = textOf(input["dialect"]) as Dialect
  const provider = textOf(input["package"] ?? "openai-compatible").replace(/^@ai-sdk\//, "")
  return judged(input, mainOnly(await wireModel(dialect, provider, listOf(input["replies"]))), stepped)
}

const parts = (input: Fields): Promise<Finding> =>
  judged(input, mainOnly(partsModel(listOf(input["replies"]))), stepped)

/** One call for each case, in a turn of its own. */
const schema = (input: Fields): Promise<Finding> => {
  const cases = listOf(input["cases"]).map(fieldsOf)
  const call = (args: unknown, at: number): unknown => [
    { type: "tool-call", toolCallId: `c${at}`, toolName: "tool", input: JSON.stringify(args) },
    finishPart("tool-calls")
  ]
  const replies = cases.flatMap((one, at) => [call(one["arguments"], at), replyOf("text")])
  const tools = { tool: { parameters: input["parameters"], returns: "ok" } }
  return judged({ ...input, tools }, mainOnly(partsModel(replies)), async (world) => {
    const found: Array<Difference> = []
    for (const [at, { arguments: args, outcome }] of cases.entries()) {
      const before = world.runs.length
      world.send("go")
      await world.settle()
      const result = world.thread.find((message) => message.role === "tool" && message.toolCallId === `c${at}`)
      const seen = result?.role === "tool" ? result.outcome : undefined
      const runs = world.runs.slice(before).map((run) => JSON.stringify(run.args))
      const isRun = outcome === "completed" ? runs.join() === JSON.stringify(args) : runs.length === 0
      if (seen === outcome && isRun) continue
      const message = `is ${String(seen)}, not ${textOf(outcome)}; the handler got ${runs.join() || "nothing"}`
      found.push({ path: `arguments ${shortened(args)}`, message })
    }
    return found
  })
}

/** The providers' models and refusals that a scene's steps name. */
const namedModel = async (input: Fields): Promise<Model | undefined> => {
  const words = listOf(input["steps"]).map(textOf).join("; ")
  const [, name = ""] = /with a model of (\w+)/.exec(words) ?? []
  const dialect = dialects[name.toLowerCase()]
  if (name !== "" && dialect === undefined) throw new UnknownWords(`the provider ${name}`)
  if (dialect !== undefined) return wireModel(dialect, name.toLowerCase(), [])
  const [, status, wait] = /(\d{3}) with retry-after: (\d+)/.exec(words) ?? []
  return status === undefined
    ? undefined
    : wireModel("chat", "openai-compatible", [{ status: Number(status), headers: { "retry-after": wait } }])
}

const scene = async (input: Fields): Promise<Finding> => {
  if (input["machine"] !== undefined) return machine(input)
  const { parent, script, reply, child, tool } = input
  const usual = tool === undefined ? [] : [["call tool", "finish tool_calls"], "text"]
  const replies = listOf(parent ?? script ?? (reply === undefined ? usual : [reply])).map(replyOf)
  const main = (await namedModel(input)) ?? partsModel(replies)
  const children = child === undefined ? {} : { child: partsModel(listOf(child).map(replyOf)) }
  return judged(input, { main, children }, stepped)
}

/** A machine in words, such as `a --after 100 ms--> b, not hosted`, on a clock of its own. */
const machine = async (input: Fields): Promise<Finding> => {
  const words = textOf(input["machine"])
  const steps = listOf(input["steps"]).flatMap((step) => textOf(step).split(/;\s*/))
  const moves = [...words.matchAll(/(\w+) --after ([\d,]+) (m?s)--> (\w+)/g)]
  const first = moves[0]?.[1]
  if (first === undefined) throw new UnknownWords(`the machine “${words}”`)
  const msOf = (count = "0", unit = "ms"): number => countOf(count) * (unit === "s" ? 1_000 : 1)
  const states = Object.fromEntries([
    ...moves.map(([, , , , to = ""]) => [to, {}] as const),
    ...moves.map(([, from = "", count, unit, to = ""]) => [from, { after: { [msOf(count, unit)]: to } }] as const)
  ])
  const plain = setup({}).createMachine({ initial: first, states })
  const chart = /\bnot hosted\b/.test(words) ? plain : StateMachine.hosted(plain)
  const clock = Clock.test()
  const system = System.make({ clock })
  const start = (snapshot?: string) =>
    StateMachine.start(system, chart, snapshot === undefined ? {} : { snapshot: JSON.parse(snapshot) })
  let pid = undefined as ReturnType<typeof start> | undefined
  let stored: string | undefined
  let state: unknown
  for (const step of steps) {
    const [, wait, unit] = /(?:^wait )?(\d[\d,]*) (m?s)\b/.exec(step) ?? []
    if (!/^(?:start(?: from the JSON)?|.*store `persisted` as JSON|kill|wait .*)$/.test(step)) {
      throw new UnknownWords(`the step “${step}”`)
    }
    if (wait !== undefined) await clock.advance(msOf(wait, unit))
    if (step.startsWith("start")) pid = start(step === "start" ? undefined : stored)
    if (pid === undefined) continue
    if (step.includes("persisted")) stored = JSON.stringify(StateMachine.persisted(pid))
    if (step === "kill") Process.kill(pid)
    else state = StateMachine.snapshot(pid).value
  }
  await System.stop(system)
  const wanted = /^state (\w+)$/.exec(textOf(input["right"]))?.[1]
  if (wanted === undefined) throw new UnknownWords(`the right value “${textOf(input["right"])}”`)
  return state === wanted ? [] : [{ path: "state", message: `${textOf(state)} instead of ${wanted}` }]
}

const kinds: Readonly<Record<string, (input: Fields) => Promise<Finding>>> = { wire, parts, schema, scene }

/** Every field that an input may have, by kind. */
const known = {
  any: ["kind", "right", "tools", "options", "hooks", "retry", "ask"],
  wire: ["dialect", "replies", "package", "then"],
  parts: ["replies", "then"],
  schema: ["parameters", "cases"],
  scene: ["script", "steps", "parent", "child", "thread", "machine", "reply", "tool"]
} as Readonly<Record<string, ReadonlyArray<string>>>

const run = async (input: Fields): Promise<Finding> => {
  const kind = textOf(input["kind"])
  const runKind = kinds[kind]
  if (runKind === undefined) return unexaminedCase(`the kind ${kind}`)
  const unknown = Object.keys(input).find((field) => !known["any"]?.includes(field) && !known[kind]?.includes(field))
  if (unknown !== undefined) return unexaminedCase(`the field ${unknown}`)
  try {
    return await runKind(input)
  } catch (error) {
    if (error instanceof UnknownWords) return unexaminedCase(error.message)
    throw error
  }
}

/** The suite; each file is one input. */
export const practiceSuite: Suite = {
  concurrency: 1,
  casesOf: (content, file) => {
    const input = fieldsOf(content)
    const expected = { [textOf(input["right"])]: true }
    return !isFields(content)
      ? []
      : [
          {
            id: file,
            facts: { suite: "practice", operation: textOf(input["kind"]), given: input, expected },
            run: () => run(input)
          }
        ]
  }
}
