/**
 * Agents: definitions by name for the option `agents` of a Troupe, and the tools that start them as sub-agents.
 *
 * @module
 */
import type { AgentDefinitions } from "./agents/AgentDefinition.ts"
import { ask, message } from "./agents/messageTools.ts"
import { subagent } from "./agents/subagentTool.ts"

/** Makes the tools that start agents as sub-agents, and those by which agents send each other messages. */
export const Agents = { ask, message, subagent } as const

/** Definitions of agents, by name; one definition is an `Agents[string]`. */
export type Agents = AgentDefinitions
