import { expect, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { EngineError } from "../../src/errors/ChatError.ts"
import * as Engine from "../../src/options/Engine.ts"
import { answered, unpaired } from "../../src/model/messageFindings.ts"
import { toolResult, user } from "../../src/model/Message.ts"
import * as Session from "../../src/session/Session.ts"
import { StreamCollector } from "../../src/events/StreamCollector.ts"
import type { StepResult } from "../../src/record/StepResult.ts"
import { pendingApprovalsOf } from "../../src/step/openCalls.ts"
import { comparable } from "../double/comparable.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { opening, optionsOf, Scenario, scriptsOf, tools } from "../double/scenario.ts"
import { hi, says } from "../double/scripts.ts"
import { Conversation, statusOf } from "../../src/record/Conversation.ts"
import type { SessionTurn } from "../../src/session/sessionOutcome.ts"
import { runsOf } from "../../../../tooling/verify/volume.ts"

const check = leakCheck()

const engineOf = (scenario: Scenario) =>
  Engine.make({ adapter: check.fake({ scripts: scriptsOf(opening(scenario)) }), tools })

/** What an operation came to, or the unknown tool that the collected form rejects with. */
const settled = async <A>(operation: Promise<A>): Promise<A | EngineError> => {
  try {
    return await operation
  } catch (error) {
    if (error instanceof EngineError && error.reason === "unknown_tool") return error
    throw error
  }
}

const runs = runsOf(150)

it.effect.prop(
  "S5 `start` gives the session after the events of `streamStart`, wherever they are read",
  { scenario: Scenario },
  ({ scenario }) =>
    Effect.promise(async () => {
      const begun = Session.make({ id: "s", thread: hi, metadata: { mine: 1 } })
      const collector = new StreamCollector(begun.thread)
      const events = await Session.streamStart(engineOf(scenario), begun, optionsOf(scenario))
      for await (const event of events) collector.apply(event)
      const streamed = { session: events.session(), result: events.result() }
      expect(Session.after(begun, "chat", collector)).toEqual(streamed)
      const collected = await settled(Session.start(engineOf(scenario), begun, optionsOf(scenario)))
      if (collected instanceof EngineError) expect(events.session().lastOutcome?.error).toEqual(collected)
      else expect(comparable(streamed)).toEqual(comparable(collected))
    }),
  runs
)

it.effect.prop(
  "S5 `step` gives the session after the events of `streamStep`",
  { scenario: Scenario },
  ({ scenario }) =>
    Effect.promise(async () => {
      const begun = Session.make({ thread: hi })
      const { maxTurns: _, ...options } = optionsOf(scenario)
      const collector = new StreamCollector(begun.thread)
      const events = await Session.streamStep(engineOf(scenario), begun, options)
      for await (const event of events) collector.apply(event)
      const streamed = { session: events.session(), result: events.result() }
      expect(comparable(Session.after(begun, "step", collector).session)).toEqual(comparable(streamed.session))
      const collected = await settled(Session.step(engineOf(scenario), begun, options))
      if (collected instanceof EngineError) expect(streamed.session.lastOutcome?.error).toEqual(collected)
      else expect(comparable(streamed)).toEqual(comparable(collected satisfies SessionTurn<StepResult>))
    }),
  runs
)

const Place = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 30 }))

it.effect.prop(
  "S9 left at whatever event, a turn loses no message, and the session can be gone on from",
  { scenario: Scenario, place: Place },
  ({ scenario, place }) =>
    Effect.promise(async () => {
      const events = await Session.streamStart(engineOf(scenario), hi, optionsOf(scenario))
      for (let read = 0; read < place; read++) if ((await events.next()).done === true) break
      await events.return()
      const left = events.session()
      expect(left.thread.messages[0]).toEqual(hi[0])
      const ready = readied(left)
      const next = await Session.continue(answering(), ready, user("and?"))
      expect(next.session.status).toBe("completed")
    }),
  runs
)

/** A session that a message can go on from, by legal operations alone. */
const readied = (session: Session.Session): Session.Session => {
  const recovered = session.status === "error" ? Session.recover(session) : session
  const live = recovered.status === "awaiting_approval" ? Session.cancel(recovered) : recovered
  return Session.submitToolResults(
    live,
    live.pendingToolCalls.map(({ id }) => [id, "r"] as const)
  )
}

const answering = () => Engine.make({ adapter: check.fake({ scripts: [says("fine")] }), tools })

/** The next operation of a conversation. */
const Operation = Schema.Struct({
  name: Schema.Literals([
    "start",
    "reply",
    "continueUser",
    "continueNull",
    "step",
    "submitFirst",
    "submitAll",
    "submitBogus",
    "approve",
    "cancel",
    "recover",
    "leave"
  ]),
  answer: Schema.Literals(["user_message", "tool_result"]),
  scenario: Scenario,
  place: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 8 })),
  /** Whether an operation that would be refused gives way to one that goes on. */
  goesOn: Schema.Literals([true, true, true, false])
})
type Operation = typeof Operation.Type

const chosen = (operation: Operation, session: Session.Session): Operation =>
  operation.goesOn && !legal(operation, session) ? { ...operation, name: way[session.status] } : operation

