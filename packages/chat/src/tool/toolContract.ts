/** The types of tools, handlers, executors and engines: each names another, so they stand together. */

import type { StandardSchemaV1 } from "@standard-schema/spec"
import type * as Effect from "effect/Effect"
import type { Adapter, Fallback, RetryOptions } from "../adapter/index.ts"
import type { ToolResultEncoder } from "../values/index.ts"
import type * as HandlerResult from "../values/HandlerResult.ts"
import type { ToolCall, UserInput } from "../model/index.ts"
import type { Mode, Receipt, SendOptions } from "../record/index.ts"

/**
 * What a handler is told beside its arguments.
 *
 * **Details**: `signal` is aborted when the call times out, is cancelled or its process ends; whatever the handler does
 * once the call is over changes nothing.
 *
 * - `toolCall`: the call as the model wrote it, or as it was permitted; a copy, as the arguments are
 * - `progress`: says how far the call is; the last value stands in the chat's snapshot (`ToolCallView.progress`), as it is
 *   and not as a copy, and the idle deadline counts anew
 * - `idempotencyKey`: the same for every run of this call, after a restart too. No other call has it, also where call ids
 *   repeat, and also after a rewind, a retry or a fork. Pass it to services that take one
 * - `setPermissionMode`: makes this the mode that calls are judged by from the next batch on; the mode of several calls is that
 *   of the last in call order. Stricter than what the host allows is free. Looser resolves once `ask` of the permissions has
 *   agreed, and rejects with a `ToolError` (`denied`) if it did not, or there is none; no deadline of the call counts while it is
 *   asked. What is no mode rejects with a `ValidationError`
 * - `chat`: the living chat the call belongs to; `undefined` where there is none
 */
export interface ToolContext {
  readonly context: Readonly<Record<string, unknown>>
  readonly sessionId: string | undefined
  readonly requestId: string | undefined
  readonly toolCall: ToolCall
  /** The engine the call runs on, with the tools of the call. */
  readonly engine?: Engine | undefined
  readonly signal: AbortSignal
  readonly progress: (value: unknown) => void
  readonly idempotencyKey: string
  readonly setPermissionMode: (mode: Mode) => Promise<void>
  readonly chat?: ChatHandle | undefined
}

/**
 * The living chat a tool call belongs to, as its handler may speak to it.
 *
 * **Units and defaults**: `whenBusy` is `"steer"`: what is said joins the running turn behind the results of this batch.
 *
 * **Errors**: `send` throws as `ChatRef.send` does. Once the call is over it changes nothing, and rejects with a `ToolError`
 * (`cancelled`).
 */
export interface ChatHandle {
  readonly id: string
  /** Says something as the user would; resolves as soon as the input is kept anywhere. */
  readonly send: (input: UserInput, options?: SendOptions) => Promise<Receipt>
}

/** A value, a promise of it, or an Effect of it. */
export type Awaitable<A> = A | PromiseLike<A> | Effect.Effect<A, unknown>

/**
 * Runs a tool.
 *
 * **Contract**: return one of the four outcomes. Throwing is caught and becomes a `handler_raised` tool error; anything
 * else than an outcome becomes `invalid_return`.
 */
export type Handler = (args: Record<string, unknown>, context: ToolContext) => Awaitable<HandlerResult.HandlerResult>

/** One thing wrong with a call's arguments: where, and what. */
export interface ArgumentIssue {
  readonly path: string
  readonly message: string
}

/** Arguments that fit the tool's schema, or what is wrong with them. */
export type ParsedArguments =
  | { readonly valid: true; readonly arguments: Record<string, unknown> }
  | { readonly valid: false; readonly issues: ReadonlyArray<ArgumentIssue> }

/**
 * A tool.
 *
 * **Details**: `schema` is the JSON Schema the model sees. `handler` is `null` for a tool that is only declared; `manual`
 * calls are left to the caller. `timeoutMs` overrides the step's.
 */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
  readonly handler: Handler | null
  readonly parse: (args: Record<string, unknown>) => ParsedArguments | PromiseLike<ParsedArguments>
  readonly manual: boolean
  readonly timeoutMs: number | undefined
  readonly idleTimeoutMs?: number | undefined
  readonly metadata: Readonly<Record<string, unknown>>
  readonly effect: ToolEffect
  readonly key: ((args: Record<string, unknown>) => string | undefined) | undefined
  readonly onUnknown: OnUnknown
}

/**
 * What a tool's calls do to the world.
 *
 * - `read`: they change nothing, and may run beside each other
 * - `write`: they may change something
 */
export type ToolEffect = "read" | "write"

/**
 * What becomes of a call that writes, when the program ended while it ran: whether it took effect is unknown then.
 *
 * - `ask`: the chat waits until a person has decided
 * - `fail`: the model reads that it is unknown
 * - `retry`: it runs again under the same idempotency key when the chat goes on; for handlers that are safe to repeat
 */
export type OnUnknown = "ask" | "fail" | "retry"

/** What describes the arguments: a zod schema, any Standard Schema, or a JSON Schema object. */
export type Parameters<A = unknown> = StandardSchemaV1<unknown, A> | Readonly<Record<string, unknown>>

/**
 * The port.
 *
 * **Contract** of `execute`: invoke the tool's handler with these arguments and this context, unchanged, and return one of
 * the four outcomes. What a handler returned passes through; only crashes and bad returns are converted. Look nothing up,
 * set no deadline, retry nothing.
 */
export interface ToolExecutor {
  readonly execute: (
    tool: Tool,
    args: Record<string, unknown>,
    context: ToolContext
  ) => Awaitable<HandlerResult.HandlerResult>
}

/** Everything a step needs beside the thread; `Engine.make` makes one. */
export interface Engine {
  readonly adapter?: Adapter | undefined
  readonly fallbacks?: ReadonlyArray<Adapter | Fallback> | undefined
  readonly retry?: RetryOptions | false | undefined
  readonly model?: string | undefined
  readonly tools: ReadonlyArray<Tool>
  readonly toolExecutor?: ToolExecutor | undefined
  readonly toolResultEncoder?: ToolResultEncoder | undefined
  readonly params: Readonly<Record<string, unknown>>
  readonly context: Readonly<Record<string, unknown>>
  readonly adapterOptions: Readonly<Record<string, unknown>>
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}
