import type { StandardSchemaV1 } from "@standard-schema/spec"
import { expectTypeOf, test } from "vitest"
import * as z from "zod"
import type { Adapter, AdapterOptions } from "../src/adapter/Adapter.ts"
import type { AdapterEvent, Event, ToolEvent } from "../src/events/Event.ts"
import type { EventStream } from "../src/loop/Chat.ts"
import * as Chat from "../src/loop/Chat.ts"
import type { ChatRef } from "../src/troupe/ChatRef.ts"
import { Troupe } from "../src/troupe/Troupe.ts"
import * as StructuredOutput from "../src/request/StructuredOutput.ts"
import type { Conversation } from "../src/record/Conversation.ts"
import type { ChatView } from "../src/view/ChatView.ts"
import type { ChatSnapshot } from "../src/view/liveView.ts"
import type { ChatOptions } from "../src/options/ChatOptions.ts"
import type { ChatResult, HaltedReason } from "../src/record/ChatResult.ts"
import * as Engine from "../src/options/Engine.ts"
import * as Fake from "../src/adapter/Fake.ts"
import { halt, type HandlerResult, ok } from "../src/values/HandlerResult.ts"
import type { Hooks } from "../src/gate/Hooks.ts"
import type { Ask } from "../src/gate/permissionRules.ts"
import { make } from "../src/tool/Tool.ts"
import { tool } from "../src/tool/functionTool.ts"
import type { Mode } from "../src/record/PermissionMode.ts"
import type { Tool, ToolContext } from "../src/tool/toolContract.ts"

test("a tool's arguments come from its zod schema, as they are after parsing", () => {
  const made = tool({
    name: "add",
    parameters: z.object({ a: z.number(), b: z.number().default(1), tag: z.enum(["x", "y"]).optional() }),
    execute: (args, context) => {
      expectTypeOf(args).toEqualTypeOf<{ a: number; b: number; tag?: "x" | "y" | undefined }>()
      expectTypeOf(context).toEqualTypeOf<ToolContext>()
      return args.a + args.b
    }
  })
  expectTypeOf(made).toEqualTypeOf<Tool>()
})

test("a chat takes the names of the Troupe's agents alone", async () => {
  const adapter = Fake.make({ script: [] })
  const troupe = await Troupe.start({ adapter, agents: { billing: {}, support: {} }, agent: "support" })
  expectTypeOf<typeof troupe.chat>()
    .parameter(1)
    .toEqualTypeOf<{ readonly agent?: "billing" | "support" | undefined } | undefined>()
  // @ts-expect-error an agent of another name
  await troupe.chat("x", { agent: "biling" })
  // @ts-expect-error the Troupe's own agent is one of its agents
  await Troupe.start({ adapter, agents: { billing: {} }, agent: "support" })
  const plain = await Troupe.start({ adapter })
  expectTypeOf(plain).toEqualTypeOf<Troupe>()
  expectTypeOf(troupe).toExtend<Troupe>()
})

test("the arguments of a tool's needsApproval are those of its schema", () => {
  tool({
    name: "pay",
    parameters: z.object({ amount: z.number() }),
    needsApproval: ({ amount }) => expectTypeOf(amount).toBeNumber() && amount > 100,
    execute: () => "paid"
  })
})

test("a tool's arguments come from any Standard Schema", () => {
  const schema = {} as StandardSchemaV1<unknown, { readonly city: string }>
  tool({ name: "t", parameters: schema, jsonSchema: {}, execute: ({ city }) => expectTypeOf(city).toBeString() })
})

test("without a schema, or with JSON Schema, the arguments are unknown", () => {
  tool({ name: "t", execute: (args) => expectTypeOf(args["x"]).toBeUnknown() })
  tool({ name: "t", parameters: { type: "object" }, execute: (args) => expectTypeOf(args["x"]).toBeUnknown() })
})

test("a tool's key sees the arguments its function sees", () => {
  const parameters = z.object({ path: z.string().default("a") })
  tool({ name: "t", parameters, effect: "read", key: ({ path }) => path, execute: ({ path }) => path })
  tool({
    name: "t",
    parameters,
    key: (args) => void expectTypeOf(args).toEqualTypeOf<{ path: string }>(),
    execute: () => 1
  })
  // @ts-expect-error a key is text
  tool({ name: "t", parameters, key: () => 7, execute: () => 1 })
})

test("what does not fit the schema is refused", () => {
  tool({
    name: "t",
    parameters: z.object({ a: z.number() }),
    // @ts-expect-error there is no `b`
    execute: ({ b }) => b
  })
  // @ts-expect-error a handler returns an outcome
  make({ name: "t", handler: () => 1 })
  make({ name: "t", handler: () => Promise.resolve(ok(1)) })
  // @ts-expect-error a halt has a word for its reason
  halt(7)
  expectTypeOf(halt("done")).toExtend<HandlerResult>()
})

test("an event's tag decides its fields", () => {
  const event = {} as Event
  if (event.type === "text_delta") expectTypeOf(event.delta).toBeString()
  if (event.type === "tool_call_completed")
    expectTypeOf(event.arguments).toEqualTypeOf<Readonly<Record<string, unknown>> | null>()
  if (event.type === "tool_execution_completed") expectTypeOf(event.result).toEqualTypeOf<HandlerResult>()
  if (event.type === "chat_completed") expectTypeOf(event.result).toEqualTypeOf<ChatResult>()
  if (event.type === "error") expectTypeOf(event.error).toBeUnknown()
  // @ts-expect-error not before the tag is known
  expectTypeOf(event.delta)
  expectTypeOf<Event["type"]>().toEqualTypeOf<
    | AdapterEvent["type"]
    | ToolEvent["type"]
    | "request_delayed"
    | "thread_compacted"
    | "child_event"
    | "step_completed"
    | "chat_completed"
  >()
})

