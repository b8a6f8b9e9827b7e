/**
 * Calls of agents as tasks of the protocol: a call goes on when its request has ended, and the client asks for its result.
 *
 * Owns: the tasks of a service, in memory. Does not own the turns, which end by themselves.
 *
 * MCPTASK1. In the older protocol a call is a task when the client asks for one; in the newer one when it lasts longer than `taskAfterMs`, and
 *           the client takes tasks. Any other call has its result in its request.
 * MCPTASK2. A task belongs to its owner: for anybody else it does not exist. A cancel of a task cancels its turn; the end of a connection
 *           does not.
 * MCPTASK4. In the newer protocol a task asks by forms, and goes on with the answers. In the older one the text of the question is its result.
 * MCPTASK3. A service has at most 1,000 tasks. A new one takes the place of the oldest that has ended; without such the call is no task.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  isInputRequiredResult,
  type JSONRPCMessage,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
  type Transport
} from "@modelcontextprotocol/server"
import type { RunningTroupe } from "@troupe/chat"
import { System } from "@troupe/otp"
import * as DateTime from "effect/DateTime"
import * as z from "zod"
import type { Answered } from "./questions.ts"
import { failure } from "./resultContent.ts"

/** The name of the extension of the newer protocol. */
const extension = "io.modelcontextprotocol/tasks"

/** Where a handler finds that the client of the older protocol asks for a task. */
const wish = "troupe/task"

const most = 1_000

/** How often a client of the newer protocol may ask for the state of a task, in milliseconds. */
const pollMs = 1_000

type End = { readonly status: "completed" | "cancelled"; readonly result: CallToolResult }

interface Task {
  readonly id: string
  readonly owner: string
  readonly createdAt: number
  updatedAt: number
  readonly cancel: AbortController
  readonly result: Promise<CallToolResult>
  asked: Asked | undefined
  end: End | undefined
}

/** What a task asks: each question has an id of its own in the task. */
interface Asked {
  readonly requests: NonNullable<InputRequiredResult["inputRequests"]>
  readonly responses: Record<string, unknown>
  readonly answered: () => void
}

/** What tasks need of the server of a caller. */
interface Owned {
  readonly troupe: Pick<RunningTroupe, "system">
  readonly options: { readonly taskAfterMs?: number | undefined }
  readonly caller: { readonly owner: string }
}

const ById = z.object({ taskId: z.string() })

/** The tasks of a service. */
export class Tasks {
  readonly #all = new Map<string, Task>()

