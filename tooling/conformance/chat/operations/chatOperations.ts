/** The calls that run tools, steps and chats. */
import { Chat, type Engine } from "@troupe/chat"
import { StreamCollector } from "@troupe/chat/events"
import { runToolCalls, streamToolCalls, ToolExecutor } from "@troupe/chat/tools"
import { executorOf, type Observations, toolOf } from "../behaviours.ts"
import { type Fields, fieldsOf, listOf, textOf } from "../../runner/fields.ts"
import { type CaseEngine, engineOf, optionsOf } from "../engineOf.ts"
import { type Operation, type Outcome, read, settled } from "../outcome.ts"
import { forms } from "../values/forms.ts"
import { outcomeForm } from "../values/plain.ts"

/** The input of a step or a chat: a thread, messages, a request's messages, or something invalid. */
const inputOf = ({ thread, messages, request, input }: Fields): never => {
  const given = thread ?? messages ?? fieldsOf(request)["messages"]
  if (given === undefined) return input as never
  if (Array.isArray(given)) return given.map(forms.message.from) as never
  return { messages: listOf(fieldsOf(given)["messages"]).map(forms.message.from) } as never
}

/** Adds the fake's observations to the outcome. */
const witnessed = ({ fake }: CaseEngine, outcome: Outcome): Outcome => ({
  ...outcome,
  ...(fake === undefined ? {} : { requests: fake.requests.map(forms.request.to), cleanupRuns: fake.released })
})

type Call<A> = (engine: Engine.Engine, input: never, options: never) => Promise<A>

const collecting =
  <A>(call: Call<A>, form: (result: A) => unknown): Operation =>
  async (given, seen) => {
    const made = await settled(() => engineOf(given["engine"], seen))
    if (made.failure !== undefined) return made
    const engine = made.ok as CaseEngine
    const outcome = await settled(async () =>
      form(await call(engine.engine, inputOf(given), optionsOf(given["opts"], seen) as never))
    )
    return witnessed(engine, outcome)
  }

const streaming =
  (call: Call<Chat.EventStream>): Operation =>
  async (given, seen) => {
    const engine = engineOf(given["engine"], seen)
    const opened = await settled(() => call(engine.engine, inputOf(given), optionsOf(given["opts"], seen) as never))
    if (opened.failure !== undefined) return witnessed(engine, opened)
    const events = opened.ok as Chat.EventStream
    return witnessed(engine, { stream: await read(events, given["consume"]) })
  }

/** Calls with an engine of its own. */
export const fresh = async (
  given: Fields,
  seen: Observations,
  call: (engine: Engine.Engine) => Promise<unknown>
): Promise<unknown> => call(engineOf(given["engine"], seen).engine)

/** Both paths on engines of their own. */
const both =
  (
    collect: Call<unknown>,
    stream: Call<Chat.EventStream>,
    form: (result: never) => Fields,
    project: (collector: StreamCollector) => unknown
  ): Operation =>
  async (given, seen) => {
    const options = () => optionsOf(given["opts"], seen) as never
    return settled(async () => {
      const left = await fresh(given, seen, (engine) => collect(engine, inputOf(given), options()))
      const right = await fresh(given, seen, async (engine) => {
        const collector = new StreamCollector({ messages: [] })
        for await (const event of await stream(engine, inputOf(given), options())) collector.apply(event)
        return project(collector)
      })
      return [left, right].map((side) => comparable(form(side as never)))
    }).then(({ ok, failure }) => (failure === undefined ? { sides: ok, ok: listOf(ok)[0] } : { failure }))
  }

/** A result in the form in which cases compare results: tool messages in the order of their ids, no request id. */
export const comparable = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(comparable)
  if (typeof value !== "object" || value === null) return value
  const { request_id: _, ...fields } = value as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [
      key,
      key === "messages" || key === "tool_results" ? sortedTools(listOf(field)).map(comparable) : comparable(field)
    ])
  )
}

