/**
 * Runs the cases that judge calls by permissions.
 *
 * @module
 */
import { unexaminedCase } from "../../runner/suite.ts"
import { tool as functionTool } from "@troupe/chat"
import { ToolError } from "@troupe/chat/errors"
import { Message, type ToolCall } from "@troupe/chat/messages"
import { Permissions, runToolCalls } from "@troupe/chat/tools"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../runner/fields.ts"
import { differences } from "../../runner/matching.ts"
import { compared, type DispatchCase, type Operation, type Operations, meanings } from "../dispatchCases.ts"
import { answering, type Judged, judge, modeOf, permissionsOf, wordOf } from "./permissionSetup.ts"

const shell = "what a line for a shell does is not read; a host says it with `readOnly`"
const escape = "no mode skips the list of refused tools"

const callOf = (name: string, args: Fields = {}): ToolCall.ToolCall => ({ id: "c1", name, arguments: args })

/** A callback from a case's words, and a log of its questions. */
const askOf = (word: unknown) => {
  const questions: Array<Parameters<Permissions.Ask>[0]> = []
  const denies = textOf(word ?? "").includes("den")
  const ask: Permissions.Ask = (question) => {
    questions.push(question)
    return denies ? "deny" : "allow"
  }
  return { questions, ask: word === undefined || word === "none" ? undefined : ask }
}

/** The verdict on one call of a case, in all forms its expectation may use. */
const single = async (call: ToolCall.ToolCall, given: Fields) => {
  const { questions, ask } = askOf(given["ask"])
  const judged = await judge(call, permissionsOf(given, ask))
  const [question] = questions
  const askedWith = question && { tool: question.toolCall.name, args: question.toolCall.arguments }
  return { judged, asked: questions.length, askedWith }
}

const check: Operation = async (one) => {
  const { judged, asked, askedWith } = await single(callOf(textOf(one.when["check"])), one.given)
  const coded = textOf(one.expected["verdict"]).includes(":")
  const verdict = coded ? wordOf(judged) : judged.verdict
  return compared({ verdict, code: judged.code, metadata: judged.metadata, askCalled: asked > 0, askedWith }, one)
}

const checkEach: Operation = async (one) => {
  const names = listOf(one.when["checkEach"]).map(textOf)
  const each = await Promise.all(names.map((name) => single(callOf(name), one.given)))
  const verdicts = each.map(({ judged }) => wordOf(judged))
  const askCalled = each.reduce((sum, { asked }) => sum + asked, 0)
  return compared({ verdicts: allOf(verdicts, one), metadataOfFirst: each[0]?.judged.metadata, askCalled }, one)
}

/** A list of equal verdicts can be written as one. */
const allOf = (verdicts: ReadonlyArray<string>, { expected }: DispatchCase): unknown => {
  if (Array.isArray(expected["verdicts"])) return verdicts
  const [first] = verdicts
  return verdicts.every((verdict) => verdict === first) ? `all ${first}` : verdicts
}

const checkWith: Operation = async (one) => {
  const variants = listOf(one.when["checkWith"]).map((variant) => ({ ...one.given, ...fieldsOf(variant) }))
  const skips = (given: Fields) => given["respectDenyList"] === false && given["phase"] === "trusted" && "deny" in given
  if (variants.some(skips)) return unexaminedCase(escape)
  const each = await Promise.all(variants.map((given: Fields) => single(callOf(textOf(given["tool"])), given)))
  return compared({ verdicts: each.map(({ judged }) => wordOf(judged)) }, one)
}

const checkShell: Operation = async (one) => {
  if (one.given["phase"] === "plan") return unexaminedCase(shell)
  const { judged } = await single(callOf("bash", { command: textOf(one.when["checkShell"]) }), one.given)
  return compared({ verdict: wordOf(judged) }, one)
}

const checkPlanMode: Operation = async (one) => {
  const action = textOf(one.when["checkPlanMode"])
  const { phase, runStartedIn, ask } = one.given
  const leaves = action === "exit" && phase === "plan" && runStartedIn === "plan"
  if (leaves && ask === undefined) return compared({ verdict: await leaving(one.given, undefined) }, one)
  const { judged, askedWith } = await single(callOf("plan_mode", { action }), one.given)
  return compared({ verdict: wordOf(judged), askedWith }, one)
}

