/**
 * The types that have a JSON form: one row for each type.
 *
 * The row of a type of plain data is its schema. For other types `shed` returns the data that is written, the schema
 * checks that data, and `restore` makes the value from it.
 */
import * as z from "zod"
import type { Adapter } from "../adapter/index.ts"
import { AdapterError, EngineError, SessionError, StreamError, ToolError, ValidationError } from "../errors/index.ts"
import { Conversation, ChatResult, statusOf, StepResult } from "../record/index.ts"
import { ContentPart, Message, Request, Response, Thread, ToolCall, Usage } from "../model/index.ts"
import * as Engine from "../options/Engine.ts"
import { EngineOptions } from "../options/index.ts"
import { Event } from "../events/index.ts"
import { HandlerResult, openRecord } from "../values/index.ts"
import { type ToolResultEncoder } from "../values/index.ts"
import * as Tool from "../tool/Tool.ts"
import { Commit } from "../store/index.ts"
import type { ToolExecutor } from "../tool/index.ts"
import type { Session } from "./sessionState.ts"

/** The parts of a value that JSON cannot hold, for its decoding: tools, and the other parts of an engine. */
export interface Attachments {
  /** Each tool replaces the encoded tool of its name, schema included; an encoded tool of another name has no handler. */
  readonly tools?: ReadonlyArray<Tool.Tool> | undefined
  readonly adapter?: Adapter | undefined
  readonly fallbacks?: EngineOptions["fallbacks"]
  readonly prices?: EngineOptions["prices"]
  readonly toolExecutor?: ToolExecutor | undefined
  readonly toolResultEncoder?: ToolResultEncoder | undefined
}

/** How values of a type are encoded and decoded. */
export interface Row<A> {
  readonly schema: z.ZodType
  readonly shed: (value: unknown) => unknown
  readonly restore: (data: unknown, attachments: Attachments) => A
  /** The tag around the JSON of each value, which the codec leaves out. */
  readonly tag?: "$error"
}

const same = (value: unknown): unknown => value

const plain = <A>(schema: z.ZodType<A>): Row<A> => ({ schema, shed: same, restore: (data) => data as A })

const errors = <A extends Error>(type: new (...args: never) => A): Row<A> => ({
  schema: z.custom<A>((value) => value instanceof type),
  shed: same,
  restore: (data) => data as A,
  tag: "$error"
})

const ToolData = z.lazy(() =>
  z.object({
    name: z.string().refine((name) => Tool.nameProblem(name) === undefined),
    description: z.string(),
    schema: openRecord,
    manual: z.boolean().optional(),
    timeoutMs: z.number().nonnegative().optional(),
    metadata: openRecord.optional(),
    effect: z.literal("read").optional(),
    onUnknown: z.enum(["fail", "retry"]).optional(),
    provider: z.object({ id: z.string(), args: openRecord }).optional()
  })
)

/** The data of a tool. `effect` and `onUnknown` are written only if they differ from their defaults. */
const withoutFunctions = (value: unknown): unknown => {
  const { handler: _, parse: __, key: ___, background: ____, effect, onUnknown, ...data } = value as Partial<Tool.Tool>
  return {
    ...data,
    ...(effect === "read" ? { effect } : {}),
    ...(onUnknown === "fail" || onUnknown === "retry" ? { onUnknown } : {})
  }
}

/** The caller's tool of that name; without one, the tool as it is declared. */
const attached = ({ schema, ...data }: z.infer<typeof ToolData>, { tools }: Attachments): Tool.Tool =>
  tools?.find(({ name }) => name === data.name) ?? Tool.make({ ...data, jsonSchema: schema, parameters: schema })

const EngineData = EngineOptions.omit({
  adapter: true,
  fallbacks: true,
  prices: true,
  toolExecutor: true,
  toolResultEncoder: true
}).extend({
  tools: z.array(ToolData).readonly().optional()
})

const tool: Row<Tool.Tool> = {
  schema: ToolData,
  shed: withoutFunctions,
  restore: (data, attachments) => attached(data as z.infer<typeof ToolData>, attachments)
}

const engine: Row<Engine.Engine> = {
  schema: EngineData,
  shed: (value) => {
    const {
      adapter: _,
      fallbacks: __,
      prices: _____,
      toolExecutor: ___,
      toolResultEncoder: ____,
      tools,
      ...data
    } = value as Partial<Engine.Engine>
    return { ...data, tools: tools?.map(withoutFunctions) }
  },
  restore: (data, { tools: given, ...attachments }) => {
    const { tools, ...options } = data as z.infer<typeof EngineData>
    return Engine.make({ ...options, ...attachments, tools: tools?.map((one) => attached(one, { tools: given })) })
  }
}

/** A value with the fields that it lacks. */
const filled = <A extends object>(data: unknown, defaults: A): A => {
  const missing = Object.entries(defaults).filter(([field]) => !Object.hasOwn(data as object, field))
  return missing.length === 0 ? (data as A) : { ...(data as A), ...Object.fromEntries(missing) }
}

const conversation: Row<Conversation> = {
  schema: Conversation,
  shed: same,
  restore: (data) => filled<Partial<Conversation>>(data, { id: "", usage: {}, running: false }) as Conversation
}

/** A session, also one that was stored without the parts of a record. Its status is the stored one. */
const session: Row<Session> = {
  ...conversation,
  restore: (data, given) => {
    const stored = conversation.restore(data, given)
    return filled<Partial<Session>>(stored, { status: statusOf(stored), context: {}, metadata: {} }) as Session
  }
}

/** Every type that has a JSON form. */
export const rows = {
  ContentPart: plain(ContentPart),
  Message: plain(Message),
  ToolCall: plain(ToolCall),
  Thread: plain(Thread),
  Tool: tool,
  Engine: engine,
  Request: plain(Request),
  Usage: plain(Usage),
  Response: plain(Response),
  HandlerResult: plain(HandlerResult),
  StepResult: plain(StepResult),
  ChatResult: plain(ChatResult),
  ChatRecord: conversation,
  Commit: plain(Commit),
  Session: session,
  Event: plain(Event),
  AdapterError: errors(AdapterError),
  EngineError: errors(EngineError),
  StreamError: errors(StreamError),
  ToolError: errors(ToolError),
  ValidationError: errors(ValidationError),
  SessionError: errors(SessionError)
}

/** The types that have a JSON form, and their values. */
export type Types = { readonly [Name in keyof typeof rows]: (typeof rows)[Name] extends Row<infer A> ? A : never }

/** The name of a type that has a JSON form. */
export type TypeName = keyof Types
