import { StateMachine } from "@troupe/otp"
import { expect, onTestFinished, test } from "vitest"
import { createActor } from "xstate"
import * as z from "zod"
import { EngineError, ValidationError } from "../../src/errors.ts"
import { Chat, Engine, Fake, tool, Troupe, user } from "../../src/index.ts"
import { chatMachine, environment, stepMachine, toolCallMachine } from "../../src/machines.ts"
import { Session } from "../../src/sessions.ts"
import { Tool } from "../../src/tools.ts"

/** The error of a call that throws or rejects. */
const failureOf = async (call: () => unknown): Promise<Error> => {
  try {
    await call()
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error("the call did not fail")
}

const messageOf = async (call: () => unknown, type: new (...args: never) => Error): Promise<string> => {
  const error = await failureOf(call)
  expect(error).toBeInstanceOf(type)
  return error.message
}

const adapter = Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] })
const engine = Engine.make({ adapter })
const named = (name: string) => tool({ name, description: "", parameters: z.object({}), execute: () => 1 })

const model = Object.assign(Object.create(null), {
  specificationVersion: "v4",
  provider: "openai.responses",
  modelId: "gpt-5.5",
  doStream: () => {}
}) as never

const advised = 'write aiSdk(model), with import { aiSdk } from "@troupe/providers"'

test.each<[string, () => unknown]>([
  ["Engine.make", () => Engine.make({ adapter: model })],
  ["Troupe.start", () => Troupe.start({ adapter: model })],
  ["a named model", () => Engine.make({ adapter: { ...(model as object), name: "m", stream: () => {} } as never })],
  ["a fallback", () => Engine.make({ adapter, fallbacks: [model] })],
  ["a fallback with a model", () => Engine.make({ adapter, fallbacks: [{ adapter: model, model: "m" }] })]
])("an AI SDK model as adapter is refused with the advice aiSdk(model): %s", async (_, call) => {
  expect(await messageOf(call, EngineError)).toContain(advised)
})

test("the name of a model as adapter is refused with the advice aiSdk(openai(name))", async () => {
  expect(await messageOf(() => Engine.make({ adapter: "openai/gpt-5.5" as never }), EngineError)).toContain(
    'write aiSdk(openai("gpt-5.5")), with import { aiSdk } from "@troupe/providers"'
  )
})

const calls = {
  run: Chat.run,
  stream: Chat.stream,
  step: Chat.step,
  streamStep: Chat.streamStep,
  generate: Chat.generate,
  streamGenerate: Chat.streamGenerate,
  start: Session.start,
  streamStart: Session.streamStart
} as unknown as Readonly<Record<string, (engine: Engine.Engine, said: unknown) => Promise<unknown>>>

test.each(Object.entries(calls))("%s says what to write instead of a value that is no thread", async (_, call) => {
  const advice = (said: unknown) => messageOf(() => call(engine, said), ValidationError)
  const from = 'with import { user } from "@troupe/chat"'
  expect(await advice("hello")).toContain(`instead of a text write [user("hello")], ${from}`)
  expect(await advice("x".repeat(500))).toContain(`write [user("${"x".repeat(40)}… (460 characters more)")]`)
  expect(await advice(user("hello"))).toContain("instead of one message write a list: [message]")
  expect(await advice([user("hi"), "hello"])).toContain(
    `instead of the text at messages.1 write user("hello"), ${from}`
  )
  const roles = "must be one of system, user, assistant, tool"
  expect(await advice([user("hi"), { role: "developer", content: "hello" }])).toContain(
    `the role of messages.1 ${roles}`
  )
  expect(await advice([{ content: "hello" }])).toContain(`the role of messages.0 ${roles}`)
  expect(await advice({ messages: "hello" })).toContain('write [user("hello")]')
  expect(await advice(undefined)).toContain('write a list of messages, for example [user("Hello")]')
  expect(await advice([])).toContain('write at least one message, for example [user("Hello")]')
})

