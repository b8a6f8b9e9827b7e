/**
 * The tools by which the model of one agent hands the conversation over to another.
 *
 * HANDOFF1. The handoffs of a definition are its tools: a model has no tool for another target, and a call of one is a call of
 *           an unknown tool.
 * HANDOFF2. Of several completed handoffs in one message, the last in call order counts.
 * HANDOFF3. The result that a person gives for the call of a handoff hands nothing over: the call did not run.
 */
import * as z from "zod"
import type { ToolCall, ToolMessage } from "../model/index.ts"
import type { AgentRef, StepResult } from "../record/index.ts"
import { make, type Tool } from "../tool/index.ts"
import { ok } from "../values/index.ts"

/** The name of the tool that hands over to this agent. */
export const handoffTool = (agent: string): string => `handoff_to_${agent}`

/** The tool that hands over to an agent; it changes nothing itself, so it may be called again. */
export const makeHandoffTool = (agent: AgentRef, description: string | undefined): Tool => {
  const { name } = agent
  const purpose = description === undefined || description === "" ? "" : ` ${name}: ${description}`
  const made = make({
    name: handoffTool(name),
    description: `Hands the conversation over to the agent ${name}, who answers from then on.${purpose}`,
    parameters: z.strictObject({}),
    effect: "read",
    handler: () => ok(`The conversation continues with ${name}.`)
  })
  return { ...made, handoff: agent }
}

/** The agent that completed calls hand over to (HANDOFF2). */
const handedTo = (
  toolCalls: ReadonlyArray<ToolCall>,
  results: ReadonlyArray<ToolMessage>,
  toolsByName: ReadonlyMap<string, Tool>
): AgentRef | undefined => {
  const completed = new Set(results.filter(handsOver).map(({ toolCallId }) => toolCallId))
  const last = toolCalls.findLast(({ id, name }) => completed.has(id) && toolsByName.get(name)?.handoff !== undefined)
  return last === undefined ? undefined : toolsByName.get(last.name)?.handoff
}

/** The agent that the last results hand over to. If one does, those before them count too (HANDOFF2). */
export const handedToLast = (
  toolCalls: ReadonlyArray<ToolCall>,
  { all, last }: { readonly all: ReadonlyArray<ToolMessage>; readonly last: ReadonlyArray<ToolMessage> },
  toolsByName: ReadonlyMap<string, Tool>
): AgentRef | undefined =>
  handedTo(toolCalls, last, toolsByName) === undefined ? undefined : handedTo(toolCalls, all, toolsByName)

/** The agent that a step hands over to, which may continue with the open calls of a step before. */
export const handedToBy = (
  { response: { toolCalls, message }, toolResults: last, thread: { messages } }: StepResult,
  toolsByName: ReadonlyMap<string, Tool>
): AgentRef | undefined => {
  const at = message === undefined ? -1 : messages.lastIndexOf(message)
  const all = at === -1 ? last : messages.slice(at + 1).filter((one) => one.role === "tool")
  return handedToLast(toolCalls, { all, last }, toolsByName)
}

const mark = "handoff"

const handsOver = ({ outcome, metadata }: ToolMessage): boolean => outcome === "completed" && metadata?.[mark] !== false

/** The message with the result that a person gave for a call of this tool; that of a handoff is marked (HANDOFF3). */
export const givenResult = (tool: Tool | undefined, message: ToolMessage): ToolMessage =>
  tool?.handoff === undefined ? message : { ...message, metadata: { ...message.metadata, [mark]: false } }
