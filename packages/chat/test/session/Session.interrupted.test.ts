import { describe, expect, test } from "vitest"
import * as Codec from "../../src/session/Codec.ts"
import * as Engine from "../../src/options/Engine.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { user } from "../../src/model/Message.ts"
import * as Session from "../../src/session/Session.ts"
import { make } from "../../src/tool/Tool.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, hi, readTo, said, says } from "../double/scripts.ts"
import type { Tool } from "../../src/tool/toolContract.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const check = leakCheck()

const given = (scripts: ReadonlyArray<Script>, tools: ReadonlyArray<Tool> = []) => {
  const adapter = check.fake({ scripts })
  return { adapter, engine: Engine.make({ adapter, tools }) }
}

const texts = (session: Session.Session) => session.thread.messages.map((message) => `${message.role} ${said(message)}`)

/** The session as a program that ended had stored it. */
const stored = (session: Session.Session): Session.Session => Codec.decode("Session", Codec.encode("Session", session))

/** A tool that hangs until its turn is left, one that ends at once, and how often each was called. */
const slow = (effect: "read" | "write" = "write") => {
  const ran: Array<string> = []
  const begun = Promise.withResolvers<void>()
  const hang = make({
    name: "hang",
    effect,
    handler: () => {
      ran.push("hang")
      begun.resolve()
      return new Promise<never>(() => {})
    }
  })
  const quick = make({ name: "quick", handler: () => ok(ran.push("quick")) })
  return { ran, begun: begun.promise, tools: [hang, quick] }
}

/** A session that was left while its call ran. */
const leftInCall = async (name: string, effect: "read" | "write", ...then: ReadonlyArray<Script>) => {
  const { ran, begun, tools } = slow(effect)
  const { adapter, engine } = given([calls("quick", name), ...then], tools)
  const events = await Session.streamStart(engine, hi, { drainMs: 0 })
  await readTo({ [Symbol.asyncIterator]: () => ({ next: () => events.next() }) }, "tool_result_encoded")
  const reading = events.next()
  await begun
  const during = events.session()
  await events.return()
  await reading
  return { adapter, engine, events, ran, during, session: events.session() }
}