const sortedTools = (messages: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  const idOf = (message: unknown) => textOf(fieldsOf(message)["tool_call_id"])
  const isTool = (message: unknown) => fieldsOf(message)["role"] === "tool"
  const tools = messages.filter(isTool).toSorted((left, right) => idOf(left).localeCompare(idOf(right)))
  return messages.map((message) => (isTool(message) ? tools.shift() : message))
}

const batch = (given: Fields, seen: Observations) => {
  const { tool_calls: calls, tools, engine, opts } = given
  return [
    listOf(calls).map(forms.toolCall.from),
    listOf(tools).map((tool) => toolOf(tool, seen, engine)),
    { ...optionsOf(opts, seen), ...(engine === undefined ? {} : { engine: engineOf(engine, seen).engine }) }
  ] as const
}

const toolCallRun: Operation = (given, seen) =>
  settled(async () => {
    const { messages, halt } = await runToolCalls(...batch(given, seen))
    return { messages: messages.map(forms.message.to), ...(halt === undefined ? {} : { halt: forms.halt(halt) }) }
  })

const toolCallStream: Operation = async (given, seen) => {
  const stream = await read(streamToolCalls(...batch(given, seen)), given["consume"])
  // A generator's call cannot fail by itself: an exception before its first event is the call's failure.
  return stream.raw.length === 0 && stream.failure !== undefined ? { failure: stream.failure } : { stream }
}

const execute: Operation = async ({ tool, arguments: args, opts, executor }, seen) => {
  const { context, session_id: sessionId, request_id: requestId, tool_call: call, engine } = fieldsOf(opts)
  const used = executor === undefined ? ToolExecutor.inProcess : executorOf(executor, seen)
  const outcome = await settled(() =>
    used.execute(toolOf(tool, seen, engine), fieldsOf(args), {
      context: fieldsOf(context),
      sessionId: sessionId as string | undefined,
      requestId: requestId as string | undefined,
      toolCall: call === undefined ? (undefined as never) : forms.toolCall.from(call),
      ...(engine === undefined ? {} : { engine: engine as never }),
      signal: new AbortController().signal,
      progress: () => undefined,
      idempotencyKey: "",
      setPermissionMode: async () => {}
    })
  )
  return outcome.failure === undefined ? { value: outcomeForm(outcome.ok as never) } : outcome
}

const step = collecting(Chat.step, forms.stepResult.to)
const streamStep = streaming(Chat.streamStep)
const run = collecting(Chat.run, forms.chatResult.to)
const stream = streaming(Chat.stream)

const lastStep = (collector: StreamCollector) => collector.steps.at(-1)
const wholeChat = (collector: StreamCollector) => collector.toChatResult()

/** The calls of this kind, by `when`. */
export const chatOperations: Readonly<Record<string, Operation>> = {
  execute,
  run_tool_calls: toolCallRun,
  stream_tool_calls: toolCallStream,
  step,
  "facade.step": step,
  stream_step: streamStep,
  "facade.stream_step": streamStep,
  run,
  "facade.chat": run,
  stream,
  "facade.stream": stream,
  generate: collecting(Chat.generate, forms.response.to),
  stream_generate: streaming(Chat.streamGenerate),
  step_vs_stream_step: both(Chat.step, Chat.streamStep, forms.stepResult.to, lastStep),
  facade_vs_step: both(Chat.step, Chat.streamStep, forms.stepResult.to, lastStep),
  facade_vs_stream_step: both(Chat.step, Chat.streamStep, forms.stepResult.to, lastStep),
  facade_vs_stream: both(Chat.run, Chat.stream, forms.chatResult.to, wholeChat),
  run_vs_stream: both(Chat.run, Chat.stream, forms.chatResult.to, wholeChat),
  facade_vs_run: both(Chat.run, Chat.stream, forms.chatResult.to, wholeChat)
}
