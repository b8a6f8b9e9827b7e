import { describe, expect, test } from "vitest"
import * as Codec from "../../src/session/Codec.ts"
import type { Decision } from "../../src/record/Approval.ts"
import * as Engine from "../../src/options/Engine.ts"
import { askUser, ok } from "../../src/values/HandlerResult.ts"
import { user } from "../../src/model/Message.ts"
import * as Session from "../../src/session/Session.ts"
import { memory } from "../double/savingStore.ts"
import { make } from "../../src/tool/Tool.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { refusal } from "../double/refusal.ts"
import { calls, readAll, said, says, tagsOf } from "../double/scripts.ts"
import type { Permissions } from "../../src/gate/permissionRules.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const check = leakCheck()

const permissions: Permissions = { ask: ({ toolCall }) => (toolCall.name === "pay" ? "suspend" : "allow") }

/** A session whose calls have come to wait. */
const waiting = async (
  names: ReadonlyArray<string | readonly [string, Record<string, unknown>]>,
  ...then: ReadonlyArray<Script>
) => {
  const ran: Array<unknown> = []
  const pay = make({
    name: "pay",
    handler: (args, { idempotencyKey }) => {
      ran.push(args)
      keys.push(idempotencyKey)
      return ok("paid")
    }
  })
  const keys: Array<unknown> = []
  const look = make({ name: "look", effect: "read", handler: () => ok("seen") })
  const ask = make({ name: "ask", handler: () => askUser("which?") })
  const hand = make({ name: "hand", manual: true })
  const adapter = check.fake({ scripts: [calls(...names), ...then] })
  const { system, clock } = check.system()
  const engine = Engine.make({ adapter, tools: [pay, look, ask, hand] })
  const options = { permissions, system }
  const { session, result } = await Session.start(engine, [user("go")], options)
  const approve = (from: Session.Session, id: string, decision: Decision) =>
    Session.approve(engine, from, id, decision, options)
  return { adapter, engine, options, clock, ran, keys, session, result, approve }
}

const results = ({ thread }: Session.Session): ReadonlyArray<string> =>
  thread.messages.flatMap((message) =>
    message.role === "tool" ? [`${message.toolCallId} ${message.outcome ?? said(message)}`] : []
  )