describe("a session whose turn was left", () => {
  test("SPROG2 has the text of the reply that streamed, and the next message adds it to the thread", async () => {
    const { engine } = given([[{ text: "Once " }, { text: "upon" }, { hang: true }], says("Yes.")])
    const events = await Session.streamStart(engine, hi)
    await readTo(events, "text_delta")
    const left = stored(events.session())
    expect(left).toMatchObject({ status: "cancelled", running: true, draft: "Once " })
    expect(texts(left)).toEqual(["user hi"])
    const { session } = await Session.reply(engine, left, "go on")
    expect(texts(session)).toEqual(["user hi", "assistant Once ", "user go on", "assistant Yes."])
    expect(session).not.toHaveProperty("draft")
  })

  test("SPROG2 asks again without a message, and drops that text", async () => {
    const { adapter, engine } = given([[{ text: "Once" }, { hang: true }], says("Yes.")])
    const events = await Session.streamStart(engine, hi)
    await readTo(events, "text_delta")
    const { session } = await Session.continue(engine, events.session())
    expect(texts(session)).toEqual(["user hi", "assistant Yes."])
    expect(adapter.requests[1]?.messages).toEqual(hi)
  })

  test("SPROG3 has the results of the calls that ended, and waits for a decision about one that ran", async () => {
    const { engine, ran, session, during } = await leftInCall("hang", "write", says("done"))
    expect(session).toMatchObject({
      status: "awaiting_approval",
      open: { calls: [{ state: "done" }, { state: "waiting", kind: "unknown_outcome" }] }
    })
    expect(during.status).toBe("awaiting_approval")
    expect(texts(session)).toEqual(["user hi", "assistant ", "tool 1"])
    const { session: next } = await Session.approve(engine, stored(session), "c1", {
      type: "result",
      value: "it worked"
    })
    expect(texts(next)).toEqual(["user hi", "assistant ", "tool 1", "tool it worked", "assistant done"])
    expect(ran).toEqual(["quick", "hang"])
  })

  test("SPROG3 does not run a call again that may have run, unless a person allows it", async () => {
    const { ran, session } = await leftInCall("hang", "write")
    const again = make({ name: "hang", handler: () => ok(ran.push("again")) })
    const { engine } = given([says("done")], [again])
    const next = await Session.approve(engine, session, "c1", { type: "allow" })
    expect([next.session.status, ran]).toEqual(["completed", ["quick", "hang", "again"]])
  })

  test("SPROG3 answers a call that only reads as cancelled, and goes on", async () => {
    const { engine, session } = await leftInCall("hang", "read", says("done"))
    expect(session.status).toBe("cancelled")
    expect(session.thread.messages.flatMap((message) => (message.role === "tool" ? [message.outcome] : []))).toEqual([
      "completed",
      "cancelled"
    ])
    expect((await Session.reply(engine, session, "and?")).session.status).toBe("completed")
  })

  test("SPROG4 a step that is left changes nothing before a call that writes had begun", async () => {
    const { ran, begun, tools } = slow()
    const { engine } = given([calls("hang"), calls("hang")], tools)
    const session = Session.make({ thread: hi })
    const early = await Session.streamStep(engine, session)
    await readTo(early, "message_completed")
    expect(early.session()).toBe(session)
    const late = await Session.streamStep(engine, session, { drainMs: 0 })
    await readTo({ [Symbol.asyncIterator]: () => ({ next: () => late.next() }) }, "message_completed")
    const reading = late.next()
    await begun
    await late.return()
    await reading
    expect([late.session().status, ran]).toEqual(["awaiting_approval", ["hang"]])
  })

  test("has its usage once, wherever it was left", async () => {
    const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 }
    const quick = make({ name: "quick", handler: () => ok(1) })
    const scripts: ReadonlyArray<Script> = [
      [{ usage }, ...calls("quick")],
      [{ usage }, ...says("done")]
    ]
    const counts = []
    for (const place of ["tool_result_encoded", "step_completed", "chat_completed"] as const) {
      const events = await Session.streamStart(given(scripts, [quick]).engine, hi)
      await readTo(events, place)
      counts.push(events.session().usage.totalTokens)
    }
    expect(counts).toEqual([3, 3, 6])
  })
})

describe("the record of a chat whose program ended", () => {
  const record = {
    id: "c",
    thread: { messages: hi },
    usage: {},
    running: true,
    draft: "Once upon",
    pendingToolCalls: []
  }

  test("S10 is an interrupted session, which a reply continues with the text that it had", async () => {
    const { engine } = given([says("The end.")])
    const session = Session.make(record)
    expect(session.status).toBe("interrupted")
    const next = await Session.reply(engine, record, user("go on"))
    expect(texts(next.session)).toEqual(["user hi", "assistant Once upon", "user go on", "assistant The end."])
    expect(next.session).toMatchObject({ id: "c", status: "completed", running: false })
  })

  test("S10 has a decision to make about a call that may have run", async () => {
    const { engine } = given([says("done")], [make({ name: "pay", handler: () => ok("paid") })])
    const call = { id: "c0", name: "pay", arguments: {} }
    const intended = {
      ...record,
      draft: undefined,
      thread: { messages: [...hi, { role: "assistant" as const, content: "", toolCalls: [call] }] },
      open: { at: 1, calls: [{ state: "intended" as const }] }
    }
    await expect(Session.reply(engine, intended, "so?")).rejects.toMatchObject({
      reason: "invalid_status_for_operation",
      metadata: { status: "awaiting_approval" }
    })
    const { session } = await Session.approve(engine, intended, "c0", { type: "deny" })
    expect(session.status).toBe("completed")
  })
})

test("a session that an earlier version stored decodes, and continues", async () => {
  const old = {
    type: "Session",
    version: 1,
    data: { thread: { messages: hi }, status: "cancelled", pendingToolCalls: [], context: { a: 1 }, metadata: {} }
  }
  const session = Codec.decode("Session", JSON.stringify(old))
  expect(session).toEqual(Session.make({ thread: hi, status: "cancelled", context: { a: 1 } }))
  expect((await Session.continue(given([says("x")]).engine, session)).session.status).toBe("completed")
})
