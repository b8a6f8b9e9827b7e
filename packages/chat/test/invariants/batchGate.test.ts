import { describe, expect, test } from "vitest"
import { ToolError } from "../../src/errors/ChatError.ts"
import type { ChatOptions } from "../../src/options/ChatOptions.ts"
import type { ToolEvent } from "../../src/events/Event.ts"
import { askUser, error, halt, ok } from "../../src/values/HandlerResult.ts"
import type * as Hooks from "../../src/gate/Hooks.ts"
import { type Ask, denial, type Question } from "../../src/gate/permissionRules.ts"
import { make } from "../../src/tool/Tool.ts"
import type { ToolCall } from "../../src/model/ToolCall.ts"
import { runToolCalls, streamToolCalls } from "../../src/session/ToolRunner.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { handling } from "../double/scripts.ts"
import type { Tool } from "../../src/tool/toolContract.ts"

const check = leakCheck()

const call = (name: string, id: string = name, args: ToolCall["arguments"] = {}): ToolCall => ({
  id,
  name,
  arguments: args
})

/** Tools that note that they ran. */
const noting = (...names: ReadonlyArray<string>) => {
  const ran: Array<unknown> = []
  const tools = names.map((name) =>
    handling(name, (args) => {
      ran.push(name)
      return ok(args)
    })
  )
  return { tools, ran }
}

/** How each call ended: its outcome, and what the model reads. */
const read = async (toolCalls: ReadonlyArray<ToolCall>, tools: ReadonlyArray<Tool>, options: ChatOptions) => {
  const run = await runToolCalls(toolCalls, tools, options)
  return {
    halt: run.halt,
    said: run.messages.map(({ outcome, content }) => [outcome, content]),
    messages: run.messages
  }
}

/** Answers by the name of the tool. */
const answering =
  (answers: Readonly<Record<string, ReturnType<Ask>>>): Ask =>
  ({ toolCall }) =>
    answers[toolCall.name] ?? "allow"

