/** A server of the newer protocol that makes a task of each call, which asks how many. It sees the requests about tasks. */
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server"
import { listen } from "@troupe/server/Node"
import * as z from "zod"

const form = {
  method: "elicitation/create" as const,
  params: {
    mode: "form" as const,
    message: "How many?",
    requestedSchema: { type: "object", properties: { count: { type: "integer" } }, required: ["count"] }
  }
}

const made = { ttlMs: null, pollIntervalMs: 10 }

/** Starts it. `late` is how often it repeats a question that has its answer. */
export const taskServer = async (late = 0) => {
  const seen: Array<string> = []
  const updates: Array<unknown> = []
  let repeats = late
  let end: string | undefined
  const server = (): McpServer => {
    const shop = new McpServer(
      { name: "shop", version: "1.0.0" },
      { capabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } }
    )
    shop.registerTool("order", {}, () => {
      seen.push("call")
      const task = { ...made, resultType: "task", taskId: "t1", status: "working" }
      return { content: [], ...task }
    })
    shop.server.setRequestHandler("tasks/get", { params: z.object({ taskId: z.string() }) }, ({ taskId }) => {
      const isAsking = end === undefined || repeats-- > 0
      const asks = { status: "input_required", inputRequests: { how: form } }
      const done = { status: "completed", result: { content: [{ type: "text", text: end }] } }
      return { ...made, taskId, ...(isAsking ? asks : done) }
    })
    shop.server.setRequestHandler(
      "tasks/update",
      { params: z.object({ taskId: z.string() }) },
      ({ taskId }, { mcpReq }) => {
        seen.push(`update ${taskId}`)
        updates.push(mcpReq.inputResponses)
        end = "sold"
        return {}
      }
    )
    shop.server.setRequestHandler("tasks/cancel", { params: z.object({ taskId: z.string() }) }, ({ taskId }) => {
      seen.push(`cancel ${taskId}`)
      return {}
    })
    return shop
  }
  const { url, close } = await listen(
    { ...createMcpHandler(server, { legacy: "reject" }), hosts: undefined },
    { graceMs: 0 }
  )
  return { server: { url }, close, seen, updates }
}
