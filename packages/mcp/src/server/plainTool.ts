/** A tool that runs without a chat, as a tool of the server. */
import type { McpServer, ServerContext } from "@modelcontextprotocol/server"
import { describe } from "@troupe/chat/errors"
import { runToolCalls, type Tool } from "@troupe/chat/tools"
import { type Answered, answerAt, ask, stateOf } from "./questions.ts"
import { failure, resultOf } from "./resultContent.ts"
import type { Serving } from "./served.ts"

/** Runs one call. A question of the tool is one to the user, and the answer is the result. */
export const callTool = async (
  { troupe, caller }: Serving,
  tool: Tool.Tool,
  server: McpServer,
  args: Record<string, unknown>,
  context: ServerContext
): Promise<Answered> => {
  if (stateOf(context) !== undefined) {
    const answer = answerAt(context, 0)
    return answer === undefined
      ? failure("The question was not answered")
      : { content: [{ type: "text", text: answer }] }
  }
  const { mcpReq } = context
  const toolCall = { id: `mcp_${mcpReq.id}`, name: tool.name, arguments: args }
  const options = { signal: mcpReq.signal, system: troupe.system, context: { owner: caller.owner } }
  try {
    const { messages, halt } = await runToolCalls([toolCall], [reporting(tool, context)], options)
    if (halt?.type === "question") return ask(server, context, [{ id: "tool", text: halt.question, kind: "text" }], "")
    const [message] = messages
    return message === undefined ? failure("The call was cancelled") : resultOf(message)
  } catch (error) {
    return failure(describe(error))
  }
}

/** The tool, with its progress also sent to the client. */
const reporting = (tool: Tool.Tool, { mcpReq }: ServerContext): Tool.Tool => {
  const { handler } = tool
  const progressToken = mcpReq._meta?.progressToken
  if (handler === null || progressToken === undefined) return tool
  let sent = 0
  return {
    ...tool,
    handler: (args, context) =>
      handler(args, {
        ...context,
        progress: (value) => {
          context.progress(value)
          sent += 1
          const params = { progressToken, progress: sent, ...progressOf(value) }
          mcpReq.notify({ method: "notifications/progress", params }).catch(() => {})
        }
      })
  }
}

/** The numbers and the text of a reported value; a value of any other form is a text. */
const progressOf = (value: unknown): { progress?: number; total?: number; message?: string } => {
  if (typeof value === "number") return { progress: value }
  if (typeof value === "string") return { message: value }
  if (typeof value !== "object" || value === null) return {}
  const { progress, total, message } = value as Readonly<Record<string, unknown>>
  return {
    ...(typeof progress === "number" ? { progress } : {}),
    ...(typeof total === "number" ? { total } : {}),
    ...(typeof message === "string" ? { message } : {})
  }
}
