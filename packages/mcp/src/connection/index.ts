/** One connection to an MCP server, and the options of a server. */
export type { Elicit, Elicitation, ElicitationAnswer } from "./elicitation.ts"
export { answersOf, questionsOf } from "./elicitation.ts"
export { McpConnection } from "./mcpConnection.ts"
export type { Asked, AskedState, CallEnd, McpCall } from "./mcpCall.ts"
export { McpError } from "./McpError.ts"
export type {
  McpBounds,
  McpHealth,
  McpLog,
  McpOptions,
  McpPrompt,
  McpResource,
  McpRestarts,
  McpRoot,
  McpServer,
  McpServerParams,
  McpToolInfo,
  McpToolSettings
} from "./mcpServer.ts"
export { type Sampling, type SamplingRequest, samplerOf } from "./sampling.ts"
export { isSignIn, type SignIn, signInPage, SignInProvider, type SignInStorage } from "./signIn.ts"
