/** MCP servers as tools of chats, and agents and tools as an MCP server. */
export * as Mcp from "./Mcp.ts"
export { McpError, type McpErrorReason } from "./connection/McpError.ts"
