/**
 * Steps and chats on plain values: an engine, a thread, options.
 *
 * `generate`, `step` and `run` return results; `streamGenerate`, `streamStep` and `stream` return events. The former read
 * the latter to their end. Each call runs in a process of its own, with its model request and its tool calls as processes
 * below it, and releases all of them, however it ends.
 *
 * @module
 * @source ALLM.Chat
 */
import { Process, StateMachine } from "@troupe/otp"
import * as StructuredOutput from "../request/StructuredOutput.ts"
import { adapterIn, adapterStreamMachine, preflight, preflightRequest, type RequestEnv } from "../request/index.ts"
import { ChatEnv } from "./chatEnv.ts"
import { type EndedTurn, stepOptions, streamTurn } from "./chatStart.ts"
import {
  type Asking,
  type ChatOptions,
  type GenerateOptions,
  resolveOptions,
  type StepOptions
} from "../options/index.ts"
import type { ChatResult, StepResult } from "../record/index.ts"
import { EventStream, outletIn, StreamCollector } from "../events/index.ts"
import { type Engine, isUnknownTool } from "../tool/index.ts"
import type { Response } from "../model/index.ts"
import { original } from "../values/index.ts"
import * as Thread from "../model/Thread.ts"

export type { EventStream } from "../events/index.ts"

/**
 * Runs steps until a terminal condition.
 *
 * **Errors**: rejects with an `EngineError`, `AdapterError` or `ValidationError` when the first request could not be opened
 * or called a tool that does not exist; later failures are `haltedReason: "error"`. Exceptions of `haltWhen` and `onEvent`
 * are rethrown here. With `schema`, rejects as `StructuredOutput.parse` does; `metadata.result` of that error is the result.
 *
 * @example
 * ```ts
 * const result = await Chat.run(Engine.make({ adapter, tools: [echo] }), [user("echo please")])
 * result.haltedReason // "completed"
 * ```
 */
export const run: Run = async (
  engine: Engine,
  thread: Thread.ThreadInput,
  options?: ChatOptions
): Promise<ChatResult & { readonly object: never }> => {
  let result: ChatResult | undefined
  for await (const event of await stream(engine, thread, options)) {
    if (event.type === "chat_completed") result = event.result
  }
  if (result === undefined) throw new Error("a chat ended without chat_completed")
  const { error } = result.metadata
  if (result.steps.length <= 1 && isUnknownTool(error)) throw error
  return withObject(result, options)
}

/** {@link run}: with `schema`, the result has the answer as `object`. */
interface Run {
  <A>(
    engine: Engine,
    thread: Thread.ThreadInput,
    options: Asking<ChatOptions, A>
  ): Promise<ChatResult & { readonly object: A }>
  (engine: Engine, thread: Thread.ThreadInput, options?: ChatOptions): Promise<ChatResult>
}

/** The answer with its object, if there is a schema. */
const withObject = async <Answer extends Response | ChatResult>(
  answer: Answer,
  { schema }: Pick<GenerateOptions, "schema"> = {}
): Promise<Answer & { readonly object: never }> =>
  schema === undefined
    ? (answer as Answer & { readonly object: never })
    : { ...answer, object: (await StructuredOutput.parse(answer, schema)) as never }

/**
 * Runs steps until a terminal condition and returns their events, the last of which is `chat_completed`.
 *
 * **Details**: events are read on demand, never ahead; the first `next` opens the first request. A stream that is never
 * read sends none. Leaving the loop early releases the request or the running tools, once, without a `chat_completed`.
 *
 * **Errors**: the promise rejects for invalid arguments. The first `next` rejects when the first request could not be
 * opened. Otherwise as for {@link run}, but an unknown tool is an `error` event.
 */
export const stream = async (
  engine: Engine,
  thread: Thread.ThreadInput,
  options: ChatOptions = {}
): Promise<EventStream> => {
  const resolved = resolveOptions(engine, options)
  const from = Thread.from(thread)
  preflight(engine, from, resolved)
  const env = new ChatEnv({ engine, clock: resolved.system.clock })
  return streamTurn(resolved, env, { input: { id: resolved.requestId, thread: from } })
}

/**
 * Runs one step: one model request and the tools it asked for.
 *
 * **Errors**: as for {@link run}.
 */
export const step = async (
  engine: Engine,
  thread: Thread.ThreadInput,
  options: StepOptions = {}
): Promise<StepResult> => {
  const events = await startStep(engine, thread, options)
  for await (const _ of events) {
    // Reading the events runs the step; the result comes from the machine.
  }
  const output = events.output()
  if (output?.type !== "stepped") throw new Error("a step ended without a result")
  const { result } = output
  if (isUnknownTool(result.error)) throw result.error
  return result
}

