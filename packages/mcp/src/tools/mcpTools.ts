/**
 * Converts an MCP server's tools to ours.
 *
 * MCPT1. A fault in the schema of a tool refuses neither the server nor the tool: an unknown `type` and a reference to a
 *        missing part are left out of the schema, because a provider would refuse each request of the chat.
 * MCPT2. A tool reads if the server marks it so or the host says so. The host's word counts.
 * ELICIT2. A question of the server during a call of a live chat is a wait of that call. The answer reaches the server before or after a
 *          restart; a server that is gone by then leaves the outcome of the call unknown.
 * MCPT4. The outcome of a call that writes is unknown when the connection is lost before its result.
 * MCPT3. A structured result that does not fit the output schema of its tool is a failure of the call.
 */
import type { CallToolResult, Tool as McpTool } from "@modelcontextprotocol/client"
import { error, halt } from "@troupe/chat"
import { describe, ToolError, ValidationError } from "@troupe/chat/errors"
import type { HandlerResult } from "@troupe/chat/results"
import { jsonSchema, Tool } from "@troupe/chat/tools"
import {
  answersOf,
  type Asked,
  type AskedState,
  type CallEnd,
  type McpCall,
  McpError,
  type McpOptions,
  questionsOf
} from "../connection/index.ts"
import { handlerResult } from "./mcpResult.ts"
import { boundedSchema, boundedText, boundsOf, type Schema } from "./schemaBounds.ts"
import { acceptedNames } from "./toolNames.ts"

/** Calls a tool at the server, by the server's own name. */
export type Call = (call: McpCall) => Promise<CallEnd>

/** Tools whose calls go to `call`, with names that models accept. */
export const toolsOf = (
  listed: ReadonlyArray<McpTool>,
  about: Pick<McpOptions, "prefix" | "bounds" | "tool" | "deferred"> & { readonly server: string },
  call: Call
): ReadonlyArray<Tool.Tool> => {
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
    const { effect = reads ? "read" : "write" } = given
    return withSchema(boundedSchema(tool.inputSchema, about.bounds), {
      name: names.get(tool.name) ?? tool.name,
      description,
      handler: handlerOf(tool, { ...about, writes: effect === "write" }, call),
      onUnknown: annotations.idempotentHint === true ? "retry" : "ask",
      ...given,
      effect,
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

/**
 * The handler of a tool. What the server asks is a wait of the call (ELICIT2). A call whose connection was lost may have had an effect
 * (MCPT4).
 */
const handlerOf = (
  tool: McpTool,
  {
    server,
    bounds,
    writes
  }: { readonly server: string; readonly bounds?: McpOptions["bounds"]; readonly writes: boolean },
  call: Call
): NonNullable<Tool.Tool["handler"]> => {
  const output = tool.outputSchema === undefined ? undefined : jsonSchema(boundedSchema(tool.outputSchema, bounds))
  const resultFor = async (result: CallToolResult): Promise<HandlerResult> => {
    const { structuredContent, isError } = result
    if (output === undefined || isError === true) return handlerResult(result)
    const { issues } = await output["~standard"].validate(structuredContent)
    if (issues === undefined) return handlerResult(result)
    const found = issues.map(({ path = [], message }) => `${path.map(String).join(".")} ${message}`.trim()).join("; ")
    return error(`The structured result does not fit the output schema of the tool: ${found}`)
  }
  return async (args, { signal, progress, toolCall, chat, idempotencyKey: key }) => {
    try {
      const { waitFor, answered } = chat ?? {}
      const before = answered?.state as Kept | undefined
      const given = before && (await answersOf(before.requests, answered?.decisions ?? {}))
      if (before !== undefined && given !== undefined && given.wrong.length > 0 && waitFor !== undefined)
        return await waitFor(questionsOf(server, before.requests), before)
      const ends = Object.values(answered?.decisions ?? {}).find(({ type }) => type === "halt")
      const end = await call({
        name: tool.name,
        args,
        signal,
        progress,
        toolCall,
        key,
        mayWait: waitFor !== undefined && ends === undefined,
        answered: before && given && { answers: given.answers, state: before.state }
      })
      if (ends?.type === "halt") return halt(ends.reason ?? "halt", `The turn was ended while ${server} asked`)
      if (end.type === "result") return await resultFor(end.result)
      if (waitFor === undefined) return error(`${server} asks a person, and this call cannot wait`)
      const { requests, state } = end
      return await waitFor(questionsOf(server, requests), { requests, state } satisfies Kept)
    } catch (failure) {
      if (signal.aborted) throw failure
      const isLost = writes && failure instanceof McpError && failure.reason === "connection_lost"
      return error(isLost ? new ToolError("outcome_unknown", { message: failure.message }) : describe(failure))
    }
  }
}

/** What a call that asks gets back with the answers. */
interface Kept {
  readonly requests: Readonly<Record<string, Asked>>
  readonly state: AskedState
}
