/**
 * Runs the cases that run hooks on their own.
 *
 * @module
 */
import { unexaminedCase } from "../../runner/suite.ts"
import { Message, type ToolCall } from "@troupe/chat/messages"
import * as Hooks from "../../../../packages/chat/src/gate/Hooks.ts"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../runner/fields.ts"
import { type Difference, facetDifferences } from "../../runner/matching.ts"
import type { DispatchCase } from "../dispatchCases.ts"
import type { Operation, Operations } from "../operation.ts"

type AnyHook = (payload: unknown) => Hooks.HookAnswer

const compared = (actual: Fields, { expected }: DispatchCase): ReadonlyArray<Difference> =>
  facetDifferences(actual, expected)

const running = (): Hooks.HookRun => ({ signal: new AbortController().signal })

/** A hook from a case's words; `ran` counts its runs. */
export const hookOf = (word: unknown, ran: () => void): AnyHook => {
  const { raises, throws } = fieldsOf(word)
  return () => {
    ran()
    if (raises !== undefined || throws !== undefined) throw new Error(textOf(raises ?? throws))
    return answerOf(word) as Hooks.HookAnswer
  }
}

const answerOf = (word: unknown): unknown => {
  if (typeof word === "string") return written(word)
  const [type] = Object.keys(fieldsOf(word))
  const value = fieldsOf(word)[type ?? ""]
  switch (type) {
    case "deny":
    case "halt":
      return { type, reason: value }
    case "augment":
      return { type, text: value }
    case "transform":
      return { type, prompt: value }
    case "inject":
      return { type, messages: (Array.isArray(value) ? value : [value]).map((text) => Message.system(textOf(text))) }
    default:
      return word
  }
}

/** A return value written as a term: `augment 'x'`, `augment x`, `inject []`. */
const written = (word: string): unknown => {
  if (word === "spy") return "ok"
  const [, type, rest = ""] = /^(augment|inject) (.*)$/.exec(word) ?? []
  const text = rest === "''" ? "" : rest
  if (type === "augment") return { type, text }
  return type === "inject" ? { type, messages: [] } : word
}

/** The hooks of an event, as groups and functions; `fired` counts their runs. */
const hooksOf = (list: unknown) => {
  let fired = 0
  const count = (): void => {
    fired++
  }
  const hooks = listOf(list).map((one) => {
    const { match, hook, hooks: grouped } = fieldsOf(one)
    if (hook === undefined && grouped === undefined) return hookOf(one, count)
    const functions = (grouped === undefined ? [hook] : listOf(grouped)).map((each) => hookOf(each, count))
    return { ...(typeof match === "string" ? { match } : {}), hooks: functions }
  })
  return { hooks, fired: () => fired }
}

const callOf = (name: unknown): ToolCall.ToolCall => ({ id: "c1", name: textOf(name), arguments: { command: "ls" } })

const haltText = ({ reason, message }: Hooks.HookHalt): string =>
  message === undefined ? reason : `${reason}: ${message}`

/** A verdict in the cases' form. */
const before = (verdict: Hooks.PreToolVerdict): unknown => {
  if (verdict.type === "halt") return { halt: haltText(verdict) }
  return verdict.type === "deny" ? { deny: verdict.reason } : verdict.type
}

const after = (verdict: Hooks.PostToolVerdict): unknown => {
  if (verdict.type === "halt") return { halt: haltText(verdict) }
  return verdict.type === "augment" ? { augment: verdict.text } : verdict.type
}

const preTool = (list: unknown, name: unknown) => {
  const { hooks, fired } = hooksOf(list)
  return Hooks.preTool({ PreToolUse: hooks }, callOf(name), running()).then((verdict) => ({ verdict, fired: fired() }))
}

const postTool = (list: unknown, name: unknown) => {
  const { hooks, fired } = hooksOf(list)
  const payload = { ...Hooks.toolUse(callOf(name)), result: "out", outcome: "completed" } as const
  return Hooks.postTool({ PostToolUse: hooks }, payload, running()).then((verdict) => ({ verdict, ran: fired() }))
}

const runPreTool: Operation = async (one) => {
  const { PreToolUse, PreToolUseEach, PreToolUseReturns } = one.given
  const name = one.when["preTool"]
  const lists =
    PreToolUseReturns === undefined ? listOf(PreToolUseEach) : listOf(PreToolUseReturns).map((answer) => [answer])
  const each = await Promise.all(lists.map((list) => preTool(list, name)))
  const outcomes = each.map(({ verdict }) => before(verdict))
  const { verdict } = await preTool(PreToolUse, name)
  return compared({ result: before(verdict), results: outcomes, outcomes }, one)
}

