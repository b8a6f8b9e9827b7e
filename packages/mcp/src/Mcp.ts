/**
 * MCP servers as processes, and their tools as tools; agents and tools as an MCP server.
 *
 * @module
 * @source The Model Context Protocol, revisions 2025-11-25 and 2026-07-28
 */
export { connect, start, tools } from "./client/index.ts"
export type {
  Elicit,
  Elicitation,
  ElicitationAnswer,
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
  McpToolSettings,
  Sampling,
  SamplingRequest,
  SignIn,
  SignInStorage
} from "./connection/index.ts"
export {
  type McpAgent,
  type McpCaller,
  type McpDenied,
  type McpServeOptions,
  type McpService,
  serve
} from "./server/index.ts"
export { isDestructive } from "./tools/index.ts"
