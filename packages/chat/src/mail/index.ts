/** The messages that agents send each other. */
export { AgentMail } from "./agentMail.ts"
export { Boards } from "./board.ts"