const runPreToolEach: Operation = async (one) => {
  const each = await Promise.all(listOf(one.when["preToolEach"]).map((name) => preTool(one.given["PreToolUse"], name)))
  const results = each.map(({ verdict }) => (verdict.type === "allow" ? "ok" : verdict.type))
  return compared({ results, fired: each.map(({ fired }) => fired) }, one)
}

const runPostTool: Operation = async (one) => {
  const { PostToolUse, PostToolUseEach } = one.given
  const name = one.when["postTool"]
  const each = await Promise.all(listOf(PostToolUseEach).map((list) => postTool(list, name)))
  const { verdict, ran } = await postTool(PostToolUse, name)
  return compared({ result: after(verdict), ran, results: each.map((ended) => after(ended.verdict)) }, one)
}

const runPostToolEach: Operation = async (one) => {
  const names = listOf(one.when["postToolEach"])
  const each = await Promise.all(names.map((name) => postTool(one.given["PostToolUse"], name)))
  return compared({ results: each.map(({ verdict }) => after(verdict)) }, one)
}

/** Runs the hooks of a lifecycle event. */
const lifecycleOf = async (event: string, list: unknown) => {
  const { hooks, fired } = hooksOf(list)
  const verdict = await Hooks.lifecycle({ [event]: hooks }, event as "UserPromptSubmit", reported, running())
  const { injects, transform, halt } = verdict
  return {
    ran: fired(),
    injects: injects.map(({ content }) => content),
    transform: transform ?? null,
    halt: halt === undefined ? null : haltText(halt)
  }
}

const reported = { prompt: "", sessionId: undefined, messages: [] }

const runLifecycle: Operation = async (one) => {
  const event = textOf(one.when["lifecycle"])
  return compared(await lifecycleOf(event, one.given[event]), one)
}

/** The hooks that the title of a recorded run describes. */
const recordedHooks: Readonly<Record<string, ReadonlyArray<unknown>>> = {
  "lifecycle: transform is last write wins": [{ transform: "x" }, { transform: "y" }],
  "lifecycle: non-string transform is ignored": [{ transform: 5 }],
  "lifecycle: deny is ignored": [{ deny: "no" }],
  "lifecycle: non-message inject is ignored": [{ inject: [] }],
  "lifecycle: simple form maps halts only": [{ transform: "x" }],
  "lifecycle: unknown event is a no-op": [],
  "post: two augments joined by a newline": [{ augment: "x" }, { augment: "y" }],
  "post: empty augment counts as none": [{ augment: "" }],
  "post: empty then text": [{ augment: "" }, { augment: "y" }],
  "post: text then empty augment leaves a trailing newline": [{ augment: "x" }, { augment: "" }],
  "post: deny ignored": [{ deny: "no" }],
  "post: halt after augment wins and stops": [{ augment: "x" }, { halt: "h" }, "spy"],
  "post: crash becomes halt": [{ raises: "pb" }]
}

const recordedRun: Operation = async (one) => {
  const title = textOf(one.recorded["title"])
  const list = recordedHooks[title]
  if (list === undefined) return unexaminedCase(`a recorded run that only its title describes: ${title}`)
  const expected = { ...one.expected, result: printed(one.expected["result"]) }
  if (title.startsWith("post")) {
    const { verdict, ran } = await postTool(list, "bash")
    return compared({ result: after(verdict), ran }, { ...one, expected })
  }
  const { ran, ...result } = await lifecycleOf("UserPromptSubmit", list)
  return compared({ result: expected.result === "ok" ? okOf(result) : result, ran }, { ...one, expected })
}

/** The form that contains only whether to continue. */
const okOf = ({ halt }: { readonly halt: string | null }): unknown => (halt === null ? "ok" : { halt })

/**
 * A result with reasons that are not in the original's printed form: `:h` is h, `{:hook_crashed, "x"}` is hook_crashed: x.
 */
export const printed = (result: unknown): unknown => {
  if (!isFields(result)) return result
  const { halt } = result
  return typeof halt === "string" ? { ...result, halt: plain(halt) } : result
}

/** A term as text. */
export const plain = (term: string): string => {
  const [, reason, message] = /^\{:(\w+), "(.*)"\}$/.exec(term) ?? []
  return reason === undefined ? term.replace(/^:/, "") : `${reason}: ${message}`
}

/** The operations that run only hooks, by the case's name. */
export const hookOperations: Operations = {
  preTool: runPreTool,
  preToolEach: runPreToolEach,
  postTool: runPostTool,
  postToolEach: runPostToolEach,
  lifecycle: runLifecycle,
  "golden-gate.hookRunner": recordedRun
}