/** A tool of ours requests the mode itself: the result when the host requires a plan. */
const leaving = async (given: Fields, ask: Permissions.Ask | undefined): Promise<string> => {
  const leave = functionTool({
    name: "plan_mode",
    execute: (_, { setPermissionMode }) =>
      setPermissionMode("default").then(
        () => "allow",
        (refusal: unknown) =>
          refusal instanceof ToolError && refusal.reason === "denied"
            ? `deny:${String(refusal.metadata["code"])}`
            : "raised"
      )
  })
  const permissions = permissionsOf({ ...given, phase: "plan" }, ask)
  const { messages } = await runToolCalls([callOf("plan_mode", { action: "exit" })], [leave], {
    permissions
  })
  return messages.map(Message.text).join("")
}

const checkWithAskReturning: Operation = async (one) => {
  const said = listOf(one.when["checkWithAskReturning"]).map(textOf)
  const unknown = said.find((word) => meanings.answers[word] === undefined)
  if (unknown !== undefined) return unexaminedCase(`an answer ${unknown}`)
  const each = await Promise.all(said.map((word) => judge(callOf("read"), permissionsOf(one.given, answering(word)))))
  const outcomes = each.map((judged, index) => described(judged, textOf(listOf(one.expected["outcomes"])[index])))
  const argsChanged = each.some(({ ranWith }) => isFields(ranWith) && "changed" in ranWith)
  return compared({ outcomes, argsChanged }, one)
}

/** The message of a refusal differs between the libraries; its code and the given reason are compared. */
const described = (judged: Judged, expected: string): string => {
  const word = wordOf(judged)
  if (!expected.startsWith(word)) return word
  if (!expected.includes("raw kept")) return expected
  return judged.reason === "nah" && judged.metadata?.["raw"] === "nah" ? expected : `${word} ${judged.reason}`
}

const matrix: Operation = async ({ recorded }) => {
  const { phase, tool, args, callback, newest } = recorded
  if (tool === "plan_mode" && phase === "plan" && fieldsOf(args)["action"] === "exit" && callback === "none") {
    return differences(await leaving({}, undefined), newest, { outcome: {}, given: {} })
  }
  const { ask } = askOf(callback)
  const judged = await judge(callOf(textOf(tool), fieldsOf(args)), permissionsOf({ phase }, ask))
  return differences(wordOf(judged), newest, { outcome: {}, given: {} })
}

const clamp: Operation = async ({ recorded: { a, b, result } }) =>
  differences(Permissions.clamp(modeOf(a), modeOf(b)), modeOf(result), { outcome: {}, given: {} })

/** The title of a recorded check describes its input. */
const extra: Operation = async ({ recorded, expected }) => {
  const title = textOf(recorded["title"])
  const name = textOf(recorded["tool"])
  if (title.includes("respect_denylist false") && title.includes("trusted")) return unexaminedCase(escape)
  const given = {
    phase: recorded["phase"],
    ...(title.includes("denylist") ? { deny: [name] } : {}),
    ...(title.includes("allowlist") ? { allow: title.includes("miss") ? ["read"] : [] } : {}),
    ...(title.includes("readonly") ? { readonlyOptIn: [name] } : {})
  }
  const known = Object.keys(given).length > 1
  if (!known) return unexaminedCase(`a recorded run that only its title describes: ${title}`)
  const judged = await judge(callOf(name), permissionsOf(given, undefined))
  const denial = { code: judged.code, metadata: judged.metadata }
  const required = fieldsOf(fieldsOf(fieldsOf(expected["result"])["deny"])["denial"])
  const { reason: _, ...codes } = required
  const expectation = expected["result"] === "allow" ? { verdict: "allow" } : { verdict: "deny", denial: codes }
  return differences({ verdict: judged.verdict, denial }, expectation, { outcome: {}, given: {} })
}

/** The operations that judge calls by permissions, by the case's name. */
export const permissionOperations: Operations = {
  check,
  checkEach,
  checkWith,
  checkShell,
  checkPlanMode,
  checkWithAskReturning,
  checkShellEach: async () => unexaminedCase(shell),
  "golden-gate.permissionMatrix": matrix,
  "golden-gate.phaseClamp": clamp,
  "golden-gate.permissionExtras": extra,
  "golden-gate.readOnlyShell": async () => unexaminedCase(shell)
}
