/**
 * Tasks of the protocol: calls that go on at the server when it has answered their request.
 *
 * CLTASK1. The result of a task is the result of its call. A call that is cancelled cancels its task at the server.
 * CLTASK2. A task of the newer protocol that asks is cancelled, and its call fails: its questions have no request that could wait.
 */
import {
  type CallToolResult,
  type Client,
  isCallToolResult,
  type JSONRPCMessage,
  type Transport
} from "@modelcontextprotocol/client"
import * as Effect from "effect/Effect"
import * as z from "zod"

/** The name of the extension of the newer protocol. */
export const tasksExtension = "io.modelcontextprotocol/tasks"

/** Where the client finds the task of a result: the SDK refuses any other result than that of a call. */
const mark = "troupe/task"

const Id = z.looseObject({ taskId: z.string() })
const Made = z.union([z.looseObject({ task: Id }), z.looseObject({ _meta: z.looseObject({ [mark]: Id }) })])
const State = z.looseObject({
  status: z.string(),
  pollIntervalMs: z.number().min(10).max(60_000).optional(),
  result: z.unknown().optional(),
  error: z.looseObject({ message: z.string() }).optional()
})
const result = z.looseObject({})

/** The options of the request that waits for a result. */
type Options = NonNullable<Parameters<Client["callTool"]>[1]>

/** Calls a tool of a server of the older protocol as a task. */
export const callAsTask = (
  client: Client,
  params: Parameters<Client["callTool"]>[0],
  options: Options
): Promise<unknown> => client.request({ method: "tools/call", params: { ...params, task: {} } }, result, options)

/** The task that a result names, if it does. */
export const taskIn = (made: unknown): string | undefined => {
  const { data } = Made.safeParse(made)
  if (data === undefined) return undefined
  return "task" in data ? Id.parse(data.task).taskId : Id.parse(data._meta?.[mark]).taskId
}

/** The result of a task (CLTASK1). */
export const taskResult = async (client: Client, taskId: string, options: Options): Promise<CallToolResult> => {
  const params = { taskId }
  const cancel = async (): Promise<void> => {
    await client.request({ method: "tasks/cancel", params }, result).catch(() => {})
  }
  const { signal } = options
  const onAbort = (): void => void cancel()
  signal?.addEventListener("abort", onAbort, { once: true })
  try {
    if (signal?.aborted === true) onAbort()
    if (client.getProtocolEra() !== "modern")
      return checked(await client.request({ method: "tasks/result", params }, result, options))
    for (;;) {
      const now = await client.request({ method: "tasks/get", params }, State, options)
      if (now.status === "completed") return checked(now.result)
      if (now.status === "failed") throw new Error(now.error?.message ?? "The task failed")
      if (now.status === "cancelled") throw new Error("The task was cancelled")
      if (now.status === "input_required") {
        await cancel()
        throw new Error("The server asks a person during a task, which cannot wait")
      }
      await Effect.runPromise(Effect.sleep(now.pollIntervalMs ?? 1_000), signal === undefined ? {} : { signal })
    }
  } finally {
    signal?.removeEventListener("abort", onAbort)
  }
}

const checked = (value: unknown): CallToolResult => {
  if (isCallToolResult(value)) return value
  throw new Error("The task ended without a result of a tool")
}

/** Has the client see the tasks that a server of the newer protocol makes of calls. Call it when the client is connected. */
export const withTasks = (transport: Transport): void => {
  const { onmessage } = transport
  transport.onmessage = (message, extra) => onmessage?.(marked(message), extra)
}

const marked = <M extends JSONRPCMessage>(message: M): M => {
  if (!("result" in message) || message.result["resultType"] !== "task") return message
  const { taskId, _meta } = message.result
  const made = { resultType: "complete", content: [], structuredContent: {} }
  return { ...message, result: { ...made, _meta: { ..._meta, [mark]: { taskId } } } }
}
