import { describe, expect, test } from "vitest"
import { SessionError } from "../../src/errors/ChatError.ts"
import * as Engine from "../../src/options/Engine.ts"
import { assistant, toolResult, user } from "../../src/model/Message.ts"
import * as Session from "../../src/session/Session.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { refusal } from "../double/refusal.ts"
import { readAll } from "../double/scripts.ts"

const check = leakCheck()

describe("a value that is no session", () => {
  const engine = Engine.make({})
  const turn = { session: Session.make(), result: undefined }
  test.each([undefined, 5, "x", {}, { thread: {} }, turn])("is refused by every operation (%j)", async (value) => {
    const given = value as never
    const operations: ReadonlyArray<() => unknown> = [
      () => Session.append(given, user("Hi")),
      () => Session.submitToolResult(given, "c0", 1),
      () => Session.submitToolResults(given, []),
      () => Session.cancel(given),
      () => Session.recover(given),
      () => Session.reply(engine, given, "Hi"),
      () => Session.continue(engine, given),
      () => Session.step(engine, given),
      () => Session.approve(engine, given, "c0", { type: "allow" })
    ]
    const advice = value === turn ? /pass the `session` of this result/ : /Session\.start and Session\.make make one/
    for (const operation of operations) {
      await expect(Promise.resolve().then(operation)).rejects.toMatchObject({
        reason: "invalid_session_input",
        errors: [{ field: ["session"], reason: "must_be_a_session" }],
        message: expect.stringMatching(advice)
      })
    }
  })

  test("nor are fields and results that are no objects", () => {
    expect(() => Session.make(5 as never)).toThrow(/must_be_an_object of fields/)
    expect(() => Session.submitToolResults(Session.make(), undefined as never)).toThrow(/must_be_a_list of pairs/)
  })
})

describe("what is legal", () => {
  const call = { id: "c0", name: "m", arguments: {} }
  const paired = [user("hi"), assistant("", [call]), toolResult("c0", "r")]
  const question = { question: "q?", toolCallId: "c0", options: {} }
  const sessions: Readonly<Record<Session.Session["status"], Session.Session>> = {
    idle: Session.make({ thread: paired }),
    completed: Session.make({ thread: paired, status: "completed" }),
    cancelled: Session.make({ thread: paired, status: "cancelled" }),
    awaiting_user: Session.make({ thread: paired, status: "awaiting_user", pendingQuestion: question }),
    awaiting_tools: Session.make({ thread: paired.slice(0, 2), status: "awaiting_tools", pendingToolCalls: [call] }),
    awaiting_approval: Session.make({
      thread: paired.slice(0, 2),
      open: { at: 1, calls: [{ state: "waiting", kind: "permission", reason: "asked", askedAt: 0 }] }
    }),
    interrupted: Session.make({ thread: paired, running: true }),
    error: Session.make({ thread: paired, status: "error" })
  }
  const engine = () => Engine.make({ adapter: check.fake({ script: [{ text: "x" }, { finish: "stop" }] }) })
  const operations = {
    start: (session: Session.Session) => Session.start(engine(), session),
    reply: (session: Session.Session) => Session.reply(engine(), session, "x"),
    continueUser: (session: Session.Session) => Session.continue(engine(), session, user("x")),
    continueOther: (session: Session.Session) => Session.continue(engine(), session, assistant("x")),
    continueNull: (session: Session.Session) => Session.continue(engine(), session),
    step: (session: Session.Session) => Session.step(engine(), session),
    approve: (session: Session.Session) => Session.approve(engine(), session, "c0", { type: "result", value: 1 }),
    submit: (session: Session.Session) => Session.submitToolResult(session, "c0", "r"),
    submitMany: (session: Session.Session) => Session.submitToolResults(session, [["c0", "r"]]),
    cancel: (session: Session.Session) => Session.cancel(session),
    recover: (session: Session.Session) => Session.recover(session),
    streamStart: async (session: Session.Session) => readAll(await Session.streamStart(engine(), session)),
    streamReply: async (session: Session.Session) => readAll(await Session.streamReply(engine(), session, "x")),
    streamContinue: async (session: Session.Session) => readAll(await Session.streamContinue(engine(), session)),
    streamStep: async (session: Session.Session) => readAll(await Session.streamStep(engine(), session)),
    streamApprove: async (session: Session.Session) =>
      readAll(await Session.streamApprove(engine(), session, "c0", { type: "deny" }))
  }
  type Operation = keyof typeof operations
  const runs: ReadonlyArray<Operation> = [
    "start",
    "reply",
    "continueUser",
    "continueOther",
    "continueNull",
    "step",
    "cancel",
    "streamStart",
    "streamReply",
    "streamContinue",
    "streamStep"
  ]
  const legal: Readonly<Record<Session.Session["status"], ReadonlyArray<Operation>>> = {
    idle: runs,
    completed: runs,
    cancelled: runs,
    awaiting_user: ["reply", "continueUser", "cancel", "streamReply"],
    awaiting_tools: ["submit", "submitMany", "cancel"],
    awaiting_approval: ["approve", "streamApprove", "cancel"],
    interrupted: runs,
    error: ["recover"]
  }

  test.each(Object.keys(sessions) as ReadonlyArray<Session.Session["status"]>)(
    "140 of all operations while it is %s, and S7 the others change nothing",
    async (status) => {
      const session = sessions[status]
      const before = structuredClone(session)
      for (const [operation, run] of Object.entries(operations)) {
        if (legal[status].includes(operation as Operation)) await run(session)
        else {
          const reason = status === "error" ? "session_in_error_state" : "invalid_status_for_operation"
          expect([operation, await refusal(() => run(session))]).toMatchObject([operation, { reason }])
        }
        expect(session).toEqual(before)
      }
    }
  )

  test("a refusal lists what is legal now", async () => {
    expect(await refusal(() => Session.step(engine(), sessions.awaiting_user))).toMatchObject({
      message: expect.stringContaining("reply"),
      metadata: { operation: "step", status: "awaiting_user", legal: ["reply", "continue", "cancel"] }
    })
    expect(await refusal(() => Session.cancel(sessions.error))).toBeInstanceOf(SessionError)
  })

  test("continue without a message is legal when all results are there", async () => {
    const session = Session.make({ thread: paired, status: "awaiting_tools" })
    expect((await Session.continue(engine(), session)).session.status).toBe("completed")
  })
})

test("LEGAL2 in a status that is none nothing is legal", () => {
  for (const status of ["weird", "toString", "__proto__"]) {
    const session = { ...Session.make(), status } as unknown as Session.Session
    expect(() => Session.recover(session)).toThrow(expect.objectContaining({ reason: "invalid_status_for_operation" }))
  }
})