/**
 * Runs one step and returns its events, the last of which is `step_completed`.
 *
 * **Errors**: as for {@link stream}.
 */
export const streamStep = (
  engine: Engine,
  thread: Thread.ThreadInput,
  options: StepOptions = {}
): Promise<EventStream> => startStep(engine, thread, options)

const startStep = async (
  engine: Engine,
  thread: Thread.ThreadInput,
  options: StepOptions
): Promise<EventStream<EndedTurn>> => {
  const resolved = stepOptions(resolveOptions(engine, options))
  const from = Thread.from(thread)
  preflight(engine, from, resolved)
  resolved.signal?.throwIfAborted()
  const env = new ChatEnv({ engine, clock: resolved.system.clock })
  return streamTurn(resolved, env, { input: { id: resolved.requestId, thread: from, until: "step" } })
}

/**
 * Sends one model request and returns its response. Tools are sent to the model, but not run.
 *
 * **Errors**: rejects with an `EngineError`, `AdapterError` or `ValidationError` when the request could not be opened. A
 * later failure, or a cancel by `signal`, is `finishReason: "error"` with `metadata.error`. With `schema`, a reply that does
 * not fit rejects as `StructuredOutput.parse` does: `errors` has the findings, `metadata.response` the whole response.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Chat, Engine, Fake, user } from "@troupe/chat"
 *
 * const adapter = Fake.make({ script: [{ text: "Hello" }, { finish: "stop" }] })
 * const response = await Chat.generate(Engine.make({ adapter }), [user("hi")])
 * response.outputText // => "Hello"
 * ```
 *
 * @example
 * ```ts import.meta.vitest
 * import { Chat, Engine, Fake, user } from "@troupe/chat"
 * import * as z from "zod"
 *
 * const adapter = Fake.make({ script: [{ text: '{"name":"Oslo"}' }, { finish: "stop" }] })
 * const schema = z.object({ name: z.string() })
 * const { object } = await Chat.generate(Engine.make({ adapter }), [user("Norway's capital?")], { schema })
 * object.name // => "Oslo"
 * ```
 */
export const generate: Generate = async (
  engine: Engine,
  thread: Thread.ThreadInput,
  options?: GenerateOptions
): Promise<Response & { readonly object: never }> => {
  const { events, response } = await startRequest(engine, thread, options ?? {})
  for await (const _ of events) {
    // Reading the events runs the request; the response is collected before the filters.
  }
  return withObject(response(), options)
}

/** {@link generate}: with `schema`, the response has the answer as `object`. */
interface Generate {
  <A>(
    engine: Engine,
    thread: Thread.ThreadInput,
    options: Asking<GenerateOptions, A>
  ): Promise<Response & { readonly object: A }>
  (engine: Engine, thread: Thread.ThreadInput, options?: GenerateOptions): Promise<Response>
}

/**
 * Sends one model request and returns its events, the last of which is `message_completed`, or `error`.
 *
 * **Errors**: the promise rejects for invalid arguments, and the first `next` when the request could not be opened.
 */
export const streamGenerate = async (
  engine: Engine,
  thread: Thread.ThreadInput,
  options: GenerateOptions = {}
): Promise<EventStream> => (await startRequest(engine, thread, options)).events

const startRequest = async (
  engine: Engine,
  thread: Thread.ThreadInput,
  options: GenerateOptions
): Promise<{ readonly events: EventStream; readonly response: () => Response }> => {
  const resolved = resolveOptions(engine, options)
  const request = preflightRequest(engine, Thread.from(thread), resolved)
  const { signal, drainMs, requestId, trace } = resolved
  signal?.throwIfAborted()
  const outlet = outletIn(resolved.system)
  const collector = new StreamCollector(undefined, resolved.maxToolArgumentCharacters)
  const sent = { adapter: adapterIn(engine), request, options: resolved, collector, outlet }
  const env: RequestEnv = { request: () => sent }
  const start = () => {
    signal?.throwIfAborted()
    const pid = StateMachine.start(resolved.system, adapterStreamMachine, { env, label: "Request" })
    const output = () => {
      const ended = StateMachine.output(pid)
      return ended?.type === "refused" ? { ...ended, error: original(ended.error) } : ended
    }
    return { pid, output, cancel: () => Process.send(pid, { type: "request.cancel" }) }
  }
  const events = new EventStream(outlet, { start, signal, drainMs, trace })
  return { events, response: () => collector.toResponse(requestId) }
}
