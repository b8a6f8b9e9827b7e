/** The messages that agents send each other. */
export { AgentMail } from "./agentMail.ts"