test.each<[string, (tools: never) => unknown, typeof EngineError | typeof ValidationError]>([
  ["Engine.make", (tools) => Engine.make({ adapter, tools }), EngineError],
  ["Troupe.start", (tools) => Troupe.start({ adapter, tools }), EngineError],
  ["Chat.run", (tools) => Chat.run(engine, [user("hi")], { tools }), ValidationError]
])("%s says what to write instead of tools that are no list of tools", async (_, call, type) => {
  const message = (tools: unknown) => messageOf(() => call(tools as never), type)
  const asObject = await message({ weather: { description: "The weather" } })
  expect(asObject).toContain(
    'write tools: [tool({ name: "weather", description, parameters, execute })], a list instead of an object'
  )
  const asLiteral = await message([named("a"), { name: "weather", execute: () => 1 }])
  expect(asLiteral).toMatch(/tools(\[1\]|\.1)/)
  expect(asLiteral).toContain('write tool({ name: "weather", description, parameters, execute })')
})

test.each([
  ["get weather", 'instead of "get weather" write for example name: "get_weather"'],
  ["météo", 'instead of "météo" write for example name: "m_t_o"'],
  ["天気", 'instead of "天気" write for example name: "my_tool"'],
  ["auto", '"auto" is a word of toolChoice, so no tool can have it; write for example name: "auto_tool"'],
  ["", 'every tool needs a name, for example name: "get_weather"'],
  [undefined, 'every tool needs a name, for example name: "get_weather"']
])("an invalid name of a tool is refused with a valid name to write: %j", async (name, advice) => {
  const parts = { name: name as string, description: "" }
  expect(await messageOf(() => tool({ ...parts, execute: () => 1 }), ValidationError)).toContain(advice)
  expect(await messageOf(() => Tool.make(parts), ValidationError)).toContain(advice)
})

const repeated = 'tools.0 and tools.2 are both named "a": rename one of them, or leave it out'

test.each<[string, (tools: ReadonlyArray<Tool.Tool>) => unknown]>([
  ["of an engine, at its first request", (tools) => Chat.run(Engine.make({ adapter, tools }), [user("hi")])],
  ["of a Troupe", (tools) => Troupe.start({ adapter, tools })],
  ["of a call", (tools) => Chat.run(engine, [user("hi")], { tools })]
])("two tools of one name in the list %s are refused, with their places", async (_, call) => {
  const error = await failureOf(() => call([named("a"), named("b"), named("a")]))
  expect(error).toBeInstanceOf(ValidationError)
  expect(error.message).toContain(repeated)
})

test.each([
  ["chatMachine", chatMachine, { id: "c1" }, { type: "turn.start", turn: { messages: [user("hi")] } }],
  ["stepMachine", stepMachine, { thread: { messages: [user("hi")] } }, undefined],
  ["toolCallMachine", toolCallMachine, { drainMs: 0 }, { type: "call.start" }]
] as const)("createActor(%s) without an environment fails with what to write", async (_, machine, input, event) => {
  const actor = createActor(machine as never, { input: input as never })
  const failed = new Promise<unknown>((resolve) => actor.subscribe({ error: resolve }))
  actor.start()
  if (event !== undefined) actor.send(event as never)
  const error = await failed
  expect(error).toBeInstanceOf(EngineError)
  expect(error).toMatchObject({ reason: "invalid_engine" })
  expect(String(error)).toContain("For a chat write createActor(provide(engine))")
  expect(String(error)).toContain('from "@troupe/chat/machines"')
})

test.each([
  [5],
  [undefined],
  [{ role: "user", parts: [{ type: "text", text: "hi" }] }],
  [{ role: "developer", content: "hi" }],
  [{ content: "hi" }]
])("OPT2 chat.send says what to write instead of %j, which is no message", async (input) => {
  const troupe = await Troupe.start({ adapter })
  onTestFinished(() => troupe.stop())
  const chat = await troupe.chat("c1")
  expect(await messageOf(() => chat.send(input as never), ValidationError)).toContain(
    'write a text, a list of parts, or { role: "user", content }'
  )
})

test("a bound machine runs", () => {
  const actor = createActor(StateMachine.bind(chatMachine, environment(engine)), { input: { id: "c1" } }).start()
  actor.send({ type: "turn.start", turn: { messages: [user("hi")] } })
  expect(actor.getSnapshot().status).toBe("active")
  actor.stop()
})
