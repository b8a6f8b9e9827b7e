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
 */
import * as Hooks from "./Hooks.ts"
import { check, type Permissions, type Question } from "./permissionRules.ts"
import type { ToolCall } from "../model/index.ts"
import { copied } from "../json/index.ts"
import { callUser } from "../async/index.ts"
import type { Mode } from "../record/index.ts"
import { answered, denied, edited, type GateVerdict, halted, type Refused } from "./permissionAnswer.ts"
import { isProviderApproval, type Tool } from "../tool/index.ts"

/** The rules that judge calls. */
export interface Gate extends Hooks.HookRun {
  readonly permissions?: Permissions | undefined
  readonly hooks?: Hooks.Hooks | undefined
  /** The mode of the run; default: the mode of the permissions. */
  readonly mode?: Mode | undefined
  /** The thread before the message of the calls. Default: empty. */
  readonly messages?: Question["messages"] | undefined
}

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
  const ask = permissions.ask ?? (isProviderApproval(toolCall) || needsApproval(toolCall, tool) ? suspend : undefined)
  const verdict = check(toolCall, tool, { ...permissions, ask }, { mode })
  if (verdict.type === "deny") return denied(toolCall, verdict.denial)
  if (verdict.type === "allow" || ask === undefined) return { type: "allow", toolCall, edited: false }
  if (hooks !== undefined) {
    await Hooks.notify(hooks, "PermissionRequest", { ...Hooks.toolUse(toolCall), mode }, gate)
  }
  const { signal, system, context = {}, messages = [] } = gate
  const question = (asking: AbortSignal): Question => ({
    toolCall: copied(toolCall),
    tool,
    mode,
    context,
    messages,
    signal: asking
  })
  const userAnswer = await callUser((asking) => ask(question(asking)), { signal, system })
  return userAnswer.type === "aborted" ? userAnswer : answered(toolCall, userAnswer, permissions)
}

/** Whether a call of this tool may wait for a person, by the tool's own definition. */
export const mayNeedApproval = (tool: Pick<Tool, "name" | "needsApproval"> | undefined): boolean =>
  (tool?.needsApproval ?? false) !== false

/** Whether a tool says that this call waits for a person. */
const needsApproval = (toolCall: ToolCall, tool: Tool | undefined): boolean => {
  if (typeof tool?.needsApproval !== "function") return tool?.needsApproval === true
  try {
    const answer: unknown = tool.needsApproval(copied(toolCall).arguments ?? {})
    return answer !== false
  } catch {
    return true
  }
}

/** A call that its provider or its tool asks about waits when no rule and no person decides (PAPPROVAL1). */
const suspend = (): "suspend" => "suspend"

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