describe("a batch with a gate", () => {
  test("BATCH6 no tool starts before every call is judged", async () => {
    const { tools, ran } = noting("a", "b")
    const ask: Ask = async ({ toolCall }) => {
      await Promise.resolve()
      ran.push(`ask ${toolCall.name}`)
      return { type: "allow" }
    }
    await runToolCalls([call("a"), call("b")], tools, { permissions: { ask } })
    expect(ran).toEqual(["ask a", "ask b", "a", "b"])
  })

  test("BATCH6 a refused call is denied with its reason as the model's text, and its siblings run", async () => {
    const { tools, ran } = noting("a", "b", "c")
    const typed: Hooks.Hook<"PreToolUse"> = ({ toolName }) =>
      toolName === "c" ? { type: "deny", reason: denial("sandbox_violation", "outside the folder") } : "ok"
    const plain: Hooks.Hook<"PreToolUse"> = ({ toolName }) =>
      toolName === "a" ? { type: "deny", reason: "not on Sundays" } : "ok"
    const { said, halt: ended } = await read([call("a"), call("b"), call("c")], tools, {
      hooks: { PreToolUse: [plain, typed] }
    })
    expect(said).toEqual([
      ["denied", "permission denied: not on Sundays"],
      ["completed", "{}"],
      ["denied", "outside the folder"]
    ])
    expect(ended).toBeUndefined()
    expect(ran).toEqual(["b"])
  })

  test("a refusal is a ToolError that says for programs why, and no policy is asked about it", async () => {
    const { tools } = noting("a")
    const events: Array<ToolEvent> = []
    const options: ChatOptions = { permissions: { deny: ["a"] }, onToolError: "halt" }
    for await (const event of streamToolCalls([call("a")], tools, options)) {
      if (event.type !== "error") events.push(event)
    }
    expect(events.map(({ type }) => type)).toEqual([
      "tool_execution_started",
      "tool_execution_completed",
      "tool_result_encoded"
    ])
    const { result, outcome } = events[1] as Extract<ToolEvent, { readonly type: "tool_execution_completed" }>
    expect(outcome).toBe("denied")
    const reason = result.type === "error" ? result.reason : undefined
    expect(reason).toBeInstanceOf(ToolError)
    expect(reason).toMatchObject({ reason: "denied", metadata: { code: "user_denied", requestedTool: "a" } })
  })

  test("BATCH6 a halt at the gate ends the batch: no tool starts, and what was refused stays refused", async () => {
    const { tools, ran } = noting("a", "b", "c", "d")
    const ask = answering({ b: { type: "deny", reason: "no" }, c: { type: "halt", reason: "user_stop" } })
    const { said, halt: ended } = await read(
      ["a", "b", "c", "d"].map((name) => call(name)),
      tools,
      {
        permissions: { ask }
      }
    )
    expect(said.map(([outcome]) => outcome)).toEqual(["not_started", "denied", "denied", "not_started"])
    expect(said[1]?.[1]).toBe("no")
    expect(said[0]?.[1]).toBe('{"error":"cancelled: not started: the batch was ended before it began"}')
    expect(ended).toEqual({ type: "halt", toolCallId: "c", reason: "user_stop", result: null })
    expect(ran).toEqual([])
  })

  test("a hook that crashes before a call is a halt that says what was thrown", async () => {
    const { tools } = noting("a")
    const PreToolUse = [() => Promise.reject(new Error("boom"))]
    const { halt: ended } = await read([call("a")], tools, { hooks: { PreToolUse } })
    expect(ended).toMatchObject({ reason: "hook_crashed", result: "boom" })
  })

  test("edited arguments are what runs, and the call's events and message say so", async () => {
    const { tools } = noting("a")
    const ask: Ask = () => ({ type: "allow", arguments: { x: 2 } })
    const started: Array<unknown> = []
    for await (const event of streamToolCalls([call("a", "1", { x: 1 })], tools, { permissions: { ask } })) {
      if (event.type === "tool_execution_started") started.push(event.arguments)
    }
    expect(started).toEqual([{ x: 2 }])
    const { messages } = await read([call("a", "1", { x: 1 })], tools, { permissions: { ask } })
    expect(messages[0]).toMatchObject({ content: '{"x":2}', metadata: { arguments: { x: 2 } } })
  })

  test("a call that was not edited carries no record of its arguments", async () => {
    const { messages } = await read([call("a")], noting("a").tools, { permissions: { ask: () => "allow" } })
    expect(messages[0]).not.toHaveProperty("metadata")
  })

  test("edited arguments that do not fit the schema are invalid", async () => {
    const parameters = { type: "object", properties: { x: { type: "number" } }, required: ["x"] }
    const tools = [make({ name: "a", parameters, handler: ok })]
    const ask: Ask = () => ({ type: "allow", arguments: { x: "two" } })
    const { said } = await read([call("a", "1", { x: 1 })], tools, { permissions: { ask } })
    expect(said.map(([outcome]) => outcome)).toEqual(["invalid"])
  })

  test("the order of starts goes by the edited arguments", async () => {
    const log: Array<string> = []
    const write = make({
      name: "write",
      key: ({ file }) => (typeof file === "string" ? file : undefined),
      handler: async (_args, { toolCall }) => {
        log.push(`start ${toolCall.id}`)
        await Promise.resolve()
        log.push(`end ${toolCall.id}`)
        return ok(null)
      }
    })
    const ask: Ask = ({ toolCall }) =>
      toolCall.id === "2" ? { type: "allow", arguments: { file: "a" } } : { type: "allow" }
    const both = [call("write", "1", { file: "a" }), call("write", "2", { file: "b" })]
    await read(both, [write], { permissions: { ask }, schedule: "effects" })
    expect(log).toEqual(["start 1", "end 1", "start 2", "end 2"])
  })

  test("BGATE1 nobody is asked about a tool that does not exist, or about arguments that are none", async () => {
    const asked: Array<string> = []
    const { tools } = noting("a", "b")
    const permissions = {
      ask: ({ toolCall }: Question) => {
        asked.push(toolCall.id)
        return "allow" as const
      }
    }
    const { said } = await read([call("a", "1", null), call("b", "2")], tools, { permissions })
    expect(asked).toEqual(["2"])
    expect(said.map(([outcome]) => outcome)).toEqual(["invalid", "completed"])
  })

  test("BGATE2 a question takes its time, and no call times out over it", async () => {
    const { system, clock } = check.system()
    const { tools } = noting("a")
    const ask: Ask = () => new Promise((resolve) => void clock.setTimeout(() => resolve("allow"), 60_000))
    const running = read([call("a")], tools, { permissions: { ask }, toolTimeoutMs: 100, system })
    await clock.advance(60_000)
    expect((await running).said).toEqual([["completed", "{}"]])
  })

  test("BGATE3 a cancel ends an open question: it is aborted, and every call is cancelled", async () => {
    const { signal, abort } = check.signal()
    const open = Promise.withResolvers<AbortSignal>()
    const ask: Ask = (question) => {
      open.resolve(question.signal)
      return new Promise(() => undefined)
    }
    const running = read([call("a"), call("b")], noting("a", "b").tools, { permissions: { ask }, signal })
    const asking = await open.promise
    abort()
    const { said, halt: ended } = await running
    expect(asking.aborted).toBe(true)
    expect(said.map(([outcome]) => outcome)).toEqual(["cancelled", "cancelled"])
    expect(ended).toMatchObject({ type: "cancelled" })
  })

  test("BGATE3 a reader that leaves ends an open question", async () => {
    let asking: AbortSignal | undefined
    const ask: Ask = (question) => {
      asking = question.signal
      return new Promise(() => undefined)
    }
    const events = streamToolCalls([call("a")], noting("a").tools, { permissions: { ask } })
    void events.next()
    await until(() => asking !== undefined)
    void events.return()
    await until(() => asking?.aborted === true, "the abort of the question")
    expect(asking?.aborted).toBe(true)
  })

  test("a suspended call is handed on without an outcome, and its siblings run", async () => {
    const { tools, ran } = noting("a", "b")
    const ask = answering({ a: "suspend" })
    const run = await runToolCalls([call("a"), call("b")], tools, { permissions: { ask } })
    expect(run.messages.map(({ toolCallId }) => toolCallId)).toEqual(["b"])
    expect(ran).toEqual(["b"])
  })
})

