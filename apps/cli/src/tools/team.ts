/**
 * The team of the demo: a tool that starts the agent `researcher`, and that agent.
 *
 * @module
 */
import type { TroupeOptions } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import type { Tool } from "@troupe/chat/tools"

/** The tool that gives a task to a researcher. */
export const researchTool: Tool.Tool = Agents.subagent("researcher", {
  name: "research",
  description: "A researcher works on one task. Give each task its own call.",
  events: true
})

/** The agents of the team; a researcher has these tools. */
export const teamOf = (tools: ReadonlyArray<Tool.Tool>): NonNullable<TroupeOptions["agents"]> => ({
  researcher: {
    instructions: "You are a researcher. Do the one task that you get with your tools, and answer with short notes.",
    tools,
    description: "Works on one task."
  }
})
