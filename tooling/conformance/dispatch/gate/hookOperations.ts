/**
 * Runs the cases that run hooks on their own.
 *
 * @module
 */
import * as Hooks from "../../../../packages/chat/src/gate/Hooks.ts"
import { user } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { fieldsOf, isFields, listOf, present, textOf } from "../../runner/fields.ts"
import { unexaminedCase } from "../../runner/suite.ts"
import { compared, type Operation, type Operations, meanings } from "../dispatchCases.ts"
import { callOf } from "./permissionSetup.ts"

const running = (): Hooks.HookRun => ({ signal: new AbortController().signal })

/** The answer of a hook, by the key of its words. */
const answers: Readonly<Record<string, (value: unknown, payload: unknown, word: unknown) => unknown>> = {
  deny: (reason) => ({ type: "deny", reason }),
  halt: (reason) => ({ type: "halt", reason }),
  haltWhen: (condition, payload, word) =>
    condition === "iteration == 1" && fieldsOf(payload)["iteration"] === 1
      ? { type: "halt", reason: textOf(fieldsOf(word)["reason"]) }
      : "ok",
  augment: (text) => ({ type: "augment", text }),
  transform: (prompt) => ({ type: "transform", prompt }),
  inject: (value) => ({ type: "inject", messages: (Array.isArray(value) ? value : [value]).map(injected) })
}

const injected = (value: unknown): Message.Message => {
  const { role, text } = fieldsOf(value)
  return role === "system" ? Message.system(textOf(text)) : user(textOf(text ?? value))
}

/** A hook from a case's words; `note` is called with its payload. */
export const hookOf =
  (word: unknown, note: (payload: unknown) => void): ((payload: unknown) => Hooks.HookAnswer) =>
  (payload) => {
    note(payload)
    const { raises, throws } = fieldsOf(word)
    if (raises !== undefined || throws !== undefined) throw new Error(textOf(raises ?? throws))
    // A return value written as a term: `augment 'x'`, `augment x`, `inject []`.
    const [, term, rest = ""] = /^(augment|inject) (.*)$/.exec(textOf(word)) ?? []
    if (term === "inject") return { type: term, messages: [] }
    if (term !== undefined) return { type: "augment", text: rest === "''" ? "" : rest }
    const type = Object.keys(fieldsOf(word)).find((key) => key in answers) ?? ""
    return (answers[type]?.(fieldsOf(word)[type], payload, word) ?? (word === "spy" ? "ok" : word)) as Hooks.HookAnswer
  }

/** The hooks of an event, as groups and functions. */
export const hooksOf = (list: unknown, note: (payload: unknown) => void): ReadonlyArray<never> =>
  listOf(list).map((one) => {
    const { match, hook, hooks } = fieldsOf(one)
    const isGroup = match !== undefined && Object.keys(fieldsOf(one)).length === 1
    if (!isGroup && hook === undefined && hooks === undefined) return hookOf(one, note) as never
    const functions = (hook === undefined ? hooks : [hook]) as ReadonlyArray<unknown> | undefined
    return present({
      match: typeof match === "string" ? match : undefined,
      hooks: functions?.map((each) => hookOf(each, note))
    }) as never
  })

const haltText = ({ reason, message }: Hooks.HookHalt): string =>
  message === undefined ? reason : `${reason}: ${message}`

/** A verdict in the cases' form. */
const shown = (verdict: Hooks.PreToolVerdict | Hooks.PostToolVerdict): unknown => {
  if (verdict.type === "halt") return { halt: haltText(verdict) }
  if (verdict.type === "deny") return { deny: verdict.reason }
  return verdict.type === "augment" ? { augment: verdict.text } : verdict.type
}

