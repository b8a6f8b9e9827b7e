/**
 * The team: a tool that starts the agent `researcher`, and that agent.
 *
 * @module
 */
import type { TroupeOptions } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import type { Tool } from "@troupe/chat/tools"
import { ask, weather } from "./tools.ts"

/** The tool that gives a task to a researcher; its events show what the researcher does. */
export const research: Tool.Tool = Agents.subagent("researcher", {
  name: "research",
  description: "A researcher finds facts about one subject. Give each subject its own call.",
  events: true
})

/** The agents of the team. */
export const agents: NonNullable<TroupeOptions["agents"]> = {
  researcher: {
    instructions:
      "You are a researcher. Do the one task that you get with your tools. Ask a person when the task says so, and answer with short notes.",
    tools: [weather, ask],
    description: "Finds facts about one subject."
  }
}
