/**
 * The handler of a tool of an MCP server.
 *
 * MCPT3. A structured result that does not fit the output schema of its tool is a failure of the call.
 * MCPT4. The outcome of a call that writes is unknown when the connection is lost before its result, or is gone when the call, which has asked,
 *        goes on.
 * MCPT5. The call of a tool that its server took away does not reach the server, and fails with the names of the tools that it has.
 * ELICIT2. A question of the server during a call of a live chat is a wait of that call. The answer reaches the server before or after a
 *          restart; a server that is gone by then leaves the outcome of the call unknown.
 */
import type { CallToolResult, Tool as McpTool } from "@modelcontextprotocol/client"
import { error, halt } from "@troupe/chat"
import { describe, ToolError } from "@troupe/chat/errors"
import type { HandlerResult } from "@troupe/chat/results"
import { type Decision, jsonSchema, type Tool } from "@troupe/chat/tools"
import {
  answersOf,
  type Asked,
  type AskedState,
  type CallEnd,
  type McpCall,
  McpError,
  type McpOptions,
  questionsOf,
  samplerOf
} from "../connection/index.ts"
import { handlerResult } from "./mcpResult.ts"
import { boundedSchema } from "./schemaBounds.ts"

/** Calls a tool at the server, by the server's own name. */
export type Call = (call: McpCall) => Promise<CallEnd>

/** The server of tools, and the options for them. */
export interface About extends Pick<McpOptions, "prefix" | "bounds" | "tool" | "deferred"> {
  readonly server: string
  /** What there is in place of a tool that the server took away; `undefined` for one that it has. */
  readonly gone?: ((name: string) => string | undefined) | undefined
}

/** The handler of a tool. */
export const handlerOf = (
  tool: McpTool,
  { server, bounds, writes, asTask, gone }: About & { readonly writes: boolean; readonly asTask: boolean },
  call: Call
): NonNullable<Tool.Tool["handler"]> => {
  const { outputSchema, ...definition } = tool
  const output = outputSchema === undefined ? undefined : jsonSchema(boundedSchema(outputSchema, bounds))
  const resultFor = async (result: CallToolResult): Promise<HandlerResult> => {
    const { structuredContent, isError } = result
    if (output === undefined || isError === true) return handlerResult(result)
    const { issues } = await output["~standard"].validate(structuredContent)
    if (issues === undefined) return handlerResult(result)
    const found = issues.map(({ path = [], message }) => `${path.map(String).join(".")} ${message}`.trim()).join("; ")
    return error(`The structured result does not fit the output schema of the tool: ${found}`)
  }
  return async (args, context) => {
    const { signal, progress, toolCall, chat, idempotencyKey: key } = context
    const isGone = gone?.(tool.name)
    if (isGone !== undefined) return error(isGone)
    const { waitFor, answered } = chat ?? {}
    const before = answered?.state as Kept | undefined
    // A server that needs a sign-in has refused the call.
    const hasBegun = before !== undefined && before.state.again !== true
    try {
      const answers = before && (await answersOf(before.requests, answered?.decisions ?? {}))
      if (before !== undefined && answers === undefined && waitFor !== undefined)
        return await waitFor(questionsOf(server, before.requests), before)
      const ends = Object.values(answered?.decisions ?? {}).find(({ type }) => type === "halt")
      const end = await call({
        name: tool.name,
        definition: output && definition,
        args,
        signal,
        progress,
        toolCall,
        key,
        asTask,
        mayWait: waitFor !== undefined && ends === undefined,
        sample: samplerOf(context),
        answered: before && answers && { answers, state: before.state, returned: returnedIn(answered?.decisions) }
      })
      if (ends?.type === "halt") return halt(ends.reason ?? "halt", `The turn was ended while ${server} asked`)
      if (end.type === "result") return await resultFor(end.result)
      if (waitFor === undefined) return error(`${server} asks a person, and this call cannot wait`)
      const { requests, state, cancel } = end
      return await waitFor(questionsOf(server, requests), { requests, state } satisfies Kept, cancel)
    } catch (failure) {
      if (signal.aborted) throw failure
      const isLost = failure instanceof McpError && (failure.reason === "connection_lost" || hasBegun)
      return error(
        writes && isLost ? new ToolError("outcome_unknown", { message: failure.message }) : describe(failure)
      )
    }
  }
}

/** The first answer, which is that to the page of a sign-in. */
const returnedIn = (decisions: Readonly<Record<string, Decision>> = {}): unknown => {
  const [first] = Object.values(decisions)
  return first?.type === "result" ? first.value : undefined
}

/** What a call that asks gets back with the answers. */
interface Kept {
  readonly requests: Readonly<Record<string, Asked>>
  readonly state: AskedState
}
