import { Clock, System } from "@troupe/otp"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import { afterEach, beforeEach, expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import { AdapterError } from "../../src/errors/ChatError.ts"
import type { ChatOptions } from "../../src/options/ChatOptions.ts"
import * as ChatEffect from "../../src/troupe/ChatEffect.ts"
import * as Engine from "../../src/options/Engine.ts"
import * as Fake from "../../src/adapter/Fake.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { make } from "../../src/tool/Tool.ts"
import * as ToolRunner from "../../src/session/ToolRunner.ts"
import { Troupe } from "../../src/troupe/Troupe.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { handling, hi } from "../double/scripts.ts"
import { Spans } from "../double/spans.ts"
import type { Tool } from "../../src/tool/toolContract.ts"
import type { Script } from "../../src/adapter/Fake.ts"

leakCheck()

const slow = make({
  name: "slow",
  description: "Takes its time",
  handler: () => Effect.as(Effect.sleep(500), ok("done"))
})

const twoSteps: ReadonlyArray<Script> = [
  [{ delayMs: 100 }, { toolCall: { id: "c0", name: "slow" } }, { finish: "tool_calls" }],
  [
    { text: "It is" },
    { delayMs: 200 },
    { text: " done." },
    { usage: { inputTokens: 7, outputTokens: 3 } },
    { finish: "stop" }
  ]
]

let spans = new Spans()
let clock = Clock.test()
let system = System.make({ clock })

beforeEach(() => {
  spans = new Spans()
  clock = Clock.test()
  system = System.make({ clock })
})

afterEach(() => System.stop(system))

const engine = (scripts: ReadonlyArray<Script>, tools: ReadonlyArray<Tool> = [slow]) =>
  Engine.make({ adapter: Fake.make({ scripts, clock }), tools, model: "m1" })

const options = (more: ChatOptions = {}): ChatOptions => ({ system, tracing: { tracer: spans.tracer }, ...more })

test("a chat has a span, its steps in it, and in each the request and the tool calls", async () => {
  await clock.run(Chat.run(engine(twoSteps), hi, options({ tracing: { tracer: spans.tracer, agent: "guide" } })))
  expect(spans.tree()).toEqual([
    "invoke_agent guide: ok",
    "  step: ok",
    "    chat m1: ok",
    "    execute_tool slow: ok",
    "  step: ok",
    "    chat m1: ok"
  ])
})

test("a span covers the real time of what it is about, streams too", async () => {
  await clock.run(Chat.run(engine(twoSteps), hi, options()))
  expect([spans.ms("invoke_agent"), spans.ms("execute_tool slow")]).toEqual([800, 500])
  expect(spans.ms("chat m1")).toBe(100)
})

test("the attributes of a request are those of the conventions, without content by default", async () => {
  await clock.run(Chat.run(engine(twoSteps.slice(1)), hi, options({ temperature: 0.5, maxTokens: 9, sessionId: "s1" })))
  expect(spans.attributes("chat m1")).toEqual({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "fake",
    "gen_ai.conversation.id": "s1",
    "gen_ai.request.model": "m1",
    "gen_ai.request.temperature": 0.5,
    "gen_ai.request.max_tokens": 9,
    "gen_ai.request.stream": true,
    "gen_ai.response.time_to_first_chunk": 0,
    "gen_ai.response.finish_reasons": ["stop"],
    "gen_ai.usage.input_tokens": 7,
    "gen_ai.usage.output_tokens": 3
  })
})

test("content is written where it is asked for", async () => {
  await clock.run(Chat.run(engine(twoSteps), hi, options({ tracing: { tracer: spans.tracer, content: true } })))
  expect(spans.attributes("execute_tool slow")).toMatchObject({
    "gen_ai.tool.call.arguments": "{}",
    "gen_ai.tool.call.result": "done"
  })
  expect(String(spans.attributes("chat m1")["gen_ai.input.messages"])).toContain("hi")
})

test("each attempt of a request is a span of its own", async () => {
  const scripts: ReadonlyArray<Script> = [[{ preflightError: "rate_limited" }], [{ text: "ok" }, { finish: "stop" }]]
  await clock.run(Chat.run(engine(scripts), hi, options()))
  expect(spans.tree()).toEqual(["invoke_agent: ok", "  step: ok", "    chat m1: failed", "    chat m1: ok"])
  expect(spans.attributes("chat m1")["error.type"]).toBe("rate_limited")
})

test("what fails ends its span, and those above, with the error", async () => {
  const scripts: ReadonlyArray<Script> = [[{ text: "par" }, { error: new AdapterError("timeout") }]]
  await clock.run(Chat.run(engine(scripts), hi, options()))
  expect(spans.tree()).toEqual(["invoke_agent: failed", "  step: failed", "    chat m1: failed"])
  expect(spans.attributes("invoke_agent")["error.type"]).toBe("timeout")
})

test("a request refused before anything was read fails every span", async () => {
  const scripts: ReadonlyArray<Script> = [[{ preflightError: "authentication_failed" }]]
  await expect(clock.run(Chat.run(engine(scripts), hi, options()))).rejects.toThrow("authentication")
  expect(spans.tree()).toEqual(["invoke_agent: failed", "  step: failed", "    chat m1: failed"])
})

test("TRACE1 TRACE2 a reader that leaves interrupts what is open, children first", async () => {
  const ended: Array<string> = []
  const tracer = Tracer.make({
    span: (given) => {
      const span = new Tracer.NativeSpan(given)
      const end = span.end.bind(span)
      span.end = (time, exit) => {
        ended.push(given.name)
        end(time, exit)
      }
      spans.all.push(span)
      return span
    }
  })
  const never = handling("slow", () => new Promise(() => {}))
  const events = await Chat.stream(engine(twoSteps, [never]), hi, options({ tracing: { tracer } }))
  const reading = (async () => {
    for await (const event of events) if (event.type === "tool_execution_completed") break
  })()
  await clock.advance(100)
  await clock.run(events.return())
  await reading
  expect(ended).toEqual(["chat m1", "execute_tool slow", "step", "invoke_agent"])
  expect(spans.tree().at(-1)).toBe("    execute_tool slow: interrupted")
})

test("a cancelled chat ends its spans interrupted", async () => {
  const abort = new AbortController()
  const scripts: ReadonlyArray<Script> = [[{ text: "on" }, { hang: true }]]
  const events = await Chat.stream(engine(scripts), hi, options({ signal: abort.signal }))
  for await (const event of events) if (event.type === "text_delta") abort.abort()
  expect(spans.tree()).toEqual(["invoke_agent: interrupted", "  step: interrupted", "    chat m1: interrupted"])
})

test("an Effect of a handler is part of the call's span", async () => {
  const nested = handling("slow", () => Effect.succeed(ok(1)).pipe(Effect.withSpan("inside")))
  await clock.run(Chat.run(engine(twoSteps, [nested]), hi, options()))
  expect(spans.tree()).toContain("      inside: ok")
})

test("each turn of a living chat is a trace of its own, named after the chat", async () => {
  const troupe = await Troupe.start({
    adapter: Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }], clock }),
    model: "m1",
    system,
    tracing: { tracer: spans.tracer }
  })
  const chat = await troupe.chat("c1")
  await chat.send("one").result()
  await chat.send("two").result()
  await troupe.stop()
  const turn = ["invoke_agent: ok", "  step: ok", "    chat m1: ok"]
  expect(spans.tree()).toEqual([...turn, ...turn])
  expect(spans.attributes("invoke_agent")["gen_ai.conversation.id"]).toBe("c1")
})

