import { describe, expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import * as Engine from "../../src/options/Engine.ts"
import { askUser } from "../../src/values/HandlerResult.ts"
import * as Session from "../../src/session/Session.ts"
import { make } from "../../src/tool/Tool.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { refusal } from "../double/refusal.ts"
import { calls, callThenAnswer, echo, handling, hi, readAll, readTo, said, says, tagsOf } from "../double/scripts.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const check = leakCheck()

const asking = handling("ask", () => askUser("which?", { choices: ["a", "b"] }))
const manual = make({ name: "m", manual: true })
const tools = [echo, asking, manual]

const given = (scripts: ReadonlyArray<Script>) => {
  const adapter = check.fake({ scripts })
  return { adapter, engine: Engine.make({ adapter, tools }) }
}

const texts = (session: Session.Session) => session.thread.messages.map((message) => `${message.role} ${said(message)}`)

/** A session that asks: its tool's question is open. */
const asked = async (...then: ReadonlyArray<Script>) => {
  const { adapter, engine } = given([calls("ask"), ...then])
  const { session } = await Session.start(engine, hi)
  return { adapter, engine, session }
}

describe("a session's events", () => {
  test("149, S5 come to the session of the collected form", async () => {
    const events = await Session.streamStart(given(callThenAnswer).engine, hi, { requestId: "r" })
    expect(tagsOf(await readAll(events)).at(-1)).toBe("chat_completed")
    const collected = await Session.start(given(callThenAnswer).engine, hi, { requestId: "r" })
    expect({ session: events.session(), result: events.result() }).toEqual(collected)
  })

  test("150, D10, S9 left early, a reply keeps its message and the question it answers", async () => {
    const { engine, session } = await asked(says("thanks"), says("thanks"))
    const events = await Session.streamReply(engine, session, "a")
    expect(texts(events.session()).at(-1)).toBe("user a")
    await readTo(events, "message_started")
    const left = events.session()
    expect(left).toMatchObject({ status: "cancelled", pendingQuestion: { question: "which?" } })
    expect(texts(left).at(-1)).toBe("user a")
    const next = await Session.continue(engine, left)
    expect(next.session.status).toBe("completed")
    expect(next.session).not.toHaveProperty("pendingQuestion")
  })

  test("D10 left after a step, a chat keeps the step, and the calls and the question it left open", async () => {
    const { engine } = given([calls("echo", "m"), says("x")])
    const events = await Session.streamStart(engine, hi)
    await readTo(events, "step_completed")
    expect(events.session()).toMatchObject({
      status: "awaiting_tools",
      pendingToolCalls: [{ id: "c1" }],
      lastOutcome: { haltedReason: "cancelled" }
    })
    const question = await Session.streamStart(given([calls("ask")]).engine, hi)
    await readTo(question, "step_completed")
    expect(question.session()).toMatchObject({ status: "cancelled", pendingQuestion: { toolCallId: "c0" } })
  })

  test("cancelled by its signal, a turn ends with the session cancelled and what was said", async () => {
    const controller = new AbortController()
    const { engine, session } = await asked([{ text: "so f" }, { hang: true }])
    const events = await Session.streamReply(engine, session, "a", { signal: controller.signal })
    for await (const event of events) if (event.type === "text_delta") controller.abort()
    expect(events.session()).toMatchObject({ status: "cancelled", pendingQuestion: { toolCallId: "c0" } })
    expect(texts(events.session()).slice(-2)).toEqual(["user a", "assistant so f"])
  })

  test("151 a step that was read is projected, one that was left changes nothing", async () => {
    const { engine } = given([says("x"), says("x")])
    const session = Session.make({ thread: hi })
    const events = await Session.streamStep(engine, session)
    expect(events.session()).toBe(session)
    expect(events.result()).toMatchObject({ haltedReason: "cancelled" })
    expect(tagsOf(await readAll(events)).at(-1)).toBe("step_completed")
    expect(events.session().status).toBe("completed")
    const left = await Session.streamStep(engine, session)
    await readTo(left, "text_delta")
    expect(left.session()).toBe(session)
  })

  test("a step that was cancelled says so in its fold", async () => {
    const controller = new AbortController()
    const { engine } = given([[{ text: "so f" }, { hang: true }]])
    const events = await Session.streamStep(engine, Session.make({ thread: hi }), { signal: controller.signal })
    for await (const event of events) if (event.type === "text_delta") controller.abort()
    expect(events.session()).toMatchObject({ status: "cancelled", lastOutcome: { haltedReason: "cancelled" } })
  })

  test("leaving the events releases the request, once", async () => {
    const { adapter, engine } = given([[{ text: "x" }, { hang: true }]])
    {
      await using events = await Session.streamStart(engine, hi)
      await events.next()
    }
    expect([adapter.open, adapter.released]).toEqual([0, 1])
  })

  test("what haltWhen throws is thrown, and the session is what was committed", async () => {
    const { engine } = given(callThenAnswer)
    const haltWhen = () => {
      throw new Error("boom")
    }
    const events = await Session.streamStart(engine, hi, { haltWhen })
    await expect(readAll(events)).rejects.toThrow("boom")
    expect(events.session()).toMatchObject({ status: "cancelled" })
    await expect(Session.start(given(callThenAnswer).engine, hi, { haltWhen })).rejects.toThrow("boom")
  })

  test("stream takes no `answer`: it is the session's", async () => {
    const options = { answer: "user_message" } as never
    expect(await refusal(() => Chat.stream(given([]).engine, hi, options))).toMatchObject({ reason: "invalid_options" })
  })
})
