/**
 * Agents: definitions by name, for the option `agents` of a Troupe.
 *
 * @module
 */
export type { AgentDefinition } from "./agents/AgentDefinition.ts"
