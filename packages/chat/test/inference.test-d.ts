import type { StandardSchemaV1 } from "@standard-schema/spec"
import { expectTypeOf, test } from "vitest"
import * as z from "zod"
import type { Adapter, AdapterOptions } from "../src/adapter/Adapter.ts"
import type { AdapterEvent, Event, ToolEvent } from "../src/events/Event.ts"
import type { EventStream } from "../src/loop/Chat.ts"
import * as Chat from "../src/loop/Chat.ts"
import type { ChatOptions } from "../src/options/ChatOptions.ts"
import type { ChatResult, HaltedReason } from "../src/record/ChatResult.ts"
import * as Engine from "../src/options/Engine.ts"
import * as Fake from "../src/testing/Fake.ts"
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
    AdapterEvent["type"] | ToolEvent["type"] | "step_completed" | "chat_completed"
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
  expectTypeOf(Chat.run).returns.resolves.toEqualTypeOf<ChatResult>()
  expectTypeOf<EventStream>().toExtend<AsyncIterable<Event> & AsyncDisposable>()
  expectTypeOf<"completed">().toExtend<HaltedReason>()
  // @ts-expect-error an option that does not exist
  void Chat.run(engine, [], { maxTurn: 1 })
  // @ts-expect-error a script line that does not exist
  Fake.make({ script: [{ texxt: "a" }] })
})

test("only a manual tool needs no function", () => {
  expectTypeOf(tool({ name: "approve", manual: true })).toEqualTypeOf<Tool>()
  // @ts-expect-error any other needs one
  tool({ name: "approve" })
})

test("questions and hooks are told what they are about, and may answer with promises", () => {
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
