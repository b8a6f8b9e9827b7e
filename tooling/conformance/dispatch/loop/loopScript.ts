/**
 * The script of a whole run: the model's replies, the tools, the options, the hooks, the questions.
 *
 * @module
 */
import { error as failed, type Fake, halt as halted, ok, tool as functionTool } from "@troupe/chat"
import type { AdapterError } from "@troupe/chat/errors"
import type { HandlerResult } from "@troupe/chat/results"
import { Tool } from "@troupe/chat/tools"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../runner/fields.ts"
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
  const all = listOf(calls)
  return (turn) =>
    reply(
      textOf(text),
      Array.from(all, (one) => callOf(one, turn))
    )
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

/** The actions of a case's tools, in the order of their starts. */
export interface Ran {
  readonly ids: Array<string>
}

/** The tools of a case, and those that cases assume. */
export const toolsOf = (given: Fields, ran: Ran): ReadonlyArray<Tool.Tool> => {
  const own = listOf(given["tools"])
    .filter(isFields)
    .map((fields) => toolOf(fields, ran))
  return [...own, ...granted(ran).filter(({ name }) => !own.some((tool) => tool.name === name))]
}

const toolOf = ({ name, parallelSafe, error, halt, returns, raises }: Fields, ran: Ran): Tool.Tool =>
  Tool.make({
    name: textOf(name),
    effect: parallelSafe === true ? "read" : "write",
    handler: (_, { toolCall }) => {
      ran.ids.push(toolCall.id)
      if (raises !== undefined) throw new ScriptedException("Boom", textOf(raises))
      if (error !== undefined) return failed(error)
      if (halt !== undefined) return halted(textOf(halt))
      if (typeof returns === "function") return returns() as HandlerResult
      return ok(returns ?? `${textOf(name)}-out`)
    }
  })

const granted = (ran: Ran): ReadonlyArray<Tool.Tool> => {
  let count = 0
  const finish = Tool.make({
    name: "finish",
    handler: (args, { toolCall }) => {
      ran.ids.push(toolCall.id)
      return halted("submitted", args["deliverable"])
    }
  })
  const plan = functionTool({
    name: "plan_mode",
    execute: async (_, { toolCall, setPermissionMode }) => {
      ran.ids.push(toolCall.id)
      await setPermissionMode("plan")
      return "entered plan mode"
    }
  })
  const reads = ["read", "glob", "grep", "ok_safe", "safe"].map((name) => ({ name, parallelSafe: true }))
  const others = [
    ...["ok_w", "echo", "mutating"].map((name) => ({ name })),
    { name: "counts", returns: () => ok(++count) },
    { name: "raising_w", raises: "boom" },
    { name: "raising_safe", parallelSafe: true, raises: "boom" }
  ]
  return [...[...reads, ...others].map((fields) => toolOf(fields, ran)), finish, plan]
}

/** The failure of a provider, by the case's name. */
export const refusalOf = (given: unknown): Model => {
  const reason: AdapterError["reason"] =
    fieldsOf(given)["kind"] === "unauthorized" ? "authentication_failed" : "unknown"
  return () => [{ preflightError: reason }]
}
