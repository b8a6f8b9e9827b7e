/**
 * Tasks of the protocol: calls that go on at the server when it has answered their request.
 *
 * CLTASK1. The result of a task is the result of its call. A call that is cancelled cancels its task at the server.
 * CLTASK2. What a task of the newer protocol asks is a wait of its call, also over a restart: the answer goes on with the same task. A question
 *          is asked once, also when the server repeats it until it has taken the answer.
 */
import {
  type CallToolResult,
  type Client,
  type ElicitResult,
  type InputRequiredResult,
  isCallToolResult,
  isInputRequiredResult,
  type JSONRPCMessage,
  type Transport
} from "@modelcontextprotocol/client"
import * as Effect from "effect/Effect"
import * as z from "zod"
import type { embeddedIn } from "./elicitation.ts"
import type { Asked, CallEnd } from "./mcpCall.ts"

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
  inputRequests: z.record(z.string(), z.looseObject({ method: z.string() })).optional(),
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

/** How a task is followed, and how its questions are answered. */
interface Following {
  readonly options: Options
  /** Sends a request. */
  readonly ask: <A>(run: (client: Client) => Promise<A>) => Promise<A>
  readonly embedded: (asked: InputRequiredResult) => ReturnType<typeof embeddedIn>
  /** The answers to questions; `undefined` if the call waits for those of a person. */
  readonly answers: (
    requests: Readonly<Record<string, Asked>>
  ) => Promise<Readonly<Record<string, ElicitResult>>> | undefined
}

/** Follows a task until it ends or a person must answer (CLTASK1, CLTASK2). `responses` are those that it asked for. */
export const taskEnd = async (
  taskId: string,
  { options, ask, embedded, answers }: Following,
  responses: Readonly<Record<string, unknown>> = {}
): Promise<CallEnd> => {
  const given = new Set<string>()
  for (let next = responses; ;) {
    for (const id of Object.keys(next)) given.add(id)
    if (Object.keys(next).length > 0) {
      const params = { taskId, inputResponses: { ...next } }
      await ask((client) => client.request({ method: "tasks/update", params }, result, options))
    }
    const now = await ask((client) => taskResult(client, taskId, options, given))
    if (!isInputRequiredResult(now)) return { type: "result", result: now }
    const { requests, state } = await embedded(now)
    const answering = answers(requests)
    const cancel = (): void => void ask((client) => cancelTask(client, taskId)).catch(() => {})
    if (answering === undefined) return { type: "asks", requests, state: { ...state, task: taskId }, cancel }
    next = { ...state.responses, ...(await unlessAborted(answering, options.signal, cancel)) }
  }
}

/** The value of a promise; a rejection when the signal is aborted before. */
const unlessAborted = async <A>(
  promise: Promise<A>,
  signal: AbortSignal | undefined,
  onAbort: () => void
): Promise<A> => {
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => {
    onAbort()
    aborted.reject(signal?.reason)
  }
  signal?.addEventListener("abort", abort, { once: true })
  if (signal?.aborted === true) abort()
  try {
    return await Promise.race([promise, aborted.promise])
  } finally {
    signal?.removeEventListener("abort", abort)
  }
}

const cancelTask = (client: Client, taskId: string): Promise<unknown> =>
  client.request({ method: "tasks/cancel", params: { taskId } }, result).catch(() => {})

/** The result of a task (CLTASK1), or what it asks besides what has an answer. */
const taskResult = async (
  client: Client,
  taskId: string,
  options: Options,
  given: ReadonlySet<string>
): Promise<CallToolResult | InputRequiredResult> => {
  const params = { taskId }
  const { signal } = options
  const onAbort = (): void => void cancelTask(client, taskId)
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
      const asked = Object.entries(now.inputRequests ?? {}).filter(([id]) => !given.has(id))
      if (now.status === "input_required" && asked.length > 0)
        return { resultType: "input_required", inputRequests: Object.fromEntries(asked) } as InputRequiredResult
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
