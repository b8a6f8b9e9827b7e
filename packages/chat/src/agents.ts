/**
 * Agents: definitions by name for the option `agents` of a Troupe, and the tools that start them as sub-agents.
 *
 * @module
 */
import type { AgentDefinitions } from "./agents/AgentDefinition.ts"
import { board } from "./agents/boardTools.ts"
import { ask, message } from "./agents/messageTools.ts"
import { subagent } from "./agents/subagentTool.ts"
import { tasks } from "./agents/taskTools.ts"

/** Makes the tools that start agents as sub-agents, those of messages between agents, of background tasks, and of the board of a team. */
export const Agents = { ask, board, message, subagent, tasks } as const

/** Definitions of agents, by name; one definition is an `Agents[string]`. */
export type Agents = AgentDefinitions
