/**
 * Converts the answer of a hook to the verdict of its event.
 *
 * ANSW1. Total: a fault is a halt with the reason `hook_crashed`, and a value that is no answer means "go on". An
 *        answer that throws when it is read is a fault.
 * ANSW2. An answer whose request is invalid is a fault: arguments that are not an object, or a halt reason that is
 *        reserved, empty or no text.
 * ANSW3. An answer is read once. The verdict holds copies, so later changes by the hook have no effect.
 */
import { findingsFor, isRecord, ValidationError } from "../errors/index.ts"
import { type Message, unstorable } from "../model/index.ts"
import type { Denial } from "./permissionRules.ts"
import * as Validate from "../model/Validate.ts"
import { copied } from "../json/index.ts"
import { haltProblem, haltWord } from "./haltReason.ts"
import type { UserAnswer } from "../async/index.ts"
import { requestParams, type RequestParams } from "./requestParams.ts"
import { describe } from "../values/index.ts"

type Answered = Exclude<UserAnswer, { readonly type: "aborted" }>

/** The verdict of a hook before a call. */
export const preTool = (userAnswer: Answered): Exclude<PreToolVerdict, { readonly type: "aborted" }> => {
  const answer = answerIn(userAnswer)
  if (answer instanceof Fault) return crashed(answer.cause)
  if (answer.type === "halt") return halted(answer.reason)
  if (answer.type === "deny") return denied(answer.reason)
  if (answer.type !== "allow" || answer.arguments === undefined) return { type: "allow" }
  const args = answer.arguments
  return isArguments(args)
    ? { type: "allow", arguments: args }
    : crashed(new TypeError("the arguments that a hook gives a call are an object that JSON can say"))
}

/** The verdict of a hook after a call. */
export const postTool = (userAnswer: Answered): Exclude<PostToolVerdict, { readonly type: "aborted" }> => {
  const answer = answerIn(userAnswer)
  if (answer instanceof Fault) return crashed(answer.cause)
  if (answer.type === "halt") return halted(answer.reason)
  const { text } = answer
  return answer.type === "augment" && typeof text === "string" ? { type: "augment", text } : { type: "ok" }
}

/** The verdict of a lifecycle hook. */
export const lifecycle = (
  userAnswer: Answered
):
  | HookHalt
  | { readonly type: "ok" }
  | { readonly type: "inject"; readonly messages: ReadonlyArray<Message> }
  | { readonly type: "transform"; readonly prompt: string }
  | { readonly type: "params"; readonly params: RequestParams } => {
  const answer = answerIn(userAnswer)
  if (answer instanceof Fault) return crashed(answer.cause)
  switch (answer.type) {
    case "halt":
      return halted(answer.reason)
    case "inject":
      return { type: "inject", messages: messagesIn(answer.messages) }
    case "transform": {
      const { prompt } = answer
      return typeof prompt === "string" ? { type: "transform", prompt } : { type: "ok" }
    }
    case "params":
      return withParams(answer.params)
    default:
      return { type: "ok" }
  }
}

/** Invalid options, and options that hooks may not change, are a fault (ANSW2). */
const withParams = (params: unknown): HookHalt | { readonly type: "params"; readonly params: RequestParams } => {
  if (!isRecord(params)) return crashed(new TypeError("the params that a hook gave are no object"))
  const changeable = Object.keys(requestParams.shape).join(", ")
  const found = findingsFor(requestParams, params, () => `not a hook's to change; use ${changeable}`)
  return found.length > 0 ? crashed(new ValidationError("invalid_options", found)) : { type: "params", params }
}

/** A halt for this reason. */
const halted = (reason: unknown): HookHalt => {
  const problem = haltProblem(reason)
  return problem === undefined ? { type: "halt", reason: haltWord(reason) } : crashed(new Error(problem))
}

/** The halt of a hook that failed. */
export const crashed = (cause: unknown): HookHalt => ({
  type: "halt",
  reason: "hook_crashed",
  message: describe(cause),
  cause
})

