/**
 * Tools: what a model can call.
 *
 * @module
 */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec"
import * as Effect from "effect/Effect"
import type { Engine } from "../options/Engine.ts"
import * as HandlerResult from "../model/HandlerResult.ts"
import { isEffect, isPromiseLike } from "../async/awaitable.ts"
import { jsonSchemaOf, parserOf } from "./parameters.ts"
import { checkTool } from "./toolChecks.ts"
import type { UserInput } from "../model/userMessage.ts"
import type { Mode } from "../gate/Permissions.ts"
import type { Receipt, SendOptions } from "../record/Inbox.ts"
import type { ToolCall } from "../model/ToolCall.ts"

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

interface Described {
  readonly name: string
  readonly description?: string | undefined
  /** JSON Schema of the arguments, for Standard Schemas whose library cannot produce it. */
  readonly jsonSchema?: Readonly<Record<string, unknown>> | undefined
  /** The caller answers the calls of this tool. Default `false`. */
  readonly manual?: boolean | undefined
  /** Deadline of one call in milliseconds; overrides the step's `toolTimeoutMs`. */
  readonly timeoutMs?: number | undefined
  /** How long one call may go without `progress`, in milliseconds; overrides the step's `toolIdleTimeoutMs`. */
  readonly idleTimeoutMs?: number | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** What the tool's calls do to the world. Default `"write"`. */
  readonly effect?: ToolEffect | undefined
  /** What becomes of a call that may have run when the program ended. Default `"ask"`. */
  readonly onUnknown?: OnUnknown | undefined
}

interface Keyed<A> {
  /**
   * Names the part of the world that a call touches: calls under different keys never conflict. Default: none, and such a
   * call may touch everything.
   *
   * **Contract**: synchronous and without effects; gets arguments that fit. A call whose key throws, or is neither text nor
   * `undefined`, fails without having run.
   */
  readonly key?: ((args: A) => string | undefined) | undefined
}

/**
 * Makes a tool whose handler returns one of the four outcomes.
 *
 * **Errors**: throws a `ValidationError` (`invalid_tool`) when the name is not `[A-Za-z0-9_-]{1,64}` or one of the words
 * `auto`, `none`, `required`, when the schema cannot be expressed as JSON Schema, and for options that are unknown or of the
 * wrong kind: `errors` names each.
 */
export const make = (
  options: Described &
    Keyed<Record<string, unknown>> & {
      readonly parameters?: Parameters | undefined
      readonly handler?: Handler | null | undefined
    }
): Tool => {
  checkTool(options, "handler")
  const { effect = "write", key, onUnknown = "ask" } = options
  const parameters = options.parameters ?? {}
  return {
    name: options.name,
    description: options.description ?? "",
    schema: options.jsonSchema ?? jsonSchemaOf(parameters, "invalid_tool", [options.name, "parameters"]),
    handler: options.handler ?? null,
    parse: parserOf(parameters),
    manual: options.manual ?? false,
    timeoutMs: options.timeoutMs,
    idleTimeoutMs: options.idleTimeoutMs,
    metadata: options.metadata ?? {},
    effect,
    key,
    onUnknown
  }
}

/**
 * Makes a tool out of an ordinary function: what it returns is the tool's result, unless it is one of the outcomes made
 * by `ok`, `error`, `askUser` and `halt`. A manual one, whose calls the caller answers, needs no function.
 *
 * @example
 * ```ts
 * const add = tool({
 *   name: "add",
 *   description: "Adds two numbers",
 *   parameters: z.object({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => a + b
 * })
 * ```
 */
export const tool = <const P extends Parameters = Readonly<Record<string, unknown>>>(
  options: Described &
    Keyed<ArgumentsOf<P>> & { readonly parameters?: P | undefined } & (
      | { readonly execute: (args: ArgumentsOf<P>, context: ToolContext) => unknown }
      | { readonly manual: true; readonly execute?: undefined }
    )
): Tool => {
  checkTool(options, "execute")
  const { execute, key, ...rest } = options
  const described = { ...rest, key: key as Keyed<Record<string, unknown>>["key"] }
  if (execute === undefined) return make(described)
  return make({
    ...described,
    handler: (args, context) => {
      const returned = execute(args as ArgumentsOf<P>, context)
      if (isEffect(returned)) return Effect.map(returned, asResult)
      return isPromiseLike(returned) ? Promise.resolve(returned).then(asResult) : asResult(returned)
    }
  })
}

/** The type of a tool's arguments, from what describes them. */
export type ArgumentsOf<P> =
  P extends StandardSchemaV1<infer _Input, infer Output> ? Output : Readonly<Record<string, unknown>>

/** A schema that can say itself as JSON Schema, as zod's can. */
export type JsonSchemaSource = StandardJSONSchemaV1

export { nameProblem } from "./toolChecks.ts"

const asResult = (value: unknown): HandlerResult.HandlerResult =>
  HandlerResult.isBranded(value) ? (value as HandlerResult.HandlerResult) : HandlerResult.ok(value)
