/** MCP servers as tools of chats. */
export * as Mcp from "./Mcp.ts"
export { McpError, type McpErrorReason } from "./connection/McpError.ts"
