/**
 * The script of a whole run: the model's replies, the tools, the options, the hooks, the questions.
 *
 * @module
 */
import { error as failed, type Fake, halt as halted, ok } from "@troupe/chat"
import type { AdapterError } from "@troupe/chat/errors"
import type { HandlerResult } from "@troupe/chat/results"
import { Tool } from "@troupe/chat/tools"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../runner/json.ts"
import { ScriptedException } from "../../chat/values/plain.ts"
import { meanings } from "../dispatchCases.ts"

/** The reply to the n-th request. */
export type Model = (call: number) => Fake.Script

/** A reply with a text and calls; arguments that are text are the model's own text. */
export const reply = (text: string, calls: ReadonlyArray<ScriptedCall> = [], usage?: object): Fake.Script => [
  ...(text === "" ? [] : [{ text }]),
  ...calls.map(({ id, name, args }) => ({
    toolCall: typeof args === "string" ? { id, name, rawArguments: args } : { id, name, arguments: { ...args } }
  })),
  ...(usage === undefined ? [] : [{ usage }]),
  { finish: calls.length === 0 ? "stop" : "tool_calls" }
]

/** One call of a reply. */
export interface ScriptedCall {
  readonly id: string
  readonly name: string
  readonly args?: Fields | string | undefined
}

/** A model that cases describe in words: it makes the calls of its cycle, for some turns or for ever, and then answers. */
const cycling = ({ turns = Infinity, texts = ["t"], cost, cycle }: Fields): Model => {
  const usage = cost === undefined ? undefined : { totalCost: Number(cost) }
  return (turn) => {
    if (turn >= Number(turns)) return reply("bye")
    const calls = listOf(listOf(cycle)[turn % listOf(cycle).length]).map(fieldsOf)
    return reply(
      textOf(listOf(texts)[turn % listOf(texts).length]),
      calls.map(({ id, name, args }, index) => ({
        id: textOf(id ?? (args === "counted" ? `a${turn + 1}` : `c${calls.length * turn + index}`)),
        name: textOf(name),
        args: args === "counted" ? { n: turn } : ((args ?? {}) as Fields | string)
      })),
      usage
    )
  }
}

const described = (name: string): Model | undefined =>
  meanings.models[name] === undefined ? undefined : cycling(fieldsOf(meanings.models[name]))

/** The model of a case: its replies in order; the last one repeats. */
export const modelOf = (given: unknown): Model | undefined => {
  if (typeof given === "string") return described(given)
  const replies = listOf(given).map(replyOf)
  return (call) => replies[Math.min(call, replies.length - 1)]?.(call) ?? reply("bye")
}

const replyOf = (given: unknown): Model => {
  if (typeof given === "string") return described(given) ?? (() => reply(given))
  const { text = "", calls = given } = fieldsOf(given)
  const callsAt = (turn: number) => listOf(calls).map((one) => callOf(one, turn))
  return (turn) => reply(textOf(text), callsAt(turn))
}

/** A call by its fields, or by a name followed by words. */
const callOf = (given: unknown, turn: number): ScriptedCall => {
  if (given === "marker call") return { id: "m", name: "ok_w", args: "{oops" }
  if (typeof given === "string") {
    const [name = "", path] = given.split(" ")
    return { id: `${name}${turn}`, name, args: path === undefined ? {} : { path } }
  }
  const { id, name, args } = fieldsOf(given)
  return { id: textOf(id), name: textOf(name), args: fieldsOf(args) }
}

/** The tools of a case, and those that cases assume. `ran` gets the ids of their calls, in the order of their starts. */
export const toolsOf = (given: Fields, ran: Array<string>): ReadonlyArray<Tool.Tool> => {
  const own = listOf(given["tools"])
    .filter(isFields)
    .map((fields) => toolOf(fields, ran))
  return [...own, ...granted(ran).filter(({ name }) => !own.some((tool) => tool.name === name))]
}

/** A tool; its halt has the argument `deliverable`, and its mode is the one that it changes to. */
const toolOf = ({ name, parallelSafe, error, halt, mode, returns, raises }: Fields, ran: Array<string>): Tool.Tool =>
  Tool.make({
    name: textOf(name),
    effect: parallelSafe === true ? "read" : "write",
    handler: (args, { toolCall, setPermissionMode }) => {
      ran.push(toolCall.id)
      if (raises !== undefined) throw new ScriptedException("Boom", textOf(raises))
      if (error !== undefined) return failed(error)
      if (halt !== undefined) return halted(textOf(halt), args["deliverable"])
      if (typeof returns === "function") return returns() as HandlerResult
      const result = ok(returns ?? `${textOf(name)}-out`)
      return mode === undefined ? result : setPermissionMode(mode as "plan").then(() => result)
    }
  })

const granted = (ran: Array<string>): ReadonlyArray<Tool.Tool> => {
  let count = 0
  const counts = { name: "counts", returns: () => ok(++count) }
  return [...listOf(meanings.tools["loop"]), counts].map((tool) => toolOf(fieldsOf(tool), ran))
}

/** The failure of a provider, by the case's name. */
export const refusalOf = (given: unknown): Model => {
  const reason: AdapterError["reason"] =
    fieldsOf(given)["kind"] === "unauthorized" ? "authentication_failed" : "unknown"
  return () => [{ preflightError: reason }]
}
