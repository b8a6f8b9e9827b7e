/** The tools, resources and prompts of an MCP server, as those of a chat. */
export { type Attachments, attachmentsOf, attachmentTools } from "./attachments.ts"
export { isDestructive, listedBy, toolsOf } from "./mcpTools.ts"
export { signInTool } from "./signInTool.ts"
export { boundedText } from "./schemaBounds.ts"
export { acceptedName } from "./toolNames.ts"