/** Runs the hooks before or after a call, and counts their runs. */
const judged = async (event: "PreToolUse" | "PostToolUse", list: unknown, name: unknown) => {
  let ran = 0
  const hooks = { [event]: hooksOf(list, () => ran++) }
  const call = callOf(name, { command: "ls" })
  const payload = { ...Hooks.toolUse(call), result: "out", outcome: "completed" } as const
  const isBefore = event === "PreToolUse"
  const verdict = await (isBefore ? Hooks.preTool(hooks, call, running()) : Hooks.postTool(hooks, payload, running()))
  return { result: shown(verdict), ran }
}

/** One call under the hooks of the case, and under each of its alternatives. */
const runOne =
  (when: string, event: "PreToolUse" | "PostToolUse"): Operation =>
  async (one) => {
    const { [event]: list, [`${event}Each`]: each, [`${event}Returns`]: returns } = one.given
    const lists = returns === undefined ? listOf(each) : listOf(returns).map((answer) => [answer])
    const all = await Promise.all(lists.map((other) => judged(event, other, one.when[when])))
    const results = all.map(({ result }) => result)
    return compared({ ...(await judged(event, list, one.when[when])), results, outcomes: results }, one)
  }

/** Several calls under the same hooks. */
const runEach =
  (when: string, event: "PreToolUse" | "PostToolUse"): Operation =>
  async (one) => {
    const each = await Promise.all(listOf(one.when[when]).map((name) => judged(event, one.given[event], name)))
    const verdict = (result: unknown) => (result === "allow" ? "ok" : result)
    const word = (result: unknown) => (isFields(result) && event === "PreToolUse" ? Object.keys(result)[0] : result)
    return compared(
      { results: each.map(({ result }) => word(verdict(result))), fired: each.map(({ ran }) => ran) },
      one
    )
  }

/** Runs the hooks of a lifecycle event. */
const lifecycleOf = async (event: string, list: unknown) => {
  let ran = 0
  const hooks = { [event]: hooksOf(list, () => ran++) }
  const payload = { prompt: "", sessionId: undefined, messages: [] }
  const result = await Hooks.lifecycle(hooks, event as "UserPromptSubmit", payload, running())
  const { injects, transform = null, halt } = result
  const shownHalt = halt === undefined ? null : haltText(halt)
  return { ran, injects: injects.map(({ content }) => content), transform, halt: shownHalt }
}

const recordedRun: Operation = async (one) => {
  const title = textOf(one.recorded["title"])
  const list = meanings.hooks[title]
  if (list === undefined) return unexaminedCase(`a recorded run that only its title describes: ${title}`)
  const expected = { ...one.expected, result: printed(one.expected["result"]) }
  if (title.startsWith("post")) return compared(await judged("PostToolUse", list, "bash"), { expected })
  const { ran, ...result } = await lifecycleOf("UserPromptSubmit", list)
  // The form that contains only whether to continue.
  const short = result.halt === null ? "ok" : { halt: result.halt }
  return compared({ result: expected.result === "ok" ? short : result, ran }, { expected })
}

/**
 * A result with reasons that are not in the original's printed form: `:h` is h, `{:hook_crashed, "x"}` is hook_crashed: x.
 */
export const printed = (result: unknown): unknown => {
  const { halt } = fieldsOf(result)
  return typeof halt === "string" ? { ...fieldsOf(result), halt: plain(halt) } : result
}

/** A term as text. */
export const plain = (term: string): string => {
  const [, reason, message] = /^\{:(\w+), "(.*)"\}$/.exec(term) ?? []
  return reason === undefined ? term.replace(/^:/, "") : `${reason}: ${message}`
}

/** The operations that run only hooks, by the case's name. */
export const hookOperations: Operations = {
  preTool: runOne("preTool", "PreToolUse"),
  preToolEach: runEach("preToolEach", "PreToolUse"),
  postTool: runOne("postTool", "PostToolUse"),
  postToolEach: runEach("postToolEach", "PostToolUse"),
  lifecycle: async (one) => {
    const event = textOf(one.when["lifecycle"])
    return compared(await lifecycleOf(event, one.given[event]), one)
  },
  "golden-gate.hookRunner": recordedRun
}
