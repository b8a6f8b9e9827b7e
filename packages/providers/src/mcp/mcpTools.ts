/**
 * Converts an MCP server's tools to ours.
 *
 * MCPT1. A fault in the schema of a tool refuses neither the server nor the tool: an unknown `type` and a reference to a
 *        missing part are left out of the schema, because a provider would refuse each request of the chat.
 */
import type { CallToolResult, Tool as McpTool } from "@modelcontextprotocol/sdk/types.js"
import { error } from "@troupe/chat"
import { ValidationError } from "@troupe/chat/errors"
import { Tool } from "@troupe/chat/tools"
import { handlerResult } from "./mcpResult.ts"

/** Calls a tool at the server, by the server's own name. */
export type Call = (name: string, args: Record<string, unknown>, signal: AbortSignal) => Promise<CallToolResult>

/** Tools whose calls go to `call`. Names that models do not accept are changed, and stay distinct. */
export const toolsOf = (
  listed: ReadonlyArray<McpTool>,
  about: { readonly server: string; readonly prefix: string },
  call: Call
): ReadonlyArray<Tool.Tool> => {
  const names = new Set<string>()
  return listed.map((tool) => {
    const name = freeName(about.prefix + tool.name, names)
    names.add(name)
    return withSchema(tool.inputSchema, {
      name,
      description: tool.description ?? tool.title ?? "",
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

/** The tool with a schema, without the faults of the schema (MCPT1). */
const withSchema = (parameters: Schema, options: Parameters<typeof Tool.make>[0]): Tool.Tool => {
  try {
    return Tool.make({ ...options, parameters })
  } catch (failure) {
    if (!(failure instanceof ValidationError)) throw failure
    // A finding names the tool, its parameters, and the path in them.
    const paths = failure.errors.map(({ field }) => field.slice(2))
    return Tool.make({ ...options, parameters: without(parameters, paths) })
  }
}

type Schema = Readonly<Record<string, unknown>>

const without = (schema: Schema, paths: ReadonlyArray<ReadonlyArray<string | number>>): Schema => {
  const copy = structuredClone(schema)
  for (const path of paths) {
    const above = path.slice(0, -1).reduce<unknown>((value, key) => Reflect.get(value as object, key), copy)
    Reflect.deleteProperty(above as object, path.at(-1) ?? "")
  }
  return copy
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

const freeName = (requested: string, names: ReadonlySet<string>): string => {
  const plain = requested.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64)
  const base = Tool.nameProblem(plain) === undefined ? plain : `tool_${plain}`.slice(0, 64)
  let name = base
  for (let count = 2; names.has(name); count++) name = `${base.slice(0, 63 - String(count).length)}_${count}`
  return name
}