const denied = (reason: unknown): PreToolVerdict & { readonly type: "deny" } => {
  if (isDenial(reason)) return { type: "deny", reason: reason.reason, denial: reason }
  return { type: "deny", reason: reason === undefined ? "a hook refused the call" : describe(reason) }
}

/** Whether a value can be a call's arguments: an object that JSON can represent. */
export const isArguments = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isRecord(value) && unstorable(value).length === 0

/** Whether a reason is a `Denial`. */
export const isDenial = (value: unknown): value is Denial =>
  isRecord(value) &&
  typeof value["reason"] === "string" &&
  typeof value["code"] === "string" &&
  isRecord(value["metadata"])

const messagesIn = (value: unknown): ReadonlyArray<Message> =>
  (Array.isArray(value) ? value : [value]).filter(isMessage)

/** Whether a hook may inject this message. Tool calls and tool results are excluded: only the loop pairs them. */
const isMessage = (value: unknown): value is Message =>
  isRecord(value) &&
  value["role"] !== "tool" &&
  value["toolCalls"] === undefined &&
  Validate.message(value as unknown as Message) === undefined &&
  unstorable(value).length === 0

/** The cause of a missing or unreadable answer. */
export class Fault {
  readonly cause: unknown

  constructor(cause: unknown) {
    this.cause = cause
  }
}

interface Answer {
  readonly type?: unknown
  readonly reason?: unknown
  readonly arguments?: unknown
  readonly text?: unknown
  readonly messages?: unknown
  readonly prompt?: unknown
  readonly params?: unknown
}

/** An answer's fields, read once (ANSW3); a word alone is the answer of that type. */
export const answerIn = (userAnswer: Answered): Answer | Fault => {
  if (userAnswer.type === "fault") return new Fault(userAnswer.cause)
  const { value } = userAnswer
  if (typeof value === "string") return { type: value }
  try {
    if (!isRecord(value)) return {}
    const { type, reason, arguments: args, text, messages, prompt, params } = value
    return {
      type,
      reason: reasonIn(reason),
      arguments: copied(args),
      text,
      messages: Array.isArray(messages) ? messages.map(messageIn) : messageIn(messages),
      prompt,
      params: isRecord(params) ? { ...params } : params
    }
  } catch (thrown) {
    return new Fault(thrown)
  }
}

/** A copy of a reason; an object with the fields of a `Denial` is reduced to those three fields. */
const reasonIn = (value: unknown): unknown => {
  if (!isRecord(value) || value instanceof Error) return value
  const { reason, code, metadata } = value
  const denial = { reason, code, metadata: copied(metadata) }
  return isDenial(denial) ? denial : copied(value)
}

const messageIn = (value: unknown): unknown => (isRecord(value) ? copied({ ...value }) : value)

/** A hook ended the turn: the reason, and for `hook_crashed` the exception. */
export interface HookHalt {
  readonly type: "halt"
  readonly reason: string
  readonly message?: string | undefined
  readonly cause?: unknown
}

/**
 * The verdict of the hooks before a call.
 *
 * - `allow`: the call runs; with `arguments`, it runs with these
 * - `deny`: the call does not run; `denial` is present if the hook answered with a `Denial`
 * - `halt`: the turn ends
 * - `aborted`: the signal was aborted
 */
export type PreToolVerdict =
  | { readonly type: "allow"; readonly arguments?: Readonly<Record<string, unknown>> | undefined }
  | { readonly type: "deny"; readonly reason: string; readonly denial?: Denial | undefined }
  | HookHalt
  | { readonly type: "aborted" }

/** The verdict of the hooks after a call: nothing, a text to add, or a halt with the text to add before it. */
export type PostToolVerdict =
  | { readonly type: "ok" }
  | { readonly type: "augment"; readonly text: string }
  | (HookHalt & { readonly text?: string | undefined })
  | { readonly type: "aborted" }