test("tools run on their own, and a single request, have spans below the one given", async () => {
  const parent = spans.tracer.span({
    name: "mine",
    parent: Option.none(),
    annotations: Context.empty(),
    links: [],
    startTime: 0n,
    kind: "internal",
    root: true,
    sampled: true
  })
  const tracing = { tracer: spans.tracer, parent }
  await clock.run(ToolRunner.runToolCalls([{ id: "c0", name: "slow", arguments: {} }], [slow], { system, tracing }))
  await clock.run(Chat.generate(engine(twoSteps.slice(1)), hi, { system, tracing }))
  expect(spans.tree()).toEqual(["mine: open", "  execute_tool slow: ok", "  chat m1: ok"])
})

test("the Effect face traces where its fiber is traced", async () => {
  const run = ChatEffect.run(engine(twoSteps.slice(1)), hi, { system })
  const traced = run.pipe(Effect.withSpan("outer"), Effect.withTracer(spans.tracer))
  await clock.run(System.runFork(system, traced).pipe(Fiber.join, Effect.runPromise))
  expect(spans.tree()).toEqual(["outer: ok", "  invoke_agent: ok", "    step: ok", "      chat m1: ok"])
})

test("TRACE3 a tracer that throws changes nothing", async () => {
  const tracer = Tracer.make({
    span: () => {
      throw new Error("no exporter")
    }
  })
  const result = await clock.run(Chat.run(engine(twoSteps), hi, options({ tracing: { tracer } })))
  expect(result.haltedReason).toBe("completed")
})
