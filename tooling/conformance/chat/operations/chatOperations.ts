/** The calls that run tools, steps and chats. */
import { Chat, type Engine } from "@troupe/chat"
import { StreamCollector } from "@troupe/chat/events"
import { runToolCalls, streamToolCalls, ToolExecutor } from "@troupe/chat/tools"
import { executorOf, type Observations, toolOf } from "../behaviours.ts"
import { type Fields, fieldsOf, listOf, textOf } from "../../runner/json.ts"
import { type CaseEngine, engineOf, optionsOf } from "../engineOf.ts"
import { type Operation, type Outcome, read, settled, streamed } from "../outcome.ts"
import { forms } from "../values/forms.ts"
import { outcomeForm } from "../values/plain.ts"

/** The input of a step or a chat: a thread, messages, a request's messages, or something invalid. */
export const inputOf = ({ thread, messages, request, input }: Fields): never => {
  const given = thread ?? messages ?? fieldsOf(request)["messages"]
  if (given === undefined) return input as never
  if (Array.isArray(given)) return given.map(forms.message.from) as never
  return { messages: listOf(fieldsOf(given)["messages"]).map(forms.message.from) } as never
}

type Call<A> = (engine: Engine.Engine, input: never, options: never) => Promise<A>

/** Calls the engine of a case, and adds the observations of its fake to the outcome. */
const calling =
  <A>(call: Call<A>, outcomeOf: (result: A, given: Fields) => Outcome | Promise<Outcome>): Operation =>
  async (given, seen) => {
    const made = await settled(() => engineOf(given["engine"], seen))
    if (made.failure !== undefined) return made
    const { engine, fake } = made.ok as CaseEngine
    const options = () => optionsOf(given["opts"], seen) as never
    const { ok, failure } = await settled(async () => outcomeOf(await call(engine, inputOf(given), options()), given))
    const seenByFake = fake && { requests: fake.requests.map(forms.request.to), cleanupRuns: fake.released }
    return { ...(failure === undefined ? (ok as Outcome) : { failure }), ...seenByFake }
  }

const collecting = <A>(call: Call<A>, form: (result: A) => unknown): Operation =>
  calling(call, (result) => ({ ok: form(result) }))

const streaming = (call: Call<Chat.EventStream>): Operation =>
  calling(call, async (events, { consume }) => streamed(await read(events, consume)))

/** Both paths, on engines of their own, in the form in which cases compare results. */
export const both =
  (...paths: ReadonlyArray<Call<Fields>>): Operation =>
  async (given, seen) => {
    const sides: Array<unknown> = []
    const { failure } = await settled(async () => {
      for (const path of paths) {
        const { engine } = engineOf(given["engine"], seen)
        sides.push(comparable(await path(engine, inputOf(given), optionsOf(given["opts"], seen) as never)))
      }
    })
    return failure === undefined ? { sides, ok: sides[0] } : { failure }
  }

/** A call and its stream, whose events are folded. */
const withStream = <A>(
  collect: Call<A>,
  stream: Call<Chat.EventStream>,
  form: (result: A) => Fields,
  project: (collector: StreamCollector) => A | undefined
): Operation =>
  both(
    async (...call) => form(await collect(...call)),
    async (...call) => {
      const collector = new StreamCollector({ messages: [] })
      for await (const event of await stream(...call)) collector.apply(event)
      return form(project(collector) as A)
    }
  )

/** A result in the form in which cases compare results: tool messages in the order of their ids, no request id. */
const comparable = (value: unknown): unknown => {
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
  return streamed(await read(streamToolCalls(...batch(given, seen)), given["consume"]))
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

const steps = withStream(Chat.step, Chat.streamStep, forms.stepResult.to, ({ steps: made }) => made.at(-1))
const runs = withStream(Chat.run, Chat.stream, forms.chatResult.to, (collector) => collector.toChatResult())

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
  step_vs_stream_step: steps,
  facade_vs_step: steps,
  facade_vs_stream_step: steps,
  facade_vs_stream: runs,
  run_vs_stream: runs,
  facade_vs_run: runs
}
