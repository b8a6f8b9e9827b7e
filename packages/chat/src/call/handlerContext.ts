/**
 * The context of a handler. Owns nothing: it reads from its run, which is fenced when the call is over (EXEC5).
 *
 * Its properties are its own and enumerable, so that `{ ...context }` copies them. Those that few handlers read are made
 * when they are read.
 *
 * EXEC6. Each run has its own copy of the arguments, and of the call in its context. No other code sees the handler's
 *        changes.
 */
import type { Mode } from "../record/index.ts"
import type { ToolCall, Usage } from "../model/index.ts"
import * as Usages from "../model/Usage.ts"
import { copied } from "../json/index.ts"
import type { LazyAbortController } from "../async/index.ts"
import type { RunOptions } from "../options/index.ts"
import type * as HandlerResult from "../values/HandlerResult.ts"
import {
  asked,
  type CallPlace,
  type ChatHandle,
  idempotencyKey,
  questionsOf,
  type Returned,
  type SubagentCall,
  type Tool,
  type ToolContext
} from "../tool/index.ts"
import type { RunnableCall } from "./callEnv.ts"
import { toolFailure } from "./toolOutcome.ts"

/** The run that a context belongs to. */
export interface ContextOwner {
  readonly written: ToolCall
  readonly place: CallPlace
  readonly aborter: LazyAbortController
  readonly progressed: (value: unknown) => void
  readonly setMode: (mode: Mode) => Promise<void>
  readonly tool: Tool
  readonly asks: RunnableCall["asks"]
  /** Counts the usage of a request of the handler; returns that of all calls of the step. */
  readonly counted: (usage: Usage) => Usage | undefined
  /** `undefined` when the run is fenced (EXEC5). */
  readonly options: RunOptions | undefined
}

