/**
 * The team: the tools that give the agents `researcher` and `scout` their work, and these agents.
 *
 * @module
 */
import type { TroupeOptions } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import type { Tool } from "@troupe/chat/tools"
import { ask, slowJob, weather } from "./tools.ts"

/**
 * The tools of the team. A researcher works while its call runs, and its events show what it does. The scout works in the background: the
 * chat goes on, and they send each other messages.
 */
export const team: ReadonlyArray<Tool.Tool> = [
  Agents.subagent("researcher", {
    name: "research",
    description: "A researcher finds facts about one subject. Give each subject its own call.",
    events: true
  }),
  Agents.subagent("scout", {
    description: "A scout looks around a place for a while, in the background. You can tell it something meanwhile.",
    background: true
  }),
  Agents.message()
]

/** The agents of the team. */
export const agents: NonNullable<TroupeOptions["agents"]> = {
  researcher: {
    instructions:
      "You are a researcher. Do the one task that you get with your tools. Ask a person when the task says so, and answer with short notes.",
    tools: [weather, ask],
    description: "Finds facts about one subject."
  },
  scout: {
    instructions:
      "You are a scout. Look around the place that you get, with the slow tool, until you are told to end. Tell your parent how far you are when it asks, and go where it sends you. Ask the person who comes before you write your notes.",
    tools: [slowJob, weather, ask, Agents.message({ to: ["parent"] })],
    description: "Looks around a place for a while."
  }
}
