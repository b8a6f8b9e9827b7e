/** Calls of tools without a chat. */
import { isHandlerResult, type HandlerResult } from "@troupe/chat/results"
import type { Tool } from "@troupe/chat/tools"
import { Effect } from "effect"

/** Calls a tool by its name. */
export const call = async (
  { tools }: { readonly tools: ReadonlyArray<Tool.Tool> },
  name: string,
  args: Record<string, unknown> = {},
  { signal = new AbortController().signal, progress = () => {} }: Partial<Tool.ToolContext> = {}
): Promise<HandlerResult> => {
  const tool = tools.find((one) => one.name === name)
  if (tool === undefined || tool.handler === null) throw new Error(`no tool ${name}`)
  const answer = tool.handler(args, {
    context: {},
    sessionId: undefined,
    requestId: undefined,
    toolCall: { id: "c", name, arguments: args },
    signal,
    idempotencyKey: "k",
    progress,
    setPermissionMode: async () => {}
  })
  const result = await (Effect.isEffect(answer) ? Effect.runPromise(answer) : answer)
  if (!isHandlerResult(result)) throw new Error(`the tool ${name} of a server returned a part of a chat`)
  return result
}