test("the adapter port takes async iterables, at once or later, of adapter events only", () => {
  const options = {} as AdapterOptions
  expectTypeOf(options.signal).toEqualTypeOf<AbortSignal>()
  expectTypeOf(Fake.make({ script: [] })).toExtend<Adapter>()
  const later: Adapter = { name: "later", stream: async () => (async function* () {})() }
  expectTypeOf(later.name).toBeString()
  const rogue: Adapter = {
    name: "rogue",
    // @ts-expect-error steps are not an adapter's to say
    stream: async function* () {
      yield { type: "step_completed" }
    }
  }
  expectTypeOf(rogue).toEqualTypeOf<Adapter>()
})

test("a chat's events can be read and left, and its result is known", () => {
  const engine = Engine.make({ adapter: Fake.make({ script: [] }) })
  expectTypeOf(Chat.stream).returns.resolves.toEqualTypeOf<EventStream>()
  expectTypeOf(Chat.run(engine, [])).resolves.toEqualTypeOf<ChatResult>()
  expectTypeOf<EventStream>().toExtend<AsyncIterable<Event> & AsyncDisposable>()
  expectTypeOf<"completed">().toExtend<HaltedReason>()
  // @ts-expect-error an option that does not exist
  void Chat.run(engine, [], { maxTurn: 1 })
  // @ts-expect-error a script line that does not exist
  Fake.make({ script: [{ texxt: "a" }] })
})

test("a schema types the object of an answer", async () => {
  const engine = Engine.make({ adapter: Fake.make({ script: [] }) })
  const schema = z.object({ name: z.string(), size: z.enum(["s", "l"]).optional() })
  type City = z.infer<typeof schema>
  expectTypeOf((await Chat.generate(engine, [], { schema })).object).toEqualTypeOf<City>()
  expectTypeOf((await Chat.generate(engine, [], { schema, temperature: 0 })).outputText).toBeString()
  expectTypeOf((await Chat.run(engine, [], { schema, maxTurns: 2 })).object).toEqualTypeOf<City>()
  expectTypeOf((await Chat.generate(engine, [], { schema: { type: "object" } })).object).toBeUnknown()
  // @ts-expect-error no object without a schema
  void (await Chat.generate(engine, [], {})).object
  // @ts-expect-error an option that does not exist
  void Chat.generate(engine, [], { schema, temprature: 0 })
  const chat = {} as ChatRef
  expectTypeOf(chat.send("hi", { schema }).object).returns.resolves.toEqualTypeOf<City>()
  expectTypeOf(chat.send("hi").object).returns.resolves.toBeUnknown()
  expectTypeOf(StructuredOutput.partial(schema).value).toEqualTypeOf<
    { readonly name?: string; readonly size?: string | undefined } | undefined
  >()
})

/** The words that an editor completes: those that are not every text. */
type Completed<A> = A extends string ? (string extends A ? never : A) : never

test("an editor completes why a turn ended, wherever that is, and any other word is a reason too", () => {
  type Words =
    | (
        | "completed"
        | "error"
        | "max_turns"
        | "halt_when"
        | "ask_user"
        | "tool_error"
        | "manual_tool_calls"
        | "cancelled"
      )
    | ("expired" | "awaiting_approval" | "budget_tokens" | "budget_cost" | "budget_time" | "consecutive_mistakes")
    | ("no_progress" | "hook_crashed" | "max_chain_requests" | "max_tree_requests")
  expectTypeOf<Completed<HaltedReason>>().toEqualTypeOf<Words>()
  expectTypeOf<Completed<ChatResult["haltedReason"]>>().toEqualTypeOf<Words>()
  expectTypeOf<Completed<ChatView["haltedReason"]>>().toEqualTypeOf<Words>()
  expectTypeOf<Completed<ChatSnapshot["context"]["lastHaltedReason"]>>().toEqualTypeOf<Words>()
  expectTypeOf<Completed<NonNullable<Conversation["lastOutcome"]>["haltedReason"]>>().toEqualTypeOf<Words>()
  expectTypeOf<Completed<Conversation["lastHaltedReason"]>>().toEqualTypeOf<Words>()
  expectTypeOf("out_of_stock").toExtend<HaltedReason>()
})

test("only a manual tool needs no function", () => {
  expectTypeOf(tool({ name: "approve", manual: true })).toEqualTypeOf<Tool>()
  // @ts-expect-error any other needs one
  tool({ name: "approve" })
})

test("questions and hooks have typed arguments, and may answer with promises", () => {
  const ask: Ask = async ({ toolCall, mode }) => {
    expectTypeOf(mode).toEqualTypeOf<Mode>()
    return toolCall.name === "t" ? { type: "allow" } : { type: "deny", reason: "no" }
  }
  const hooks: Hooks = {
    PreToolUse: [async ({ toolName }) => (toolName === "t" ? { type: "deny", reason: "no" } : undefined), () => "ok"],
    PostToolUse: [{ match: /t/, hooks: [async ({ result }) => ({ type: "augment", text: result }), () => {}] }],
    Stop: [({ result }) => expectTypeOf(result).toEqualTypeOf<ChatResult>() && undefined]
  }
  expectTypeOf({ permissions: { ask }, hooks }).toExtend<ChatOptions>()
})
