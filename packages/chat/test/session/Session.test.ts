import { describe, expect, test } from "vitest"
import { AdapterError, ToolError, ValidationError } from "../../src/errors/ChatError.ts"
import * as Engine from "../../src/options/Engine.ts"
import { askUser, error, halt, ok } from "../../src/values/HandlerResult.ts"
import { type Message } from "../../src/model/messageShapes.ts"
import { assistant, toolResult, user } from "../../src/model/Message.ts"
import * as Session from "../../src/session/Session.ts"
import * as Thread from "../../src/model/Thread.ts"
import { make } from "../../src/tool/Tool.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { refusal } from "../double/refusal.ts"
import { calls, callThenAnswer, echo, handling, hi, readAll, said, says, tagsOf } from "../double/scripts.ts"
import type { Tool } from "../../src/tool/toolContract.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const check = leakCheck()

const asking = handling("ask", () => askUser("which?", { choices: ["a", "b"] }))
const manual = make({ name: "m", manual: true })
const tools = [echo, asking, manual]

const given = (scripts: ReadonlyArray<Script>, more: ReadonlyArray<Tool> = tools) => {
  const adapter = check.fake({ scripts })
  return { adapter, engine: Engine.make({ adapter, tools: more, context: { from: "engine" } }) }
}

const texts = (session: Session.Session) => session.thread.messages.map((message) => `${message.role} ${said(message)}`)

/** A session that asks: its tool's question is open. */
const asked = async (...then: ReadonlyArray<Script>) => {
  const { adapter, engine } = given([calls("ask"), ...then])
  const { session } = await Session.start(engine, hi)
  return { adapter, engine, session }
}

/** A session that waits for two results. */
const calling = async (...then: ReadonlyArray<Script>) => {
  const { adapter, engine } = given([calls("m", "m"), ...then])
  const { session } = await Session.start(engine, hi)
  return { adapter, engine, session }
}

const failed = async (...then: ReadonlyArray<Script>) => {
  const { adapter, engine } = given([[{ error: "timeout" }], ...then])
  const { session } = await Session.start(engine, hi)
  return { adapter, engine, session }
}

