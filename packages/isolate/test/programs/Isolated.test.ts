import { Fake, Troupe } from "@troupe/chat"
import type { ToolEvent } from "@troupe/chat/events"
import { Message } from "@troupe/chat/messages"
import { runToolCalls, streamToolCalls } from "@troupe/chat/tools"
import { Process, System } from "@troupe/otp"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { describe, expect, test } from "vitest"
import * as z from "zod"
import { isolated, type Isolation } from "../../src/index.ts"
import { seen } from "../double/seen.ts"
import { runs } from "../double/processes.ts"
import { callsOf, contents, isolate, toolOf, until } from "../double/running.ts"

const own = isolate()
const both: ReadonlyArray<Isolation> = ["worker", "process"]

describe.each(both)("in a %s", (place) => {
  test("the module's function gets arguments that fit, and what it returns is the result", async () => {
    const double = isolated({
      name: "double",
      isolate: place,
      module: new URL("../double/functions.ts", import.meta.url),
      export: "double",
      parameters: z.object({ n: z.number().default(4) })
    })
    expect(contents(await own.run(double))).toEqual([["completed", "8"]])
    expect(contents(await own.run(double, { n: "x" }))).toMatchObject([["invalid", expect.stringContaining("number")]])
  })

  test("a module's default export is run unless another is named", async () => {
    const module = "data:text/javascript,export default ({ n }) => n + 1"
    expect(contents(await own.run(isolated({ name: "t", isolate: place, module }), { n: 1 }))).toEqual([
      ["completed", "2"]
    ])
  })

  test("the four outcomes come back as what they are", async () => {
    const outcomes = isolated({
      name: "t",
      isolate: place,
      module: new URL("../double/outcomes.ts", import.meta.url),
      export: "outcomes"
    })
    const hows = ["ok", "error", "effect", "failing effect", "ask", "halt"]
    const calls = callsOf(...hows.map((how) => ["t", { how }] as const))
    const result = await runToolCalls(calls, [outcomes], { system: own.system })
    expect(contents(result)).toEqual([
      ["completed", "1"],
      ["failed", '{"error":"no"}'],
      ["completed", "of an effect"],
      ["failed", expect.stringMatching(/handler_raised: .*effect failed/)],
      ["completed", "<awaiting user response>"],
      ["completed", '{"n":1}']
    ])
    expect(result.halt).toMatchObject({ question: "which?", options: { choices: ["a", "b"] } })
  })

  test.each([
    ["alike", "completed", '{"type":"error","reason":"a value"}'],
    ["throw", "failed", /handler_raised: .*ends raised: kaboom/],
    ["throw text", "failed", /handler_raised: .*ends raised: only text/],
    ["reject", "failed", /handler_raised: .*ends raised: later/],
    ["open handles", "completed", "done"]
  ])("a function that ends with %s: %s", async (how, outcome, content) => {
    const found = typeof content === "string" ? content : (expect.stringMatching(content) as string)
    expect(contents(await own.run(toolOf(place, "ends"), { how }))).toEqual([[outcome, found]])
  })

  test("ISO2 a place that is gone without a result is a handler_exit, and says why", async () => {
    const exited = contents(await own.run(toolOf(place, "ends"), { how: "exit" }))
    expect(exited).toEqual([
      ["failed", expect.stringMatching(/handler_exit: ends has no result: .*exited with code 7/)]
    ])
    const crashed = contents(await own.run(toolOf(place, "ends"), { how: "uncaught" }))
    expect(crashed).toEqual([["failed", expect.stringMatching(/handler_exit: .*crashed: out of reach/)]])
  })

  test("ISO3 what cannot be sent there or back is a typed error of the call", async () => {
    const back = contents(await own.run(toolOf(place, "ends"), { how: "unsendable" }))
    expect(back).toEqual([["failed", expect.stringContaining("encoding_failed: the result cannot leave")]])
    const parameters = z.object({ n: z.number() }).transform(({ n }) => ({ n: () => n }))
    const module = new URL("../double/functions.ts", import.meta.url)
    const there = isolated({ name: "ends", isolate: place, module, parameters, jsonSchema: { type: "object" } })
    expect(contents(await own.run(there, { n: 1 }))).toEqual([
      ["failed", expect.stringContaining("invalid_arguments: the arguments cannot be sent to where ends runs")]
    ])
  })

  test("a module that is not there, or exports no such function, is a handler_raised error", async () => {
    const missing = isolated({ name: "t", isolate: place, module: new URL("./nowhere.ts", import.meta.url) })
    expect(contents(await own.run(missing))).toEqual([["failed", expect.stringContaining("handler_raised")]])
    expect(contents(await own.run(toolOf(place, "notAFunction")))).toEqual([
      ["failed", expect.stringContaining("exports no function notAFunction")]
    ])
  })

  test("the function gets the arguments of a handler, and the part of the context that can be sent", async () => {
    const result = await own.run(
      toolOf(place, "saysContext"),
      {},
      {
        context: { user: "ada", since: [1], connection: () => 1 },
        sessionId: "s1",
        requestId: "r1"
      }
    )
    const [message] = result.messages
    expect(message === undefined ? undefined : JSON.parse(Message.text(message))).toMatchObject({
      context: { user: "ada", since: [1] },
      toolCall: { id: "c0", name: "saysContext" },
      sessionId: "s1",
      requestId: "r1",
      idempotencyKey: expect.stringContaining("c0") as string
    })
  })

  test.each(["engine", "chat", "setPermissionMode"])(
    "there is no context.%s, and reading it throws an error that says so",
    async (name) => {
      expect(contents(await own.run(toolOf(place, "reads"), { name }))).toEqual([
        ["failed", expect.stringMatching(`handler_raised: .*an isolated tool has no context.${name}`)]
      ])
    }
  )

  test("ISO2 of a call that writes and was killed the text says that it may have taken effect", async () => {
    const of = async (effect: "read" | "write") =>
      contents(await own.run(toolOf(place, "ends", { effect }), { how: "exit" }))
    expect(await of("write")).toEqual([["failed", expect.stringContaining("code 7; it may have taken effect")]])
    expect(await of("read")).toEqual([["failed", expect.not.stringContaining("taken effect")]])
  })

  test("ISO1 a busy loop ends at its deadline, the event loop goes on meanwhile, and the place is gone", async () => {
    const { tool, values, pid } = seen(toolOf(place, "busy", { timeoutMs: 5_000, graceMs: 20 }))
    const lag = monitorEventLoopDelay({ resolution: 5 })
    const running = own.run(tool)
    await until(() => values.length > 0)
    lag.enable()
    if (place === "process") expect(runs(pid())).toBe(true)
    expect(contents(await running)).toEqual([["timed_out", expect.stringContaining("5000 ms")]])
    lag.disable()
    expect(lag.percentile(50) / 1e6).toBeLessThan(50)
    await until(() => (place === "process" ? !runs(pid()) : own.exits() === 1))
  })

  test("ISO1 the signal of a cancelled call is aborted, and its place has time to leave", async () => {
    const abort = new AbortController()
    const { tool, values } = seen(toolOf(place, "obedient", { graceMs: 10_000 }))
    const running = own.run(tool, {}, { signal: abort.signal, drainMs: 60_000 })
    await until(() => values.includes("running"))
    abort.abort()
    expect(contents(await running)).toEqual([["cancelled", expect.any(String)]])
    expect(values).toEqual(["running", "told"])
  })

  test("ISO1 a cancelled busy loop is killed, and the call is over when it is", async () => {
    const abort = new AbortController()
    const { tool, values, pid } = seen(toolOf(place, "busy", { graceMs: 10 }))
    const running = own.run(tool, {}, { signal: abort.signal, drainMs: 60_000 })
    await until(() => values.length > 0)
    abort.abort()
    expect(contents(await running)).toEqual([["cancelled", expect.any(String)]])
    expect(place === "process" ? !runs(pid()) : own.exits() === 1).toBe(true)
  })

  test("ISO1 a system that is stopped takes its places with it", async () => {
    const { tool, values, pid } = seen(toolOf(place, "busy", { graceMs: 10 }))
    const running = own.run(tool)
    const ended = running.catch((thrown: unknown) => thrown)
    await until(() => values.length > 0)
    await System.stop(own.system)
    await until(() => (place === "process" ? !runs(pid()) : own.exits() === 1))
    expect(await ended).toBeInstanceOf(Error)
  })

  test("ISO1 a living chat that is cancelled, stopped or killed takes its places with it", async () => {
    const { tool, values, pid } = seen(toolOf(place, "busy", { graceMs: 10 }))
    const adapter = Fake.make({
      respond: ({ messages }) =>
        messages.at(-1)?.role === "tool"
          ? [{ text: "done" }, { finish: "stop" }]
          : [{ toolCall: { id: "c0", name: "busy", arguments: {} } }, { finish: "tool_calls" }]
    })
    const troupe = await Troupe.start({ adapter, tools: [tool], system: own.system, maxRestarts: 10 })
    const chat = await troupe.chat("c")
    const ends = [
      () => chat.cancel(),
      () => chat.cancelToolCall("c0"),
      () => {
        for (const running of System.processes(own.system)) if (running.label === "ToolCall busy") Process.kill(running)
        return Promise.resolve()
      },
      () => chat.stop()
    ]
    for (const [round, end] of ends.entries()) {
      chat.send("go")
      await until(() => values.length === round + 1)
      const busy = pid()
      await end()
      await until(() => (place === "process" ? !runs(busy) : own.exits() === round + 1))
    }
    await troupe.stop()
    expect(values).toHaveLength(ends.length)
  })

  test("a sibling is not touched, and each call has a place of its own", async () => {
    const tools = [toolOf(place, "busy", { timeoutMs: 700, graceMs: 0 }), toolOf(place, "ends")]
    const calls = callsOf(["ends", { how: "alike" }], ["busy"], ["ends", { how: "exit" }])
    const events: Array<ToolEvent> = []
    for await (const event of streamToolCalls(calls, tools, { system: own.system })) {
      if (event.type === "tool_execution_completed") events.push(event)
    }
    expect(
      Object.fromEntries(
        events.map((event) => ["id" in event ? event.id : "", "outcome" in event ? event.outcome : ""])
      )
    ).toEqual({
      c0: "completed",
      c1: "timed_out",
      c2: "failed"
    })
  })
})

