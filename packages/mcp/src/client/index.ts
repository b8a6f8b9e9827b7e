/** MCP servers as processes. */
export { connect, start, tools } from "./servers.ts"