describe("a session", () => {
  test("132 is completed when the model has answered, S1 with the thread of the result", async () => {
    const { session, result } = await Session.start(given([says("hello")]).engine, hi)
    expect(session).toMatchObject({
      status: "completed",
      pendingToolCalls: [],
      lastOutcome: { haltedReason: "completed" }
    })
    expect(session.thread).toBe(result.thread)
    expect(texts(session)).toEqual(["user hi", "assistant hello"])
  })

  test("133 goes on with a reply", async () => {
    const { engine } = given([says("one"), says("two")])
    const { session } = await Session.start(engine, hi)
    const next = await Session.reply(engine, session, "more")
    expect(texts(next.session)).toEqual(["user hi", "assistant one", "user more", "assistant two"])
    expect(texts(session)).toHaveLength(2)
  })

  test("134 awaits the user with the question, and its answer is a message", async () => {
    const { engine, session } = await asked(says("thanks"))
    expect(session).toMatchObject({
      status: "awaiting_user",
      pendingQuestion: { question: "which?", toolCallId: "c0", options: { choices: ["a", "b"] } }
    })
    const next = await Session.reply(engine, session, "a")
    expect(next.session.status).toBe("completed")
    expect(next.session).not.toHaveProperty("pendingQuestion")
    expect(texts(next.session).slice(2)).toEqual([
      "tool <awaiting user response>",
      "assistant which?",
      "user a",
      "assistant thanks"
    ])
  })

  test.each(["reply", "continue"] as const)(
    "D35 by %s, the answer can be the result of the call that asked",
    async (by) => {
      const { adapter, engine, session } = await asked(says("thanks"))
      const options = { answer: "tool_result" } as const
      const next =
        by === "reply"
          ? await Session.reply(engine, session, "a", options)
          : await Session.continue(engine, session, user("a"), options)
      expect(texts(next.session)).toEqual(["user hi", "assistant ", "tool a", "assistant thanks"])
      expect(adapter.requests.at(-1)?.messages).toHaveLength(3)
    }
  )

  test("D35 without a question the answer is a message, whatever its form", async () => {
    const { engine } = given([says("one"), says("two")])
    const { session } = await Session.start(engine, hi)
    const next = await Session.reply(engine, session, "a", { answer: "tool_result" })
    expect(texts(next.session)[2]).toBe("user a")
  })

  test("135 awaits results, is idle with the last of them, and goes on", async () => {
    const { engine, session } = await calling(says("done"))
    expect([session.status, session.pendingToolCalls.map(({ id }) => id)]).toEqual(["awaiting_tools", ["c0", "c1"]])
    const one = Session.submitToolResult(session, "c1", "r1")
    expect([one.status, one.pendingToolCalls.map(({ id }) => id)]).toEqual(["awaiting_tools", ["c0"]])
    const both = Session.submitToolResult(one, "c0", "r0")
    expect([both.status, both.pendingToolCalls]).toEqual(["idle", []])
    const { result } = await Session.continue(engine, both)
    expect(result.haltedReason).toBe("completed")
    expect(both.thread.messages.slice(2)).toEqual([toolResult("c1", "r1"), toolResult("c0", "r0")])
  })

  test("136 takes text and content parts as they are, anything else as JSON", async () => {
    const { session } = await calling()
    const parts = [{ type: "text", text: "x" }]
    const content = (value: unknown) => Session.submitToolResult(session, "c0", value).thread.messages.at(-1)?.content
    expect([content({ a: 1 }), content("s"), content(5), content([]), content(undefined), content(parts)]).toEqual([
      '{"a":1}',
      "s",
      "5",
      "[]",
      "null",
      parts
    ])
    expect(() => content(1n)).toThrow(ToolError)
  })

  test("137, 138 refuses a result of a call it does not wait for", async () => {
    const { engine } = given([calls("echo", "m")])
    const { session } = await Session.start(engine, hi)
    expect(session.pendingToolCalls.map(({ id }) => id)).toEqual(["c1"])
    for (const id of ["c0", "bogus"]) {
      expect(await refusal(() => Session.submitToolResult(session, id, "r"))).toMatchObject({
        reason: "unknown_tool_call_id",
        metadata: { toolCallId: id }
      })
    }
  })

  test("139, D32 takes all results or none; one submitted twice is refused", async () => {
    const { session } = await calling()
    const submit = (...ids: ReadonlyArray<string>) =>
      Session.submitToolResults(
        session,
        ids.map((id) => [id, "r"] as const)
      )
    for (const ids of [
      ["c0", "bogus", "c1"],
      ["c0", "c0", "c1"],
      ["c0", "c1", "c0"]
    ]) {
      expect(await refusal(() => submit(...ids))).toMatchObject({ reason: "unknown_tool_call_id" })
    }
    expect(submit()).toBe(session)
    expect(submit("c0", "c1")).toEqual(
      Session.submitToolResult(Session.submitToolResult(session, "c0", "r"), "c1", "r")
    )
  })

  test("D32 calls of one id are answered one after the other", () => {
    const call = { id: "c", name: "m", arguments: {} }
    const session = Session.make({
      thread: [user("hi"), assistant("", [call, call])],
      status: "awaiting_tools",
      pendingToolCalls: [call, call]
    })
    const one = Session.submitToolResult(session, "c", "1")
    expect(one.pendingToolCalls).toHaveLength(1)
    expect(Session.submitToolResult(one, "c", "2").status).toBe("idle")
  })

  test("141, D25 an error ends it, and is kept as it is", async () => {
    const { session } = await failed()
    expect(session.status).toBe("error")
    expect(session.lastOutcome?.error).toBeInstanceOf(AdapterError)
    const { engine } = given([calls("bad")], [handling("bad", () => error("no"))])
    const { session: halted } = await Session.start(engine, hi, { onToolError: "halt" })
    expect(halted).toMatchObject({ status: "error", lastOutcome: { haltedReason: "tool_error", error: "no" } })
  })

  test("an error that nobody named is an error all the same", async () => {
    const { session } = await Session.start(given([[{ finish: "error" }]]).engine, hi)
    expect(session.lastOutcome?.error).toMatchObject({ _tag: "AdapterError", reason: "unknown" })
  })

  test("D23 recover leaves the error; an empty reply goes, what was said stays", async () => {
    const { engine, session } = await failed(says("again"))
    const recovered = Session.recover(session)
    expect([recovered.status, texts(recovered)]).toEqual(["idle", ["user hi"]])
    expect(recovered.lastOutcome).toEqual(session.lastOutcome)
    expect(texts((await Session.continue(engine, recovered)).session)).toEqual(["user hi", "assistant again"])
    const partial = await Session.start(given([[{ text: "so f" }, { error: "timeout" }]]).engine, hi)
    expect(texts(Session.recover(partial.session))).toEqual(["user hi", "assistant so f"])
  })

  test("142 a step of its own leaves it idle when it would go on", async () => {
    const { engine } = given([calls("echo"), says("done")])
    const first = await Session.step(engine, Session.make({ thread: hi }))
    expect([first.session.status, first.result.done, first.session.lastOutcome]).toEqual(["idle", false, undefined])
    const second = await Session.step(engine, first.session)
    expect([second.session.status, second.result.done]).toEqual(["completed", true])
    expect(second.session.thread).toBe(second.result.thread)
  })

  test.each([
    ["ask", "auto", "awaiting_user", "ask_user"],
    ["m", "auto", "awaiting_tools", "manual_tool_calls"],
    ["echo", "manual", "awaiting_tools", "manual_tool_calls"],
    ["stop", "auto", "completed", "budget"]
  ] as const)("142 a step that calls %s in mode %s leaves it %s", async (name, mode, status, haltedReason) => {
    const { engine } = given([calls(name)], [...tools, handling("stop", () => halt("budget", 1))])
    const { session } = await Session.step(engine, Session.make({ thread: hi }), { mode })
    expect(session).toMatchObject({ status, lastOutcome: { haltedReason } })
  })

  test("calls that were announced and never made leave it idle", async () => {
    const { session } = await Session.start(given([[{ finish: "tool_calls" }]]).engine, hi, { mode: "manual" })
    expect(session).toMatchObject({ status: "idle", pendingToolCalls: [] })
  })

  test("143, D23 max_turns, haltWhen and a tool's halt complete it, and it says which", async () => {
    const outcome = async (options: Parameters<typeof Session.start>[2]) => {
      const { session } = await Session.start(given(callThenAnswer).engine, hi, options)
      return [session.status, session.lastOutcome?.haltedReason, session.lastOutcome?.metadata]
    }
    expect(await outcome({ maxTurns: 1 })).toEqual(["completed", "max_turns", { maxTurns: 1 }])
    expect(await outcome({ haltWhen: () => true })).toEqual(["completed", "halt_when", { haltWhenStepIndex: 0 }])
  })

  test("D24, S2 its metadata stays the caller's, and the last outcome is replaced", async () => {
    const { engine } = given(callThenAnswer)
    const begun = Session.make({ id: "s", thread: hi, metadata: { mine: 1 } })
    const { session } = await Session.start(engine, begun, { maxTurns: 1 })
    const next = await Session.continue(engine, session)
    expect([next.session.metadata, next.session.lastOutcome]).toEqual([
      { mine: 1 },
      { haltedReason: "completed", metadata: {} }
    ])
    expect(next.session.id).toBe("s")
  })

  test("144, 145, D12 tools see its id, and its context when it has one", async () => {
    const seen: Array<unknown> = []
    const spy = handling("echo", (_, { context, sessionId }) => ok(seen.push([context, sessionId])))
    const run = (fields: Parameters<typeof Session.make>[0], options = {}) =>
      Session.start(given(callThenAnswer, [spy]).engine, Session.make({ thread: hi, ...fields }), options)
    await run({})
    await run({ id: "s1", context: { b: 2 } })
    await run({ id: "s1", context: { b: 2 } }, { sessionId: "x", context: { c: 3 } })
    expect(seen).toEqual([
      [{ from: "engine" }, undefined],
      [{ b: 2 }, "s1"],
      [{ c: 3 }, "x"]
    ])
  })

  test.each([[null], ["hi"], [5], [{ a: 1 }], [[{ not: "a message" }]], [{ messages: [1] }], [{ status: "idle" }]])(
    "146 does not start from %j",
    async (input) => {
      const { engine, adapter } = given([says("x")])
      const refused = await refusal(() => Session.start(engine, input as never))
      expect(refused).toMatchObject({ _tag: "ValidationError", reason: "invalid_session_input" })
      expect(adapter.requests).toHaveLength(0)
    }
  )

  test("153, S7 an operation that fails leaves the caller's value untouched", async () => {
    const { session } = await asked()
    const before = structuredClone(session)
    const { engine } = given([[{ preflightError: "authentication_failed" }]])
    expect(await refusal(() => Session.reply(Engine.make({}), session, "a"))).toMatchObject({
      reason: "missing_adapter"
    })
    expect(await refusal(() => Session.reply(engine, session, "a"))).toMatchObject({ reason: "authentication_failed" })
    expect(await refusal(() => Session.reply(engine, session, 5 as never))).toBeInstanceOf(ValidationError)
    const options = { answer: "shout" } as never
    expect(await refusal(() => Session.reply(engine, session, "a", options))).toMatchObject({
      reason: "invalid_options"
    })
    expect(session).toEqual(before)
  })

  test("D3 an unknown tool in the first step is the error of the collected form, an event of the streamed one", async () => {
    const { engine } = given([calls("ghost"), calls("ghost"), calls("ghost")])
    expect(await refusal(() => Session.start(engine, hi))).toMatchObject({ reason: "unknown_tool" })
    const session = Session.make({ thread: hi })
    expect(await refusal(() => Session.step(engine, session))).toMatchObject({ reason: "unknown_tool" })
    const events = await Session.streamStart(engine, hi)
    expect(tagsOf(await readAll(events))).toContain("error")
    expect(events.session()).toMatchObject({ status: "error", lastOutcome: { error: { reason: "unknown_tool" } } })
  })

  test("D9 calls that wait beside a halt come first, and a question beside them after", async () => {
    const { adapter, engine } = given([calls("ask", "m"), says("done")])
    const { session } = await Session.start(engine, hi)
    expect(session).toMatchObject({ status: "awaiting_tools", pendingQuestion: { toolCallId: "c0" } })
    const submitted = Session.submitToolResult(session, "c1", "r")
    expect(submitted.status).toBe("awaiting_user")
    const { session: next } = await Session.reply(engine, submitted, "a")
    expect(next.status).toBe("completed")
    expect(adapter.requests.at(-1)?.messages.map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "tool",
      "tool",
      "assistant",
      "user"
    ])
  })

  test("cancel answers the calls it waits for, and keeps an open question", async () => {
    const { engine, session } = await calling(says("fine"))
    const cancelled = Session.cancel(session)
    expect(cancelled).toMatchObject({ status: "cancelled", pendingToolCalls: [] })
    expect(texts(cancelled).filter((text) => text.startsWith("tool") && text.includes("cancelled"))).toHaveLength(2)
    expect(Session.cancel(cancelled)).toBe(cancelled)
    expect((await Session.reply(engine, cancelled, "go on")).session.status).toBe("completed")
    const question = await asked(says("thanks"))
    const kept = Session.cancel(question.session)
    expect(kept).toMatchObject({ status: "cancelled", pendingQuestion: { question: "which?" } })
    const next = await Session.reply(question.engine, kept, "a")
    expect(next.session).not.toHaveProperty("pendingQuestion")
  })

  test("S8 a thread whose calls and results do not pair up is not sent", async () => {
    const call = assistant("", [{ id: "c0", name: "m", arguments: {} }])
    const result = toolResult("c0", "r")
    const { adapter, engine } = given([says("x")])
    const threads: ReadonlyArray<ReadonlyArray<Message>> = [
      [user("hi"), call],
      [user("hi"), call, user("well?"), result],
      [user("hi"), result],
      [user("hi"), call, result, result]
    ]
    for (const thread of threads) {
      const refused = await refusal(() => Session.start(engine, thread))
      expect(refused).toMatchObject({ reason: "unpaired_tool_calls", metadata: { toolCallId: "c0" } })
    }
    expect(adapter.requests).toHaveLength(0)
    await Session.start(engine, [user("hi"), call, result])
    expect(adapter.requests).toHaveLength(1)
  })

  test("S8 a thread is validated before its calls and results are paired", async () => {
    const { adapter, engine } = given([says("x")])
    const nameless = { role: "tool", content: "r" } as unknown as Message
    const invalid = {
      reason: "invalid_thread",
      errors: [{ field: ["messages", 0, "tool_call_id"], reason: "required" }]
    }
    const starts = [
      () => Session.start(engine, [nameless]),
      () => Session.streamStart(engine, [nameless, assistant("", [{ id: "c0", name: "m", arguments: {} }])]),
      () => Session.step(engine, { ...Session.make(), thread: Thread.from([nameless]) })
    ]
    for (const start of starts) {
      const refused = await refusal(start)
      expect(refused).toBeInstanceOf(ValidationError)
      expect(refused).toMatchObject(invalid)
    }
    expect(adapter.requests).toHaveLength(0)
  })

  test("S6 one that was kept goes on as the one in memory", async () => {
    const kept = async (session: Session.Session) => Session.make(structuredClone(session))
    const { engine, session } = await calling(says("done"))
    const results = [
      ["c0", 1],
      ["c1", 2]
    ] as const
    const { session: next } = await Session.continue(engine, Session.submitToolResults(await kept(session), results))
    const other = await calling(says("done"))
    const same = await Session.continue(other.engine, Session.submitToolResults(other.session, results))
    expect(next).toEqual(same.session)
  })

  test("make refuses unknown and ill-typed fields", async () => {
    expect(await refusal(() => Session.make({ staus: "idle" } as never))).toMatchObject({ reason: "invalid_session" })
    expect(await refusal(() => Session.make({ status: "bogus" as never }))).toMatchObject({
      reason: "invalid_session",
      errors: [{ field: ["status"] }]
    })
    expect(Session.make({ id: undefined })).toEqual(Session.make())
  })

  test("append adds messages of any role, and none that is invalid", async () => {
    const session = Session.append(Session.make(), ...hi, toolResult("c9", { a: 1 }))
    expect(session).toMatchObject({ status: "idle", thread: { messages: [...hi, toolResult("c9", '{"a":1}')] } })
    expect(Session.append(session, assistant("yo")).thread.messages.at(-1)).toEqual(assistant("yo"))
    expect(await refusal(() => Session.append(session, { role: "user", content: 5 } as never))).toMatchObject({
      reason: "invalid_message"
    })
  })
})
