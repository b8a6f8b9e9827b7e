import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import * as Engine from "../../src/options/Engine.ts"
import { user } from "../../src/model/Message.ts"
import * as Session from "../../src/session/Session.ts"
import * as ChatEffect from "../../src/troupe/ChatEffect.ts"
import { make } from "../../src/tool/Tool.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, echo, hi, says } from "../double/scripts.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const check = leakCheck()

const manual = make({ name: "m", manual: true })
const given = (...scripts: ReadonlyArray<Script>) => {
  const adapter = check.fake({ scripts })
  return { adapter, engine: Engine.make({ adapter, tools: [echo, manual] }) }
}

describe("ChatEffect of sessions", () => {
  it.effect("runs a whole manual cycle", () =>
    Effect.gen(function* () {
      const { engine } = given(calls("m"), says("done"), says("more"), says("x"))
      const { session } = yield* ChatEffect.call((options) => Session.start(engine, hi, options))
      const submitted = yield* ChatEffect.call(() => Session.submitToolResult(session, "c0", 1))
      const next = yield* ChatEffect.call((options) => Session.continue(engine, submitted, null, options))
      expect(next.session.status).toBe("completed")
      const replied = yield* ChatEffect.call((options) => Session.reply(engine, next.session, "and?", options))
      const cancelled = yield* ChatEffect.call(() => Session.cancel(replied.session))
      const stepped = yield* ChatEffect.call((options) => Session.step(engine, cancelled, options))
      expect(stepped.result.done).toBe(true)
    })
  )

  it.effect("140 what is not legal is a typed failure", () =>
    Effect.gen(function* () {
      const { engine } = given(says("x"))
      const session = Session.make({ thread: hi, status: "error" })
      const inError = { reason: "session_in_error_state" }
      expect(yield* Effect.flip(ChatEffect.call((options) => Session.start(engine, session, options)))).toMatchObject(
        inError
      )
      expect(yield* Effect.flip(ChatEffect.call(() => Session.cancel(session)))).toMatchObject(inError)
      expect(yield* Effect.flip(ChatEffect.call(() => Session.submitToolResults(session, [["c0", 1]])))).toMatchObject(
        inError
      )
      const recovered = yield* ChatEffect.call(() => Session.recover(session))
      expect(recovered.status).toBe("idle")
      expect(yield* Effect.flip(ChatEffect.call(() => Session.recover(recovered)))).toMatchObject({
        _tag: "SessionError"
      })
    })
  )

  it.effect("a result without JSON form is a typed failure", () =>
    Effect.gen(function* () {
      const { session } = yield* ChatEffect.call((options) => Session.start(given(calls("m")).engine, hi, options))
      const failure = yield* Effect.flip(ChatEffect.call(() => Session.submitToolResults(session, [["c0", 1n]])))
      expect(failure.reason).toBe("encoding_failed")
    })
  )

  it.effect("events come to a session; left early, with their scope, it is cancelled", () =>
    Effect.gen(function* () {
      const { adapter, engine } = given(says("x"), says("y"), says("z"))
      const whole = yield* Effect.scoped(
        Effect.gen(function* () {
          const turn = yield* ChatEffect.session((options) => Session.streamStart(engine, hi, options))
          yield* Stream.runDrain(turn.events)
          return { session: yield* turn.session, result: yield* turn.result }
        })
      )
      expect([whole.session.status, whole.result.haltedReason]).toEqual(["completed", "completed"])
      const left = yield* Effect.scoped(
        Effect.gen(function* () {
          const turn = yield* ChatEffect.session((options) =>
            Session.streamReply(engine, whole.session, "more", options)
          )
          yield* Stream.runDrain(Stream.take(turn.events, 2))
          return yield* turn.session
        })
      )
      expect([left.status, left.thread.messages.at(-1), adapter.open]).toEqual(["cancelled", user("more"), 0])
      const again = yield* Effect.scoped(
        Effect.flatMap(
          ChatEffect.session((options) => Session.streamContinue(engine, left, null, options)),
          ({ events, session }) => Effect.andThen(Stream.runDrain(events), session)
        )
      )
      expect(again.status).toBe("completed")
    })
  )

  it.effect("a step's events come to a step result", () =>
    Effect.gen(function* () {
      const session = Session.make({ thread: hi })
      const turn = yield* ChatEffect.session((options) =>
        Session.streamStep(given(calls("echo")).engine, session, options)
      )
      yield* Stream.runDrain(turn.events)
      expect(yield* turn.result).toMatchObject({ done: false })
    })
  )

  it.live("interrupting the fiber releases the request", () =>
    Effect.gen(function* () {
      const { adapter, engine } = given([{ text: "one" }, { hang: true }])
      const fiber = yield* Effect.forkChild(ChatEffect.call((options) => Session.start(engine, hi, options)))
      while (adapter.open === 0) yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      while (adapter.open > 0) yield* Effect.yieldNow
      expect(adapter.released).toBe(1)
    })
  )
})