  /** Runs a call as a task, if the client takes one (MCPTASK1). */
  async run(
    { troupe, options, caller }: Owned,
    context: ServerContext,
    call: (context: ServerContext) => Promise<Answered>
  ): Promise<Answered> {
    const { mcpReq } = context
    const isNew = takesTasks(context)
    if ((!isNew && mcpReq._meta?.[wish] === undefined) || !this.#hasRoom()) return call(context)
    const cancel = new AbortController()
    const abort = (): void => cancel.abort(mcpReq.signal.reason)
    mcpReq.signal.addEventListener("abort", abort, { once: true })
    const { clock } = troupe.system
    try {
      if (mcpReq.signal.aborted) abort()
      const within = { ...context, mcpReq: { ...mcpReq, signal: cancel.signal } }
      const running = call(within)
      if (isNew) {
        const { promise: late, resolve } = Promise.withResolvers<undefined>()
        const timer = clock.setTimeout(() => resolve(undefined), options.taskAfterMs ?? 10_000)
        const first = await Promise.race([running, late]).finally(() => clock.clearTimeout(timer))
        if (first !== undefined) return first
      }
      const now = clock.now()
      const asks = (asked: Asked | undefined): void => {
        task.asked = asked
      }
      const task: Task = {
        id: System.uuid(troupe.system, "task"),
        owner: caller.owner,
        createdAt: now,
        updatedAt: now,
        cancel,
        result: (isNew ? followed(running, { asks, context: within, call }) : running.then(withoutForms)).catch(
          (error: unknown) => failure(String(error))
        ),
        asked: undefined,
        end: undefined
      }
      this.#all.set(task.id, task)
      void ended(task, clock)
      const made = { content: [], structuredContent: { text: "", conversation: "" } }
      return isNew ? { ...made, resultType: "task", ...newer(task) } : { ...made, task: older(task) }
    } finally {
      mcpReq.signal.removeEventListener("abort", abort)
    }
  }

  /** Answers the requests about tasks. */
  addTo({ server }: McpServer, { caller }: Pick<Owned, "caller">): void {
    const find = ({ taskId }: z.infer<typeof ById>): Task => {
      const task = this.#all.get(taskId)
      if (task?.owner === caller.owner) return task
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no such task")
    }
    const shown = (task: Task, context: ServerContext) =>
      context.mcpReq.envelope === undefined ? older(task) : newer(task)
    server.registerCapabilities({
      tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
      extensions: { [extension]: {} }
    })
    server.setRequestHandler("tasks/get", { params: ById }, (params, context) => shown(find(params), context))
    server.setRequestHandler("tasks/update", { params: ById }, (params, { mcpReq }) => {
      const { asked } = find(params)
      if (asked === undefined) return {}
      Object.assign(asked.responses, mcpReq.inputResponses)
      if (Object.keys(asked.requests).every((id) => Object.hasOwn(asked.responses, id))) asked.answered()
      return {}
    })
    server.setRequestHandler("tasks/cancel", { params: ById }, async (params, context) => {
      const task = find(params)
      task.cancel.abort()
      await task.result
      return context.mcpReq.envelope === undefined ? older(task) : {}
    })
    server.setRequestHandler("tasks/result", { params: ById }, async (params) => {
      const { id, result } = find(params)
      return { ...(await result), _meta: { "io.modelcontextprotocol/related-task": { taskId: id } } }
    })
    server.setRequestHandler("tasks/list", { params: z.object({}) }, () => ({
      tasks: Array.from(this.#all.values())
        .filter(({ owner }) => owner === caller.owner)
        .map(older)
    }))
  }

  #hasRoom(): boolean {
    if (this.#all.size < most) return true
    const [oldest] = Array.from(this.#all.values()).filter(({ end }) => end !== undefined)
    return oldest !== undefined && this.#all.delete(oldest.id)
  }
}

/** How a task is followed: `asks` shows what it asks now, and `call` goes on with the answers until the signal of `context` is aborted. */
interface Following {
  readonly asks: (asked: Asked | undefined) => void
  readonly context: ServerContext
  readonly call: (context: ServerContext) => Promise<Answered>
}

/** The result of a task, which asks before it (MCPTASK4). */
const followed = async (first: Promise<Answered>, { asks, context, call }: Following): Promise<CallToolResult> => {
  const { signal } = context.mcpReq
  let answered = await first
  for (let round = 1; isInputRequiredResult(answered); round++) {
    const { inputRequests = {}, requestState } = answered
    const idOf = (id: string): string => `${round}.${id}`
    const requests = Object.fromEntries(Object.entries(inputRequests).map(([id, asked]) => [idOf(id), asked]))
    const { promise, resolve } = Promise.withResolvers<void>()
    const responses: Record<string, unknown> = {}
    asks({ requests, responses, answered: resolve })
    const abort = (): void => resolve()
    signal.addEventListener("abort", abort, { once: true })
    if (!signal.aborted) await promise
    signal.removeEventListener("abort", abort)
    asks(undefined)
    if (signal.aborted) return failure("The task was cancelled while it asked")
    const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((id) => [id, responses[idOf(id)]]))
    const mcpReq = { ...context.mcpReq, inputResponses, requestState: () => requestState as never }
    answered = await call({ ...context, mcpReq })
  }
  return answered
}

const ended = async (task: Task, clock: Pick<System.System["clock"], "now">): Promise<void> => {
  const result = await task.result
  task.updatedAt = clock.now()
  task.end = { status: task.cancel.signal.aborted ? "cancelled" : "completed", result }
}

/** Whether the client of the newer protocol takes tasks. */
const takesTasks = ({ mcpReq }: ServerContext): boolean => {
  const sent: { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } = mcpReq.envelope ?? {}
  return sent[CLIENT_CAPABILITIES_META_KEY]?.extensions?.[extension] !== undefined
}

/** The questions of a task, as text: the client answers with its next call (ASKED1). */
const withoutForms = (answered: Answered): CallToolResult => {
  if (!isInputRequiredResult(answered)) return answered
  const { inputRequests = {}, requestState = "{}" } = answered
  const messages = Object.values(inputRequests).map(({ params }) =>
    params && "message" in params ? params.message : ""
  )
  const text = messages.join("\n")
  const { conversation } = z.object({ conversation: z.string() }).parse(JSON.parse(requestState))
  return { content: [{ type: "text", text }], structuredContent: { text, conversation } }
}

const dated = ({ id, createdAt, updatedAt }: Task) => ({
  taskId: id,
  createdAt: DateTime.formatIso(DateTime.makeUnsafe(createdAt)),
  lastUpdatedAt: DateTime.formatIso(DateTime.makeUnsafe(updatedAt))
})

/** A task in the words of the older protocol, which has no other state for a result that is an error. */
const older = (task: Task) => ({
  ...dated(task),
  status:
    task.end?.status === "completed" && task.end.result.isError === true ? "failed" : (task.end?.status ?? "working"),
  ttl: null,
  pollInterval: pollMs
})

const newer = (task: Task) => ({
  ...dated(task),
  status: task.end?.status ?? (task.asked === undefined ? "working" : "input_required"),
  ...(task.asked !== undefined && { inputRequests: task.asked.requests }),
  ...(task.end?.status === "completed" && { result: task.end.result }),
  ttlMs: null,
  pollIntervalMs: pollMs
})

/** Has the handlers of a transport see that the client asks for a task: the SDK leaves it out. Call it when the transport is connected. */
export const withWishes = (transport: Pick<Transport, "onmessage">): void => {
  const { onmessage } = transport
  transport.onmessage = (message, extra) => onmessage?.(withWish(message), extra)
}

const withWish = <M extends JSONRPCMessage>(message: M): M => {
  if (!("method" in message) || message.method !== "tools/call" || message.params?.["task"] === undefined)
    return message
  const { task, _meta, ...params } = message.params
  return { ...message, params: { ...params, _meta: { ..._meta, [wish]: task } } }
}