const way = {
  idle: "start",
  completed: "reply",
  cancelled: "continueNull",
  awaiting_user: "leave",
  awaiting_tools: "submitFirst",
  awaiting_approval: "approve",
  interrupted: "continueNull",
  error: "recover"
} as const

/** The statuses an operation is legal in, written down once more. */
const legal = ({ name }: Operation, { status, pendingToolCalls }: Session.Session): boolean => {
  const settledStatus = ["idle", "completed", "cancelled", "interrupted"].includes(status)
  switch (name) {
    case "start":
    case "step":
    case "continueNull":
      return settledStatus
    case "reply":
    case "continueUser":
    case "leave":
      return settledStatus || status === "awaiting_user"
    case "submitFirst":
      return status === "awaiting_tools"
    case "submitAll":
      return status === "awaiting_tools" || pendingToolCalls.length === 0
    case "approve":
      return status === "awaiting_approval"
    case "submitBogus":
      return false
    case "cancel":
      return status !== "error"
    case "recover":
      return status === "error"
  }
}

const perform = async (session: Session.Session, operation: Operation): Promise<Session.Session> => {
  const { name, scenario, answer, place } = operation
  const engine = engineOf(scenario)
  const { maxTurns, ...step } = optionsOf({ ...scenario, onUnknownTool: "continue" })
  const options = { ...step, maxTurns }
  switch (name) {
    case "start":
      return (await Session.start(engine, session, options)).session
    case "reply":
      return (await Session.reply(engine, session, "so", { ...options, answer })).session
    case "continueUser":
      return (await Session.continue(engine, session, user("so"), { ...options, answer })).session
    case "continueNull":
      return (await Session.continue(engine, session, null, options)).session
    case "step":
      return (await Session.step(engine, session, step)).session
    case "submitFirst":
      return Session.submitToolResult(session, session.pendingToolCalls[0]?.id ?? "none", { r: 1 })
    case "submitAll":
      return Session.submitToolResults(
        session,
        session.pendingToolCalls.map(({ id }) => [id, "r"] as const)
      )
    case "submitBogus":
      return Session.submitToolResult(session, "bogus", "r")
    case "approve": {
      const [waits] = pendingApprovalsOf(session.thread, session.open)
      return (await Session.approve(engine, session, waits?.toolCall.id ?? "none", { type: "deny" }, options)).session
    }
    case "cancel":
      return Session.cancel(session)
    case "recover":
      return Session.recover(session)
    case "leave": {
      const events = await Session.streamReply(engine, session, "so", options)
      for (let read = 0; read < place; read++) if ((await events.next()).done === true) break
      await events.return()
      return events.session()
    }
  }
}

/** What holds of every session, whatever became of it. */
const keepsInvariants = (before: Session.Session, after: Session.Session): void => {
  expect([after.id, after.metadata, after.context]).toEqual(["s", { mine: 1 }, { b: 2 }])
  expect(after.context).toBe(before.context)
  const { status, pendingToolCalls, pendingQuestion, lastOutcome } = after
  const isWaiting = pendingApprovalsOf(after.thread, after.open).length > 0
  if (status !== "error") expect(isWaiting).toBe(status === "awaiting_approval")
  if (status !== "error" && !isWaiting) expect(pendingToolCalls.length > 0).toBe(status === "awaiting_tools")
  if (status === "awaiting_user") expect(pendingQuestion).toBeDefined()
  if (status === "idle" || status === "completed") expect(pendingQuestion).toBeUndefined()
  if (status === "error") expect(lastOutcome?.error).toBeDefined()
  expect(statusOf(after)).toBe(status)
  expect(Conversation.safeParse(after).success).toBe(true)
  expect(unpaired(completed(after))).toBeUndefined()
}

/** The thread, with a result for every call the session says it waits for. */
const completed = ({ pendingToolCalls, thread, open }: Session.Session) =>
  [...pendingToolCalls, ...pendingApprovalsOf(thread, open).map(({ toolCall }) => toolCall)].reduce(
    (before, { id }) => answered(before, toolResult(id, "r")),
    thread
  )

it.effect.prop(
  "S1-S9 any legal operations keep a session whole; an illegal one is a typed error and leaves it as it was",
  { operations: Schema.Array(Operation).check(Schema.isMinLength(1), Schema.isMaxLength(8)) },
  ({ operations }) =>
    Effect.promise(async () => {
      let session = Session.make({ id: "s", thread: hi, metadata: { mine: 1 }, context: { b: 2 } })
      for (const requested of operations) {
        const operation = chosen(requested, session)
        const kept = comparable(session)
        const outcome = await perform(session, operation).catch((error: unknown) => error)
        expect(comparable(session)).toEqual(kept)
        if (outcome instanceof Error) {
          expect([operation.name, legal(operation, session), Reflect.get(outcome, "_tag")]).toEqual([
            operation.name,
            false,
            "SessionError"
          ])
        } else {
          expect([operation.name, legal(operation, session)]).toEqual([operation.name, true])
          keepsInvariants(session, outcome as Session.Session)
          session = outcome as Session.Session
        }
      }
    }),
  runsOf(150)
)