describe("a session whose calls wait for decisions", () => {
  test("S10 awaits approval, and has the calls that wait in its open step", async () => {
    const { ran, result, session } = await waiting(["look", "pay"])
    expect(result).toMatchObject({ haltedReason: "awaiting_approval", pendingApprovals: [{ toolCall: { id: "c1" } }] })
    expect(session).toMatchObject({
      status: "awaiting_approval",
      pendingToolCalls: [],
      open: { at: 1, calls: [{ state: "done" }, { state: "waiting", kind: "permission" }] },
      lastOutcome: { haltedReason: "awaiting_approval" }
    })
    expect(results(session)).toEqual(["c0 completed"])
    expect(ran).toEqual([])
  })

  test("S10 runs the allowed call once, with the decided arguments, and goes on", async () => {
    const { adapter, approve, ran, session } = await waiting([["pay", { euros: 9 }]], says("done"))
    const before = structuredClone(session)
    const next = await approve(session, "c0", { type: "allow", arguments: { euros: 5 } })
    expect(ran).toEqual([{ euros: 5 }])
    expect(next.result).toMatchObject({ haltedReason: "completed", finalResponse: { outputText: "done" } })
    expect(next.session).toMatchObject({ status: "completed", pendingToolCalls: [] })
    expect(next.session).not.toHaveProperty("open")
    expect(adapter.requests).toHaveLength(2)
    expect(session).toEqual(before)
  })

  test.each([
    ["deny", { type: "deny", reason: "no" }, "denied", "completed"],
    ["result", { type: "result", value: "by hand" }, "completed", "completed"],
    ["halt", { type: "halt", reason: "stop here" }, "denied", "stop here"]
  ] as const)("S10 %s does not run the call", async (_what, decision, outcome, reason) => {
    const { approve, ran, session } = await waiting(["pay"], says("done"))
    const { session: next, result } = await approve(session, "c0", decision)
    expect([ran, results(next), result.haltedReason]).toEqual([[], [`c0 ${outcome}`], reason])
    expect(next.status).toBe("completed")
  })

  test("S10 runs nothing before the last decision, whatever their order, also across a store", async () => {
    const { adapter, approve, ran, session } = await waiting(["pay", "pay"], says("done"))
    const first = await approve(session, "c1", { type: "allow" })
    expect(first.result.haltedReason).toBe("awaiting_approval")
    expect([first.session.status, ran, adapter.requests.length]).toEqual(["awaiting_approval", [], 1])
    const stored = Codec.decode("Session", Codec.encode("Session", first.session))
    const last = await approve(stored, "c0", { type: "deny" })
    expect([last.session.status, ran, results(last.session)]).toEqual([
      "completed",
      [{}],
      ["c0 denied", "c1 completed"]
    ])
  })

  test("S7 refuses a decision about a call that does not wait, and one that cannot be carried out", async () => {
    const { approve, adapter, session } = await waiting(["look", "pay"])
    const before = structuredClone(session)
    const refused = (id: string, decision: unknown) => refusal(() => approve(session, id, decision as Decision))
    expect(await refused("c0", { type: "allow" })).toMatchObject({ reason: "unknown_tool_call_id" })
    expect(await refused("c1", { type: "maybe" })).toMatchObject({ reason: "invalid_options" })
    expect(await refused("c1", { type: "result", value: () => 1 })).toMatchObject({ reason: "invalid_options" })
    expect(session).toEqual(before)
    expect(adapter.requests).toHaveLength(1)
  })

  test("S10 has no call to decide about after its time; then a reply goes on", async () => {
    const { engine } = await waiting(["look"], says("seen"))
    const { system, clock } = check.system()
    const options = { system, permissions: { ...permissions, expiresMs: 1_000 } }
    const again = Engine.make({ ...engine, adapter: check.fake({ scripts: [calls("pay"), says("fine")] }) })
    const { session } = await Session.start(again, [user("go")], options)
    expect(session.expiresAt).toBe(clock.now() + 1_000)
    await clock.advance(1_000)
    expect(await refusal(() => Session.approve(again, session, "c0", { type: "allow" }, options))).toMatchObject({
      reason: "invalid_status_for_operation"
    })
    const next = await Session.reply(again, session, "so?", options)
    expect([next.session.status, results(next.session)]).toEqual(["completed", ["c0 denied"]])
  })

  test("S3 calls of the caller wait beside them, and are answered after the decisions", async () => {
    const { adapter, approve, engine, options, session } = await waiting(["hand", "pay"], says("done"))
    expect([session.status, session.pendingToolCalls.map(({ id }) => id)]).toEqual(["awaiting_approval", ["c0"]])
    expect(await refusal(() => Session.submitToolResult(session, "c0", 1))).toMatchObject({
      reason: "invalid_status_for_operation"
    })
    const { session: decided } = await approve(session, "c1", { type: "allow" })
    expect(decided.status).toBe("awaiting_tools")
    const submitted = Session.submitToolResult(decided, "c0", "r")
    expect([submitted.status, results(submitted)]).toEqual(["idle", ["c1 completed", "c0 r"]])
    expect((await Session.continue(engine, submitted, null, options)).session.status).toBe("completed")
    expect(adapter.requests).toHaveLength(2)
  })

  test("S8 a cancel answers them, and asks the question that came with them", async () => {
    const { engine, options, ran, session } = await waiting(["ask", "pay"], says("done"))
    const cancelled = Session.cancel(session)
    expect([cancelled.status, results(cancelled)[1]]).toEqual(["cancelled", "c1 cancelled"])
    expect(cancelled.pendingQuestion?.question).toBe("which?")
    expect(cancelled).not.toHaveProperty("open")
    const next = await Session.reply(engine, cancelled, "this", options)
    expect([next.session.status, ran]).toEqual(["completed", []])
  })

  test("S5 the events of a decision are those of the calls and of what follows", async () => {
    const { engine, options, session } = await waiting(["pay"], says("done"))
    const events = await Session.streamApprove(engine, session, "c0", { type: "allow" }, options)
    const tags = tagsOf(await readAll(events))
    expect(tags[0]).toBe("tool_execution_started")
    expect(tags.at(-1)).toBe("chat_completed")
    expect(events.session().status).toBe("completed")
  })

  test("a step stops for the decision, and the turn after it goes on", async () => {
    const { approve, engine, options, ran } = await waiting(["look"], says("seen"), calls("pay"), says("done"))
    const { session, result } = await Session.step(engine, Session.make({ thread: [user("go")] }), options)
    expect([session.status, result.pendingApprovals?.length]).toEqual(["awaiting_approval", 1])
    expect((await approve(session, "c0", { type: "allow" })).session.status).toBe("completed")
    expect(ran).toEqual([{}])
  })

  test("a chat of a Troupe continues the session, and a session continues the chat's record", async () => {
    const { engine, options, ran, session } = await waiting(["pay"], says("more"))
    const store = memory()
    await store.save({ ...session, id: "c" })
    const { troupe } = await check.troupe({
      ...engine,
      adapter: check.fake({ script: says("done") }),
      permissions,
      store
    })
    const chat = await troupe.chat("c")
    await chat.approve("c0", { type: "allow" }).result()
    expect([chat.getSnapshot()?.value, ran]).toEqual(["idle", [{}]])
    const record = await store.load("c")
    if (record === undefined) throw new Error("no record")
    const { session: next } = await Session.reply(engine, record, "and?", options)
    expect(next.thread.messages.map(said).slice(-3)).toEqual(["done", "and?", "more"])
    expect([next.id, next.status, next.context]).toEqual(["c", "completed", {}])
  })
})
