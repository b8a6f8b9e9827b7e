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

const called = (call: number, name: string, args: Fields | string = {}): ScriptedCall => ({
  id: `c${call}`,
  name,
  args
})

const always =
  (name: string, args: Fields = {}, text = "t"): Model =>
  (call) =>
    reply(text, [called(call, name, args)])

/** So many turns, each with a distinct call, then an answer. */
const turns =
  (count: number, name: string): Model =>
  (call) =>
    call < count ? reply("t", [{ id: `a${call + 1}`, name, args: { n: call } }]) : reply("bye")

const alternating =
  (...replies: ReadonlyArray<Model>): Model =>
  (call) =>
    replies[call % replies.length]?.(call) ?? []

const pair = (call: number, reversed: boolean): Fake.Script => {
  const both = [called(2 * call, "glob", { n: 1 }), called(2 * call + 1, "glob", { n: 2 })]
  return reply("t", reversed ? both.toReversed() : both)
}

/** Models that cases describe in words. */
const described: Readonly<Record<string, Model>> = {
  "same glob call forever": always("glob"),
  "identical call forever": always("glob"),
  "30 different tool turns then an answer": turns(30, "glob"),
  "err_safe with new args in six turns, then an answer": turns(6, "err_safe"),
  "six turns with one mutating call each, different arguments, then text": turns(6, "ok_w"),
  "six turns with one mutating call each, different arguments": turns(6, "ok_w"),
  "different calls forever": turns(Infinity, "glob"),
  "same call with blank text, four times": always("read", { path: "f" }, ""),
  "same call, result text changes": always("counts"),
  "two calls alternating": alternating(always("glob", { n: 1 }), always("glob", { n: 2 })),
  "same call, two texts alternating": alternating(always("glob", {}, "a"), always("glob", {}, "b")),
  "same call and same text": always("glob"),
  "same call, whitespace text": always("glob", {}, " \n"),
  "same call, new call ids": always("glob"),
  "two calls in swapped order each turn": (call) => pair(call, call % 2 === 1),
  "marker call": () => reply("", [{ id: "m", name: "ok_w", args: "{oops" }]),
  "glob turn costing 0.01, repeated": (call) => reply("t", [called(call, "glob")], { totalCost: 0.01 }),
  "call the mutating one": (call) => (call === 0 ? reply("t", [called(0, "raising_w")]) : reply("bye")),
  "call the safe one": (call) => (call === 0 ? reply("t", [called(0, "raising_safe")]) : reply("bye")),
  "one mutating call": (call) => (call === 0 ? reply("t", [called(0, "ok_w")]) : reply("bye")),
  "one safe call": (call) => (call === 0 ? reply("t", [called(0, "ok_safe")]) : reply("bye"))
}

/** The model of a case: its replies in order; the last one repeats. */
export const modelOf = (given: unknown): Model | undefined => {
  if (typeof given === "string") return described[given]
  const replies = listOf(given).map(replyOf)
  return (call) => replies[Math.min(call, replies.length - 1)]?.(call) ?? reply("bye")
}

const replyOf = (given: unknown): Model => {
  if (typeof given === "string") return described[given] ?? (() => reply(given))
  if (Array.isArray(given))
    return (call) =>
      reply(
        "",
        given.map((one) => callOf(one, call))
      )
  const { text, calls } = fieldsOf(given)
  return (call) =>
    reply(
      text === undefined ? "" : textOf(text),
      listOf(calls).map((one) => callOf(one, call))
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
  return { id: textOf(id), name: textOf(name), args: isFields(args) ? args : {} }
}

/** The actions of a case's tools, in the order of their starts. */
export interface Ran {
  readonly ids: Array<string>
}

/** The tools of a case, and those that cases assume. */
export const toolsOf = (given: Fields, ran: Ran): ReadonlyArray<Tool.Tool> => {
  const named = listOf(given["tools"]).filter(isFields)
  const own = named.map((fields) => toolOf(fields, ran))
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
  const reads = ["read", "glob", "grep", "ok_safe", "safe"].map((name) => toolOf({ name, parallelSafe: true }, ran))
  const writes = ["ok_w", "echo", "mutating"].map((name) => toolOf({ name }, ran))
  return [
    ...reads,
    ...writes,
    finish,
    plan,
    toolOf({ name: "counts", returns: () => ok(++count) }, ran),
    toolOf({ name: "raising_w", raises: "boom" }, ran),
    toolOf({ name: "raising_safe", parallelSafe: true, raises: "boom" }, ran)
  ]
}

/** The failure of a provider, by the case's name. */
export const refusalOf = (given: unknown): Model => {
  const reason: AdapterError["reason"] =
    fieldsOf(given)["kind"] === "unauthorized" ? "authentication_failed" : "unknown"
  return () => [{ preflightError: reason }]
}
