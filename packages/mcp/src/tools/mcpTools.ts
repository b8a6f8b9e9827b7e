/**
 * Converts an MCP server's tools to ours.
 *
 * MCPT1. A fault in the schema of a tool refuses neither the server nor the tool: an unknown `type` and a reference to a
 *        missing part are left out of the schema, because a provider would refuse each request of the chat.
 * MCPT2. A tool reads if the server marks it so or the host says so. The host's word counts.
 */
import type { Tool as McpTool } from "@modelcontextprotocol/client"
import { ValidationError } from "@troupe/chat/errors"
import { Tool } from "@troupe/chat/tools"
import { type About, type Call, handlerOf } from "./mcpHandler.ts"
import { boundedSchema, boundedText, boundsOf, type Schema } from "./schemaBounds.ts"
import { acceptedNames } from "./toolNames.ts"

/** Tools whose calls go to `call`, with names that models accept. */
export const toolsOf = (listed: ReadonlyArray<McpTool>, about: About, call: Call): ReadonlyArray<Tool.Tool> => {
  const { maxTools } = boundsOf(about.bounds)
  const seen = new Set<string>()
  const once = listed.filter(({ name }) => seen.size !== seen.add(name).size).slice(0, maxTools)
  const names = acceptedNames(
    once.map(({ name }) => name),
    about.prefix
  )
  return once.flatMap((tool) => {
    const { annotations = {} } = tool
    const description = boundedText(tool.description ?? tool.title ?? "", about.bounds)
    const settings = about.tool?.({ name: tool.name, description, annotations }) ?? {}
    if (settings === false) return []
    const { deferred = about.deferred, ...given } = settings
    const reads = annotations.readOnlyHint === true
    const { taskSupport } = tool.execution ?? {}
    const { effect = reads ? "read" : "write", background = taskSupport === "required" ? true : undefined } = given
    const asTask = taskSupport === "required" || (taskSupport === "optional" && background !== undefined)
    return withSchema(boundedSchema(tool.inputSchema, about.bounds), {
      name: names.get(tool.name) ?? tool.name,
      description,
      handler: handlerOf(tool, { ...about, writes: effect === "write", asTask }, call),
      onUnknown: annotations.idempotentHint === true ? "retry" : "ask",
      ...given,
      effect,
      background,
      ...(deferred === true && { deferred: { group: about.server } }),
      metadata: {
        mcp: {
          server: about.server,
          name: tool.name,
          ...(tool.annotations === undefined ? {} : { annotations })
        }
      }
    })
  })
}

/**
 * Whether the calls of a tool may destroy something: its server marks it with `destructiveHint`, and does not mark it as reading.
 *
 * **When to use**: in `ask` of the permissions, to ask a person about these calls only.
 *
 * @example
 * ```ts
 * const ask = ({ tool }) => (Mcp.isDestructive(tool) ? "suspend" : "allow")
 * const troupe = await Troupe.start({ adapter, tools: files.tools, permissions: { ask } })
 * ```
 */
export const isDestructive = (tool: Pick<Tool.Tool, "effect" | "metadata"> | undefined): boolean => {
  const mcp = tool?.metadata["mcp"] as { readonly annotations?: McpTool["annotations"] } | undefined
  return tool?.effect === "write" && mcp?.annotations?.destructiveHint === true
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

const without = (schema: Schema, paths: ReadonlyArray<ReadonlyArray<string | number>>): Schema => {
  const copy = structuredClone(schema)
  for (const path of paths) {
    const above = path.slice(0, -1).reduce<unknown>((value, key) => Reflect.get(value as object, key), copy)
    Reflect.deleteProperty(above as object, path.at(-1) ?? "")
  }
  return copy
}

/** The tools of a listing, which come from a server whose list can change. */
export const listedBy = (
  tools: ReadonlyArray<Tool.Tool>,
  current: () => ReadonlyArray<Tool.Tool>
): ReadonlyArray<Tool.Tool> => {
  const listed: Array<Tool.Tool> = []
  const origin = () => ({ listed, current: current() })
  for (const tool of tools) listed.push({ ...tool, origin })
  return listed
}