describe("hooks after a call", () => {
  const after = async (tools: ReadonlyArray<Tool>, hooks: Hooks.Hooks, options: ChatOptions = {}) =>
    read(
      tools.map(({ name }) => call(name)),
      tools,
      { ...options, hooks }
    )

  const augmenting =
    (text: string): Hooks.Hook<"PostToolUse"> =>
    () => ({ type: "augment", text })
  const halting: Hooks.Hook<"PostToolUse"> = () => ({ type: "halt", reason: "enough" })

  test("BGATE4 what they add follows the result after a blank line, for the model and in the event", async () => {
    const { tools } = noting("a")
    const hooks: Hooks.Hooks = { PostToolUse: [augmenting("2 warnings"), augmenting("1 hint")] }
    expect((await after(tools, hooks)).said).toEqual([["completed", "{}\n\n2 warnings\n1 hint"]])
    const encoded: Array<string> = []
    for await (const event of streamToolCalls([call("a")], tools, { hooks })) {
      if (event.type === "tool_result_encoded") encoded.push(event.content)
    }
    expect(encoded).toEqual(["{}\n\n2 warnings\n1 hint"])
  })

  test("BGATE4 a halt keeps the result and the outcome, and ends the turn", async () => {
    const { said, halt: ended } = await after(noting("a").tools, { PostToolUse: [halting] })
    expect(said).toEqual([["completed", "{}"]])
    expect(ended).toEqual({ type: "halt", toolCallId: "a", reason: "enough", result: {} })
  })

  test("BGATE4 a halt, and a hook that throws, keep what hooks before added", async () => {
    const throwing = () => {
      throw new Error("boom")
    }
    for (const last of [halting, throwing]) {
      const { said, halt: ended } = await after(noting("a").tools, { PostToolUse: [augmenting("1 hint"), last] })
      expect([said, ended?.type]).toEqual([[["completed", "{}\n\n1 hint"]], "halt"])
    }
  })

  test("BGATE4 a call that ended the turn itself ends it with its own reason", async () => {
    const own = handling("a", () => halt("finished", 7))
    expect((await after([own], { PostToolUse: [halting] })).halt).toMatchObject({ reason: "finished", result: 7 })
  })

  test("both get a failure, with its reason; the answer of the first does not count", async () => {
    const notified: Array<unknown> = []
    const failing = handling("a", () => error("disk full"))
    const PostToolUseFailure: ReadonlyArray<Hooks.Hook<"PostToolUseFailure">> = [
      ({ toolName, reason, outcome }) => {
        notified.push({ toolName, reason, outcome })
        return "halt"
      }
    ]
    const { said, halt: ended } = await after([failing], { PostToolUseFailure, PostToolUse: [augmenting("post")] })
    expect(notified).toEqual([{ toolName: "a", reason: "disk full", outcome: "failed" }])
    expect(said).toEqual([["failed", '{"error":"disk full"}\n\npost']])
    expect(ended).toBeUndefined()
  })

  test("calls that were refused, do not exist or asked a question reach no hook", async () => {
    const notified: Array<string> = []
    const note = ({ toolName }: Hooks.ToolUse): void => void notified.push(toolName)
    const asking = handling("ask", () => askUser("Which?"))
    const { tools } = noting("no")
    const { said } = await read([call("no"), call("ask"), call("ask", "2", null)], [...tools, asking], {
      hooks: { PostToolUse: [note], PostToolUseFailure: [note] },
      permissions: { deny: ["no"] }
    })
    expect(said.map(([outcome]) => outcome)).toEqual(["denied", "completed", "invalid"])
    expect(notified).toEqual(["ask"])
  })

  test("a call that timed out is a failure, and has no result to look at", async () => {
    const { system, clock } = check.system()
    const notified: Array<string> = []
    const slow = handling("a", () => new Promise(() => undefined))
    const hooks: Hooks.Hooks = {
      PostToolUse: [() => void notified.push("post")],
      PostToolUseFailure: [({ outcome }) => void notified.push(outcome)]
    }
    const running = after([slow], hooks, { system, toolTimeoutMs: 50 })
    await clock.advance(50)
    expect((await running).said[0]?.[0]).toBe("timed_out")
    expect(notified).toEqual(["timed_out"])
  })

  test("BGATE2 a slow hook costs the call nothing; one that never answers is a halt, and the result stays", async () => {
    const { system, clock } = check.system()
    const hook: Hooks.Hook<"PostToolUse"> = () => new Promise(() => undefined)
    const running = after(noting("a").tools, { PostToolUse: [hook] }, { system, toolTimeoutMs: 50, hookTimeoutMs: 500 })
    await clock.advance(500)
    const { said, halt: ended } = await running
    expect(said).toEqual([["completed", "{}"]])
    expect(ended).toMatchObject({ reason: "hook_crashed", result: "no answer within 500 ms" })
  })

  test("BGATE3 a cancel ends an open hook, and the call keeps the outcome it had", async () => {
    const { signal, abort } = check.signal()
    const open = Promise.withResolvers<AbortSignal>()
    const hook: Hooks.Hook<"PostToolUse"> = (_, context) => {
      open.resolve(context.signal)
      return new Promise(() => undefined)
    }
    const running = after(noting("a").tools, { PostToolUse: [hook] }, { signal })
    const notified = await open.promise
    abort()
    const { said, halt: ended } = await running
    expect(notified.aborted).toBe(true)
    expect(said).toEqual([["completed", "{}"]])
    expect(ended).toMatchObject({ type: "cancelled" })
  })

  test("under effects a halt after one write keeps the next from starting", async () => {
    const { tools, ran } = noting("a", "b")
    const { said, halt: ended } = await after(tools, { PostToolUse: [halting] }, { schedule: "effects" })
    expect(said.map(([outcome]) => outcome)).toEqual(["completed", "not_started"])
    expect(ended).toMatchObject({ reason: "enough", toolCallId: "a" })
    expect(ran).toEqual(["a"])
  })
})
