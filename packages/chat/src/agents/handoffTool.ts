/**
 * The tools by which the model of one agent hands the conversation over to another.
 *
 * HANDOFF1. The handoffs of a definition are its tools: a model has no tool for another target, and a call of one is a call of
 *           an unknown tool.
 * HANDOFF2. Of several completed handoffs in one message, the last in call order counts.
 */
import type { ToolCall, ToolMessage } from "../model/index.ts"
import type { AgentRef, StepResult } from "../record/index.ts"
import { make, type Tool } from "../tool/index.ts"
import { ok } from "../values/index.ts"

/** The name of the tool that hands over to this agent. */
export const handoffTool = (agent: string): string => `handoff_to_${agent}`

/** The targets of the tools made here. */
const targets = new WeakMap<Tool, AgentRef>()

/** The tool that hands over to an agent; it changes nothing itself, so it may be called again. */
export const makeHandoffTool = (agent: AgentRef, description: string | undefined): Tool => {
  const { name } = agent
  const purpose = description === undefined || description === "" ? "" : ` ${name}: ${description}`
  const made = make({
    name: handoffTool(name),
    description: `Hands the conversation over to the agent ${name}, who answers from then on.${purpose}`,
    parameters: { type: "object", properties: {}, additionalProperties: false },
    effect: "read",
    handler: () => ok(`The conversation continues with ${name}.`)
  })
  targets.set(made, agent)
  return made
}

/** The agent that completed calls hand over to (HANDOFF2). */
export const handedTo = (
  toolCalls: ReadonlyArray<ToolCall>,
  results: ReadonlyArray<ToolMessage>,
  toolsByName: ReadonlyMap<string, Tool>
): AgentRef | undefined => {
  const completed = new Set(results.flatMap((result) => (result.outcome === "completed" ? [result.toolCallId] : [])))
  const last = toolCalls.findLast(({ id, name }) => completed.has(id) && targetOf(toolsByName.get(name)) !== undefined)
  return last === undefined ? undefined : targetOf(toolsByName.get(last.name))
}

/** The agent that a step hands over to. The calls of its message that were over before it count too, if one of its own hands over. */
export const handedToBy = (
  { response: { toolCalls, message }, toolResults, thread: { messages } }: StepResult,
  toolsByName: ReadonlyMap<string, Tool>
): AgentRef | undefined => {
  const target = handedTo(toolCalls, toolResults, toolsByName)
  const at = target === undefined || message === undefined ? -1 : messages.lastIndexOf(message)
  const results = messages.slice(at + 1).filter((one) => one.role === "tool")
  return at === -1 ? target : handedTo(toolCalls, results, toolsByName)
}

const targetOf = (tool: Tool | undefined): AgentRef | undefined => (tool === undefined ? undefined : targets.get(tool))