/** The context of one run of a handler. */
export class HandlerContext implements ToolContext {
  /** One set of descriptors for all: objects with the same getters share their layout. */
  static readonly #lazy: PropertyDescriptorMap & ThisType<HandlerContext> = {
    toolCall: {
      enumerable: true,
      get() {
        return (this.#toolCall ??= copied(this.#owner.written))
      }
    },
    signal: {
      enumerable: true,
      get() {
        return this.#owner.aborter.signal
      }
    },
    idempotencyKey: {
      enumerable: true,
      get() {
        return idempotencyKey(this, this.#owner.written.id, this.#owner.place)
      }
    },
    chat: {
      enumerable: true,
      get() {
        return this.#chat === undefined ? undefined : handleOf(this.#chat, this.#owner)
      }
    }
  }
  readonly context: ToolContext["context"]
  readonly sessionId: ToolContext["sessionId"]
  readonly requestId: string
  readonly engine: ToolContext["engine"]
  readonly progress: ToolContext["progress"]
  readonly setPermissionMode: ToolContext["setPermissionMode"]
  declare readonly toolCall: ToolCall
  declare readonly signal: AbortSignal
  declare readonly idempotencyKey: string
  declare readonly chat: ChatHandle | undefined
  readonly #owner: ContextOwner
  readonly #chat: string | undefined
  #toolCall: ToolCall | undefined = undefined

  constructor(
    {
      context,
      sessionId,
      requestId,
      engine,
      chat
    }: Pick<RunOptions, "context" | "sessionId" | "requestId" | "engine" | "chat">,
    owner: ContextOwner
  ) {
    this.#owner = owner
    this.#chat = chat?.id
    this.context = context
    this.sessionId = sessionId
    this.requestId = requestId
    this.engine = engine
    this.progress = (value) => owner.progressed(value)
    this.setPermissionMode = (mode) => owner.setMode(mode)
    Object.defineProperties(this, HandlerContext.#lazy)
  }
}

/** The chat handle of a run; its functions fail after the call is over (EXEC5). */
const handleOf = (id: string, owner: ContextOwner): ChatHandle => {
  const living = (): ChatHandle => {
    const chat = owner.options?.chat
    if (chat !== undefined) return chat
    throw cancelled(owner.written, `the call is over, and says nothing more to the chat ${id}`).reason
  }
  const { asks, written } = owner
  const answered = asked(asks?.former)
  return {
    id,
    ...(asks === undefined
      ? {}
      : {
          waitFor: async (questions, state, dropped) => {
            const waits = await questionsOf(written, questions, state, asks)
            const { waited } = owner.options ?? {}
            if (dropped !== undefined) waited?.hold(id, { call: written.id, place: owner.place, dropped })
            return waits
          }
        }),
    ...(answered === undefined ? {} : { answered }),
    send: async (input, options) => living().send(input, options),
    blob: async (blob) => {
      living()
      return owner.options?.blobs?.read(blob)
    },
    ...(owner.options?.chat?.past === undefined ? {} : { past: pastOf(living) }),
    ...(owner.options?.chat?.tasks === undefined ? {} : { tasks: tasksOf(living) }),
    ...(owner.options?.chat?.memories === undefined ? {} : { memories: memoriesOf(living) }),
    ...(owner.options?.chat?.exhausted === undefined ? {} : spendingOf(owner)),
    ...(owner.options?.chat?.subagent === undefined
      ? {}
      : {
          subagent: async (call) =>
            runChild(living(), { ...call, span: owner.options?.trace?.spanOf(call.toolCall.id) })
        }),
    ...(owner.options?.chat?.message === undefined
      ? {}
      : {
          message: async (call) =>
            living().message?.({ ...call, span: owner.options?.trace?.spanOf(call.toolCall.id) }) ??
            cancelled(owner.written, "no messages")
        }),
    ...(owner.options?.chat?.board === undefined ? {} : { board: boardOf(living) }),
    ...(owner.options?.chat?.background === undefined
      ? {}
      : {
          background: (call) =>
            living().background?.({ ...call, tool: owner.tool }) ?? cancelled(owner.written, "no task")
        })
  }
}

const pastOf = (living: () => ChatHandle): NonNullable<ChatHandle["past"]> => ({
  messages: () => living().past?.messages() ?? [],
  search: async (query, options) => living().past?.search(query, options) ?? []
})

const spendingOf = (owner: ContextOwner): Pick<ChatHandle, "exhausted" | "count"> => ({
  exhausted: (more = Usages.empty) =>
    owner.options === undefined
      ? "the call is over"
      : owner.options.chat?.exhausted?.(Usages.add(owner.counted(Usages.empty) ?? Usages.empty, more)),
  count: (usage) => void owner.counted(usage)
})

const tasksOf = (living: () => ChatHandle): NonNullable<ChatHandle["tasks"]> => ({
  list: () => living().tasks?.list() ?? [],
  cancel: async (task) => living().tasks?.cancel(task),
  wait: async (options) => living().tasks?.wait(options) ?? "none"
})

const noBoard = { refused: "no_team", message: "this chat has no team" } as const

const boardOf = (living: () => ChatHandle): NonNullable<ChatHandle["board"]> => ({
  write: async (text, key) => living().board?.write(text, key) ?? noBoard,
  read: async (after) => living().board?.read(after) ?? noBoard
})

const memoriesOf = (living: () => ChatHandle): NonNullable<ChatHandle["memories"]> => ({
  turn: () => living().memories?.turn(),
  recall: async (query, limit) => living().memories?.recall(query, limit) ?? []
})

const runChild = ({ id, subagent }: ChatHandle, call: SubagentCall): Promise<Returned> => {
  if (subagent === undefined) throw new Error(`the chat ${id} has no children`)
  return subagent(call)
}

/** The failure of a call that was cancelled. */
export const cancelled = (toolCall: ToolCall, message: string): HandlerResult.Failed =>
  toolFailure(toolCall, "cancelled", message)
