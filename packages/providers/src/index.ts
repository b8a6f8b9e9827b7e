/** Adapters for any AI SDK provider model, and MCP servers as tools. */
export { aiSdk, type AiSdkModel, type AiSdkOptions } from "./AiSdk.ts"
export * as Mcp from "./Mcp.ts"
export { McpError, type McpErrorReason } from "./McpError.ts"
