/** Adapters for any AI SDK provider model, and MCP servers as tools. */
export { aiSdk, type AiSdkModel, type AiSdkOptions } from "./aiSdk/AiSdk.ts"
export * as Mcp from "./mcp/Mcp.ts"
export { McpError, type McpErrorReason } from "./mcp/McpError.ts"
