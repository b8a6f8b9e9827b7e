/**
 * Agents: definitions by name for the option `agents` of a Troupe, and the tools that start them as sub-agents.
 *
 * @module
 */
import type { AgentDefinitions } from "./agents/AgentDefinition.ts"
import { ask, message } from "./agents/messageTools.ts"
import { subagent } from "./agents/subagentTool.ts"
import { tasks } from "./agents/taskTools.ts"

/** Makes the tools that start agents as sub-agents, those by which agents send each other messages, and those for background tasks. */
export const Agents = { ask, message, subagent, tasks } as const

/** Definitions of agents, by name; one definition is an `Agents[string]`. */
export type Agents = AgentDefinitions
