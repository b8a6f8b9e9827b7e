/** Converts an MCP server's tools to ours, and its results to handler results. */
import type { CallToolResult, ContentBlock, Tool as McpTool } from "@modelcontextprotocol/sdk/types.js"
import { error, ok } from "@troupe/chat"
import type { HandlerResult } from "@troupe/chat/results"
import { Tool } from "@troupe/chat/tools"

/** Calls a tool at the server, by the server's own name. */
export type Call = (name: string, args: Record<string, unknown>, signal: AbortSignal) => Promise<CallToolResult>

/** Tools whose calls go to `call`. Names that models do not accept are changed, and stay distinct. */
export const toolsOf = (
  listed: ReadonlyArray<McpTool>,
  about: { readonly server: string; readonly prefix: string },
  call: Call
): ReadonlyArray<Tool.Tool> => {
  const taken = new Set<string>()
  return listed.map((tool) => {
    const name = freeName(about.prefix + tool.name, taken)
    taken.add(name)
    return Tool.make({
      name,
      description: tool.description ?? tool.title ?? "",
      parameters: tool.inputSchema,
      handler: handlerOf(tool.name, call),
      effect: tool.annotations?.readOnlyHint === true ? "read" : "write",
      metadata: {
        mcp: {
          server: about.server,
          name: tool.name,
          ...(tool.annotations === undefined ? {} : { annotations: tool.annotations })
        }
      }
    })
  })
}

const handlerOf =
  (name: string, call: Call): NonNullable<Tool.Tool["handler"]> =>
  async (args, { signal }) => {
    try {
      return handlerResult(await call(name, args, signal))
    } catch (failure) {
      if (signal.aborted) throw failure
      return error(failure instanceof Error ? failure.message : String(failure))
    }
  }

/** A structured result is preferred, text is joined, anything else becomes a list of its contents. */
const handlerResult = (result: CallToolResult): HandlerResult => {
  const content = result.content ?? []
  const parts = content.map(partOf)
  const isText = parts.every((part) => part.type === "text")
  const text = parts.map((part) => (part.type === "text" ? part.text : JSON.stringify(part))).join("\n")
  if (result.isError === true) return error(text === "" ? "The tool failed without saying why" : text)
  if (result.structuredContent !== undefined) return ok(result.structuredContent)
  return ok(isText ? text : parts)
}

type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly data: string; readonly mediaType: string }
  | { readonly type: "resource"; readonly uri: string; readonly data: string; readonly mediaType: string | undefined }
  | { readonly type: "resource_link"; readonly uri: string; readonly name: string }

const partOf = (block: ContentBlock): Part => {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text }
    case "image":
    case "audio":
      return { type: block.type, data: block.data, mediaType: block.mimeType }
    case "resource":
      return "text" in block.resource
        ? { type: "text", text: block.resource.text }
        : { type: "resource", uri: block.resource.uri, data: block.resource.blob, mediaType: block.resource.mimeType }
    case "resource_link":
      return { type: "resource_link", uri: block.uri, name: block.name }
  }
}

const freeName = (requested: string, taken: ReadonlySet<string>): string => {
  const plain = requested.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64)
  const base = Tool.nameProblem(plain) === undefined ? plain : `tool_${plain}`.slice(0, 64)
  let name = base
  for (let count = 2; taken.has(name); count++) name = `${base.slice(0, 63 - String(count).length)}_${count}`
  return name
}
