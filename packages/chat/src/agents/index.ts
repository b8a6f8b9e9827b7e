/** Agents by name: their definitions, their engines and options, and the handoff from one to another. */
export type { AgentDefinitions } from "./AgentDefinition.ts"
export { agentOptionFindings, AgentTable } from "./agentTable.ts"
export type { Serving } from "./agentTable.ts"
export { agentOf, checkAgents, otherAgent, stamped } from "./chatAgent.ts"
export type { AskedAgent } from "./chatAgent.ts"
export { handedTo } from "./handoffTool.ts"
export { ServedTurn } from "./servedTurn.ts"
export type { ServesTurns, TurnOf } from "./servedTurn.ts"
