/**
 * What an answer of a hook means to its event.
 *
 * ANSW1. Total: a fault is a halt with the reason `hook_crashed`, and what is no answer means that all is well.
 * ANSW2. What says that something shall be done, and cannot be, is a fault: other arguments that are no object, a reserved
 *        reason to halt.
 */
import * as HandlerResult from "../HandlerResult.ts"
import type { HookHalt, PostToolVerdict, PreToolVerdict } from "../Hooks.ts"
import type { Message } from "../Message.ts"
import type { Denial } from "../Permissions.ts"
import { describe } from "../ToolResultEncoder.ts"
import * as Validate from "../Validate.ts"
import type { Heard } from "./hearing.ts"

type Answered = Exclude<Heard, { readonly type: "aborted" }>

/** Before a call. */
export const preTool = (heard: Answered): Exclude<PreToolVerdict, { readonly type: "aborted" }> => {
  if (heard.type === "fault") return crashed(heard.cause)
  const answer = detailed(heard.value)
  if (answer.type === "halt") return halted(answer["reason"])
  if (answer.type === "deny") return denied(answer["reason"])
  if (answer.type !== "allow" || answer["arguments"] === undefined) return { type: "allow" }
  const args = answer["arguments"]
  return isRecord(args)
    ? { type: "allow", arguments: args }
    : crashed(new TypeError("the arguments that a hook put in a call's place are no object"))
}

/** After a call. */
export const postTool = (heard: Answered): Exclude<PostToolVerdict, { readonly type: "aborted" }> => {
  if (heard.type === "fault") return crashed(heard.cause)
  const answer = detailed(heard.value)
  if (answer.type === "halt") return halted(answer["reason"])
  const { text } = answer
  return answer.type === "augment" && typeof text === "string" ? { type: "augment", text } : { type: "ok" }
}

/** In the life of a chat. */
export const lifecycle = (
  heard: Answered
):
  | HookHalt
  | { readonly type: "ok" }
  | { readonly type: "inject"; readonly messages: ReadonlyArray<Message> }
  | { readonly type: "transform"; readonly prompt: string } => {
  if (heard.type === "fault") return crashed(heard.cause)
  const answer = detailed(heard.value)
  switch (answer.type) {
    case "halt":
      return halted(answer["reason"])
    case "inject":
      return { type: "inject", messages: messagesIn(answer["messages"]) }
    case "transform": {
      const { prompt } = answer
      return typeof prompt === "string" ? { type: "transform", prompt } : { type: "ok" }
    }
    default:
      return { type: "ok" }
  }
}

/** A halt for this reason. */
export const halted = (reason: unknown): HookHalt => {
  const word = reason === undefined || reason === null ? "halt" : describe(reason)
  return HandlerResult.reservedHaltReasons.has(word)
    ? crashed(new Error(`"${word}" is a reserved halt reason; choose a word of your own`))
    : { type: "halt", reason: word }
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

/** Whether a reason is a refusal for programs. */
export const isDenial = (value: unknown): value is Denial =>
  isRecord(value) &&
  typeof value["reason"] === "string" &&
  typeof value["code"] === "string" &&
  isRecord(value["metadata"])

const messagesIn = (value: unknown): ReadonlyArray<Message> =>
  (Array.isArray(value) ? value : [value]).filter(isMessage)

const isMessage = (value: unknown): value is Message =>
  isRecord(value) && Validate.message(value as unknown as Message) === undefined

/** An answer as a record; a word alone is the answer of that type. */
export const detailed = (value: unknown): { readonly type?: unknown } & Readonly<Record<string, unknown>> => {
  if (typeof value === "string") return { type: value }
  return isRecord(value) ? value : {}
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
