/**
 * The gate before a tool call: the lists and the mode, the question to a person, then the `PreToolUse` hooks.
 *
 * GATE1. Total: the gate returns exactly one verdict. A question that fails or gets an invalid answer is a refusal with
 *        the code `unknown`; a hook that fails is a halt.
 * GATE2. The calls of a batch are judged one after another, in call order: questions never overlap.
 * GATE3. After a halt no further call is judged.
 * GATE4. When its signal is aborted, the gate returns `aborted` at once and aborts the signal of the pending question
 *        or hook.
 * GATE5. Edited arguments replace the call's own for the next judge and for the handler. A question and a hook get
 *        copies of the call, so their changes to it have no effect.
 * GATE6. When a fault causes a refusal, the reason has no text of the fault; the denial's metadata and a halt's cause
 *        have it.
 */
import * as Hooks from "./Hooks.ts"
import { check, type Denial, denial, type Permissions, type Question } from "./permissionRules.ts"
import type { ToolCall } from "../model/index.ts"
import { copied, wellFormed } from "../json/index.ts"
import { haltProblem, haltWord } from "./haltReason.ts"
import { callUser, type UserAnswer } from "../async/index.ts"
import { answerIn, Fault, isArguments, isDenial } from "./hookVerdict.ts"
import { unknownNames } from "../errors/index.ts"
import type { Mode } from "../record/index.ts"
import { isProviderApproval, type Tool } from "../tool/index.ts"
import { describe } from "../values/index.ts"

/** The rules that judge calls. */
export interface Gate extends Hooks.HookRun {
  readonly permissions?: Permissions | undefined
  readonly hooks?: Hooks.Hooks | undefined
  /** The mode of the run; default: the mode of the permissions. */
  readonly mode?: Mode | undefined
}

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

/** Whether these options require a gate. */
export const isGated = ({ permissions, hooks }: Pick<Gate, "permissions" | "hooks">): boolean =>
  permissions !== undefined || Hooks.has(hooks, "PreToolUse")

/**
 * Judges calls one after another; the returned list ends at a halt. `judging` is called before each call, and returns the
 * signal that ends the wait for that call.
 */
export const gateBatch = async (
  calls: ReadonlyArray<{ readonly toolCall: ToolCall; readonly tool: Tool | undefined }>,
  gate: Gate,
  judging: (position: number) => AbortSignal = () => gate.signal
): Promise<ReadonlyArray<GateVerdict>> => {
  const verdicts: Array<GateVerdict> = []
  for (const { toolCall, tool } of calls) {
    const verdict = await gateCall(toolCall, tool, { ...gate, signal: judging(verdicts.length) })
    verdicts.push(verdict)
    if (verdict.type === "halt" || gate.signal.aborted) break
  }
  return verdicts
}

/** Judges one call. A tool that does not exist is judged by its name. */
export const gateCall = async (toolCall: ToolCall, tool: Tool | undefined, gate: Gate): Promise<GateVerdict> => {
  const permitted = await permit(toolCall, tool, gate)
  if (permitted.type === "deny") return refuse(permitted, gate)
  if (permitted.type !== "allow") return permitted
  const { hooks } = gate
  if (hooks === undefined) return permitted
  const verdict = await Hooks.preTool(hooks, permitted.toolCall, gate)
  switch (verdict.type) {
    case "aborted":
      return verdict
    case "halt":
      return halted(permitted.toolCall, verdict)
    case "deny":
      return refuse(
        { type: "deny", toolCall: permitted.toolCall, reason: verdict.reason, denial: verdict.denial },
        gate
      )
    case "allow":
      return verdict.arguments === undefined
        ? permitted
        : { ...permitted, ...edited(permitted.toolCall, verdict.arguments) }
  }
}

/** The lists, the mode, and the question. */
const permit = async (toolCall: ToolCall, tool: Tool | undefined, gate: Gate): Promise<GateVerdict> => {
  const { permissions = {}, hooks } = gate
  const mode = gate.mode ?? permissions.mode ?? "default"
  const ask = permissions.ask ?? (isProviderApproval(toolCall) ? suspend : undefined)
  const verdict = check(toolCall, tool, { ...permissions, ask }, { mode })
  if (verdict.type === "deny") return denied(toolCall, verdict.denial)
  if (verdict.type === "allow" || ask === undefined) return { type: "allow", toolCall, edited: false }
  if (hooks !== undefined) {
    await Hooks.notify(hooks, "PermissionRequest", { ...Hooks.toolUse(toolCall), mode }, gate)
  }
  const { signal, system, context = {} } = gate
  const question = (asking: AbortSignal): Question => ({
    toolCall: copied(toolCall),
    tool,
    mode,
    context,
    signal: asking
  })
  const userAnswer = await callUser((asking) => ask(question(asking)), { signal, system })
  return userAnswer.type === "aborted" ? userAnswer : answered(toolCall, userAnswer, permissions)
}

/** A call that its provider asks about waits when no rule and no person decides (PAPPROVAL1). */
const suspend = (): "suspend" => "suspend"

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

const denied = (toolCall: ToolCall, why: Denial): Denied => ({
  type: "deny",
  toolCall,
  reason: why.reason,
  denial: why
})

const halted = (
  toolCall: ToolCall,
  {
    reason,
    message,
    cause
  }: { readonly reason: string; readonly message?: string | undefined; readonly cause?: unknown }
): Halted => ({ type: "halt", toolCall, reason, message, cause })

const edited = (toolCall: ToolCall, args: Readonly<Record<string, unknown>>): Admitted => ({
  type: "allow",
  toolCall: calledWith(toolCall, args),
  edited: true
})

/** The call with edited arguments, and so without `rawArguments`. */
export const calledWith = (toolCall: ToolCall, args: Readonly<Record<string, unknown>>): ToolCall => {
  const { rawArguments: _, ...call } = toolCall
  return { ...call, arguments: wellFormed(args) }
}

/** Calls the hooks of a refusal and ignores their answers. */
export const refuse = async (refused: Refused, gate: Gate): Promise<Refused> => {
  const { hooks } = gate
  if (hooks === undefined) return refused
  const use = Hooks.toolUse(refused.toolCall)
  await Hooks.notify(hooks, "PermissionDenied", { ...use, reason: refused.reason }, gate)
  if (refused.denial !== undefined) {
    await Hooks.notify(hooks, "ToolDenied", { ...use, denial: refused.denial }, gate)
  }
  return refused
}
