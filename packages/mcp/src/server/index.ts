/** Agents and tools as an MCP server. */
export type { McpAgent, McpCaller, McpDenied, McpServeOptions } from "./served.ts"
export { type McpService, serve } from "./serve.ts"
