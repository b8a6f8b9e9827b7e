/**
 * The verdicts about a call, and the verdict that follows from the answer of a person.
 *
 * GATE6. When a fault causes a refusal, the reason has no text of the fault; the denial's metadata and a halt's cause
 *        have it.
 */
import { copied, wellFormed } from "../json/index.ts"
import { unknownNames } from "../errors/index.ts"
import type { UserAnswer } from "../async/index.ts"
import type { ToolCall } from "../model/index.ts"
import { isProviderApproval } from "../tool/index.ts"
import { describe } from "../values/index.ts"
import { haltProblem, haltWord } from "./haltReason.ts"
import { answerIn, Fault, isArguments, isDenial } from "./hookVerdict.ts"
import { type Denial, denial, type Permissions } from "./permissionRules.ts"

/** The call may run, with the arguments it has here. */
interface Admitted {
  readonly type: "allow"
  readonly toolCall: ToolCall
  /** Whether its arguments were edited. */
  readonly edited: boolean
  /** The arguments that a person gave in place of the model's, if one did. A hook may have edited them again. */
  readonly given?: Readonly<Record<string, unknown>> | undefined
}

/** The call does not run; `reason` is for the model. */
export interface Refused {
  readonly type: "deny"
  readonly toolCall: ToolCall
  readonly reason: string
  readonly denial: Denial | undefined
}

/** A refusal with a `Denial` for programs. */
type Denied = Refused & { readonly denial: Denial }

/** The call does not run, and the turn ends. */
export interface Halted {
  readonly type: "halt"
  readonly toolCall: ToolCall
  readonly reason: string
  readonly message: string | undefined
  readonly cause: unknown
}

export type GateVerdict =
  | Admitted
  | Refused
  | Halted
  /** The call waits for a later answer. */
  | {
      readonly type: "suspend"
      readonly toolCall: ToolCall
      /** The milliseconds after which the call is refused without an answer. */
      readonly expiresMs: number | undefined
    }
  | { readonly type: "aborted" }

/** The verdict that follows from an answer about a call that asks to run, or to do what `requested` names. */
export const answered = (
  toolCall: ToolCall,
  userAnswer: Exclude<UserAnswer, { readonly type: "aborted" }>,
  { expiresMs }: Permissions,
  requested: string = "run"
): Admitted | Denied | Halted | Extract<GateVerdict, { readonly type: "suspend" }> => {
  const answer = answerIn(userAnswer)
  if (userAnswer.type === "fault") {
    const reason = `nobody could be asked whether ${toolCall.name} may ${requested}`
    return denied(toolCall, denial("unknown", reason, { fault: describe(userAnswer.cause) }))
  }
  const { value } = userAnswer
  if (answer instanceof Fault) {
    const fault = describe(answer.cause)
    const reason = "the question was answered with what cannot be read"
    return denied(toolCall, denial("unknown", reason, { fault }))
  }
  const strange = strangeIn(value, answer)
  if (strange !== undefined) {
    const reason = `the answer about ${toolCall.name} has what no answer has: ${strange}`
    return denied(toolCall, denial("unknown", reason, { raw: rawOf(value) }))
  }
  switch (answer.type) {
    case "allow": {
      const args = answer.arguments
      if (args === undefined) return { type: "allow", toolCall, edited: false }
      if (isProviderApproval(toolCall)) return unanswered(toolCall, value)
      return isArguments(args) ? { ...edited(toolCall, args), given: wellFormed(args) } : unanswered(toolCall, value)
    }
    case "deny": {
      const { reason } = answer
      if (isDenial(reason)) return denied(toolCall, reason)
      if (reason === undefined)
        return denied(toolCall, denial("user_denied", `${toolCall.name} was not allowed to ${requested}`))
      return denied(toolCall, denial("user_denied", describe(reason), { raw: reason }))
    }
    case "halt": {
      const { reason } = answer
      return haltProblem(reason) === undefined
        ? halted(toolCall, { reason: haltWord(reason) })
        : unanswered(toolCall, value)
    }
    case "suspend":
      return { type: "suspend", toolCall, expiresMs }
    default:
      return unanswered(toolCall, value)
  }
}

/** The fields of each answer. */
const members: ReadonlyMap<unknown, ReadonlyArray<string>> = new Map([
  ["allow", ["type", "arguments"]],
  ["deny", ["type", "reason"]],
  ["halt", ["type", "reason"]],
  ["suspend", ["type"]]
])

/** The unknown fields of an answer. Their author may have meant a restriction, so such an answer is a refusal. */
const strangeIn = (value: unknown, { type }: { readonly type?: unknown }): string | undefined => {
  const known = members.get(type)
  if (known === undefined || typeof value !== "object" || value === null) return undefined
  try {
    const found = unknownNames(value, known)
    if (found.length === 0) return undefined
    return found.map(({ field, reason }) => `${field.join(".")}: ${reason}`).join("; ")
  } catch (thrown) {
    return describe(thrown)
  }
}

/** The refusal for an invalid answer. */
const unanswered = (toolCall: ToolCall, value: unknown): Denied =>
  denied(
    toolCall,
    denial("unknown", `the question was answered with what is no answer: ${describe(value)}`, { raw: rawOf(value) })
  )

/** The answer as data. Reading a value may throw. */
const rawOf = (value: unknown): unknown => {
  try {
    return copied(value)
  } catch {
    return describe(value)
  }
}

export const denied = (toolCall: ToolCall, why: Denial): Denied => ({
  type: "deny",
  toolCall,
  reason: why.reason,
  denial: why
})

export const halted = (
  toolCall: ToolCall,
  {
    reason,
    message,
    cause
  }: { readonly reason: string; readonly message?: string | undefined; readonly cause?: unknown }
): Halted => ({ type: "halt", toolCall, reason, message, cause })

export const edited = (toolCall: ToolCall, args: Readonly<Record<string, unknown>>): Admitted => ({
  type: "allow",
  toolCall: calledWith(toolCall, args),
  edited: true
})

/** The call with edited arguments, and so without `rawArguments`. */
export const calledWith = (toolCall: ToolCall, args: Readonly<Record<string, unknown>>): ToolCall => {
  const { rawArguments: _, ...call } = toolCall
  return { ...call, arguments: wellFormed(args) }
}
