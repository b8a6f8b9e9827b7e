/**
 * Runs the cases that judge calls by permissions.
 *
 * @module
 */
import { tool as functionTool } from "@troupe/chat"
import { ToolError } from "@troupe/chat/errors"
import { Message } from "@troupe/chat/messages"
import { Permissions, runToolCalls } from "@troupe/chat/tools"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../runner/fields.ts"
import { unexaminedCase } from "../../runner/suite.ts"
import { compared, type DispatchCase, type Operation, type Operations, meanings } from "../dispatchCases.ts"
import { answering, callOf, type Judged, judge, modeOf, permissionsOf, wordOf } from "./permissionSetup.ts"

const unread = unexaminedCase("what a line for a shell does is not read; a host says it with `readOnly`")
const escape = unexaminedCase("no mode skips the list of refused tools")

/** The verdict on one call of a case, whose callback is given in words, and the questions about it. */
const single = async (name: unknown, args: Fields, given: Fields) => {
  const questions: Array<Parameters<Permissions.Ask>[0]> = []
  const { ask: word = "none" } = given
  const ask: Permissions.Ask = (question) => {
    questions.push(question)
    return textOf(word).includes("den") ? "deny" : "allow"
  }
  const judged = await judge(callOf(name, args), permissionsOf(given, word === "none" ? undefined : ask))
  const [question] = questions
  const askedWith = question && { tool: question.toolCall.name, args: question.toolCall.arguments }
  return { ...judged, word: wordOf(judged), asked: questions.length, askedWith }
}

type Variant = Parameters<typeof single>

/** Judges the calls of a case, each in all forms that its expectation may use. */
const checking =
  (variantsOf: (one: DispatchCase) => ReadonlyArray<Variant>): Operation =>
  async (one) => {
    const each = await Promise.all(variantsOf(one).map((variant) => single(...variant)))
    const [first] = each
    const verdicts = each.map(({ word }) => word)
    const asked = each.reduce((sum, { asked: count }) => sum + count, 0)
    const isPlain = one.operation === "check" && !textOf(one.expected["verdict"]).includes(":")
    // A list of equal verdicts can be written as one.
    const isOne = !Array.isArray(one.expected["verdicts"]) && verdicts.every((word) => word === first?.word)
    const all = {
      code: first?.code,
      metadata: first?.metadata,
      metadataOfFirst: first?.metadata,
      askedWith: first?.askedWith,
      verdict: isPlain ? first?.verdict : first?.word,
      verdicts: isOne ? `all ${first?.word}` : verdicts,
      askCalled: one.operation === "check" ? asked > 0 : asked
    }
    return compared(all, one)
  }

const checkWith: Operation = async (one) => {
  const variants = listOf(one.when["checkWith"]).map((variant): Fields => ({ ...one.given, ...fieldsOf(variant) }))
  const skips = (given: Fields) => given["respectDenyList"] === false && given["phase"] === "trusted" && "deny" in given
  return variants.some(skips) ? escape : checking(() => variants.map((given) => [given["tool"], {}, given]))(one)
}

const checkPlanMode: Operation = async (one) => {
  const action = textOf(one.when["checkPlanMode"])
  const { phase, runStartedIn, ask } = one.given
  const leaves = action === "exit" && phase === "plan" && runStartedIn === "plan"
  if (leaves && ask === undefined) return compared({ verdict: await leaving(one.given) }, one)
  return checking(() => [["plan_mode", { action }, one.given]])(one)
}

/** A tool of ours requests the mode itself: the result when the host requires a plan. */
const leaving = async (given: Fields): Promise<string> => {
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
  const permissions = permissionsOf({ ...given, phase: "plan" }, undefined)
  const { messages } = await runToolCalls([callOf("plan_mode", { action: "exit" })], [leave], { permissions })
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
  const { phase, tool, args, callback: ask, newest } = recorded
  const leaves = tool === "plan_mode" && phase === "plan" && fieldsOf(args)["action"] === "exit" && ask === "none"
  const verdict = leaves ? await leaving({}) : (await single(tool, fieldsOf(args), { phase, ask })).word
  return compared({ verdict }, { expected: { verdict: newest } })
}

const clamp: Operation = async ({ recorded: { a, b, result } }) =>
  compared({ mode: Permissions.clamp(modeOf(a), modeOf(b)) }, { expected: { mode: modeOf(result) } })

/** The title of a recorded check describes its input. */
const extra: Operation = async ({ recorded: { title: words, tool, phase }, expected }) => {
  const title = textOf(words)
  if (title.includes("respect_denylist false") && title.includes("trusted")) return escape
  const named = {
    ...(title.includes("denylist") ? { deny: [tool] } : {}),
    ...(title.includes("allowlist") ? { allow: title.includes("miss") ? ["read"] : [] } : {}),
    ...(title.includes("readonly") ? { readonlyOptIn: [tool] } : {})
  }
  if (Object.keys(named).length === 0) return unexaminedCase(`a recorded run that only its title describes: ${title}`)
  const { verdict, code, metadata } = await single(tool, {}, { phase, ...named })
  const { reason: _, ...denial } = fieldsOf(fieldsOf(fieldsOf(expected["result"])["deny"])["denial"])
  const required = expected["result"] === "allow" ? { verdict: "allow" } : { verdict: "deny", denial }
  return compared({ verdict, denial: { code, metadata } }, { expected: required })
}

/** The operations that judge calls by permissions, by the case's name. */
export const permissionOperations: Operations = {
  check: checking(({ when, given }) => [[when["check"], {}, given]]),
  checkEach: checking(({ when, given }) => listOf(when["checkEach"]).map((name) => [name, {}, given])),
  checkWith,
  checkShell: async (one) =>
    one.given["phase"] === "plan"
      ? unread
      : checking(({ when, given }) => [["bash", { command: textOf(when["checkShell"]) }, given]])(one),
  checkPlanMode,
  checkWithAskReturning,
  checkShellEach: async () => unread,
  "golden-gate.permissionMatrix": matrix,
  "golden-gate.phaseClamp": clamp,
  "golden-gate.permissionExtras": extra,
  "golden-gate.readOnlyShell": async () => unread
}