test("ISO2 a child that cannot be started is a handler_exit, and says why", async () => {
  const { execPath } = process
  process.execPath = "/nowhere/node"
  const ended = contents(await own.run(toolOf("process", "ends")))
  process.execPath = execPath
  expect(ended).toEqual([["failed", expect.stringMatching(/handler_exit: .*could not be started: .*ENOENT/)]])
})

test("thirty calls leave nothing behind", async () => {
  const tool = isolated({ name: "one", isolate: "worker", module: "data:text/javascript,export default () => 1" })
  const calls = callsOf(...Array.from({ length: 30 }, () => ["one"] as const))
  const { messages } = await runToolCalls(calls, [tool], { system: own.system, maxConcurrency: 4 })
  expect(messages.every(({ outcome }) => outcome === "completed")).toBe(true)
  expect(own.threads).toHaveLength(30)
  expect(own.exits()).toBe(30)
}, 60_000)

test.each([
  [{ isolate: "thread" }, "isolate: must_be_one_of worker, process"],
  [{ module: "./hash.ts" }, "module: must_be_a_URL"],
  [{ module: undefined }, "module: must_be_a_URL"],
  [{ export: 7 }, "export: "],
  [{ graceMs: -1 }, "graceMs: must_be_milliseconds"],
  [{ env: { A: 1 } }, "env: must_be_an_object of strings"],
  [{ maxMemoryMb: 0 }, "maxMemoryMb: must_be_a whole number of MiB, at least 16"],
  [{ maxResultBytes: 7.5 }, "maxResultBytes: must_be_a whole number of bytes, at least 1024"],
  [{ graceMS: 5 }, "graceMS: unknown; did you mean graceMs?"],
  [{ timoutMs: 5 }, "timoutMs: unknown; did you mean timeoutMs?"],
  [{ execute: () => 1 }, "execute: unknown; use name"],
  [{ manual: true }, "manual: unknown"],
  [{ description: 5 }, "description: not_a_string"],
  [{ parameters: 5 }, "parameters: must_be a zod schema"],
  [{ name: "no name" }, "name: "]
])("%o is refused", (wrong, message) => {
  const options = { name: "t", isolate: "worker", module: new URL("file:///t.ts"), ...wrong }
  expect(() => isolated(options as never)).toThrow(message)
})
