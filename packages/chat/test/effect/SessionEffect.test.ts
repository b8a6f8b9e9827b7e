import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import * as Engine from "../../src/options/Engine.ts"
import { user } from "../../src/model/Message.ts"
import * as Session from "../../src/session/Session.ts"
import * as SessionEffect from "../../src/effect/SessionEffect.ts"
import { make } from "../../src/tool/Tool.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, echo, hi, says } from "../double/scripts.ts"
import type { Script } from "../../src/testing/fakeScript.ts"

const check = leakCheck()

const manual = make({ name: "m", manual: true })
const given = (...scripts: ReadonlyArray<Script>) => {
  const adapter = check.fake({ scripts })
  return { adapter, engine: Engine.make({ adapter, tools: [echo, manual] }) }
}

describe("SessionEffect", () => {
  it.effect("runs a whole manual cycle", () =>
    Effect.gen(function* () {
      const { engine } = given(calls("m"), says("done"), says("more"), says("x"))
      const { session } = yield* SessionEffect.start(engine, hi)
      const submitted = yield* SessionEffect.submitToolResult(session, "c0", 1)
      const next = yield* SessionEffect.continue(engine, submitted)
      expect(next.session.status).toBe("completed")
      const replied = yield* SessionEffect.reply(engine, next.session, "and?")
      const stepped = yield* SessionEffect.step(engine, yield* SessionEffect.cancel(replied.session))
      expect(stepped.result.done).toBe(true)
    })
  )

  it.effect("140 what is not legal is a typed failure", () =>
    Effect.gen(function* () {
      const { engine } = given(says("x"))
      const session = Session.make({ thread: hi, status: "error" })
      const inError = { reason: "session_in_error_state" }
      expect(yield* Effect.flip(SessionEffect.start(engine, session))).toMatchObject(inError)
      expect(yield* Effect.flip(SessionEffect.cancel(session))).toMatchObject(inError)
      expect(yield* Effect.flip(SessionEffect.submitToolResults(session, [["c0", 1]]))).toMatchObject(inError)
      const recovered = yield* SessionEffect.recover(session)
      expect(recovered.status).toBe("idle")
      expect(yield* Effect.flip(SessionEffect.recover(recovered))).toMatchObject({ _tag: "SessionError" })
    })
  )

  it.effect("a result without JSON form is a typed failure", () =>
    Effect.gen(function* () {
      const { session } = yield* SessionEffect.start(given(calls("m")).engine, hi)
      const failure = yield* Effect.flip(SessionEffect.submitToolResults(session, [["c0", 1n]]))
      expect(failure.reason).toBe("encoding_failed")
    })
  )

  it.effect("events come to a session; left early, with their scope, it is cancelled", () =>
    Effect.gen(function* () {
      const { adapter, engine } = given(says("x"), says("y"), says("z"))
      const whole = yield* Effect.scoped(
        Effect.gen(function* () {
          const turn = yield* SessionEffect.streamStart(engine, hi)
          yield* Stream.runDrain(turn.events)
          return { session: yield* turn.session, result: yield* turn.result }
        })
      )
      expect([whole.session.status, whole.result.haltedReason]).toEqual(["completed", "completed"])
      const left = yield* Effect.scoped(
        Effect.gen(function* () {
          const turn = yield* SessionEffect.streamReply(engine, whole.session, "more")
          yield* Stream.runDrain(Stream.take(turn.events, 2))
          return yield* turn.session
        })
      )
      expect([left.status, left.thread.messages.at(-1), adapter.open]).toEqual(["cancelled", user("more"), 0])
      const again = yield* Effect.scoped(
        Effect.flatMap(SessionEffect.streamContinue(engine, left), ({ events, session }) =>
          Effect.andThen(Stream.runDrain(events), session)
        )
      )
      expect(again.status).toBe("completed")
    })
  )

  it.effect("a step's events come to a step result", () =>
    Effect.gen(function* () {
      const session = Session.make({ thread: hi })
      const turn = yield* SessionEffect.streamStep(given(calls("echo")).engine, session)
      yield* Stream.runDrain(turn.events)
      expect(yield* turn.result).toMatchObject({ done: false })
    })
  )

  it.live("interrupting the fiber releases the request", () =>
    Effect.gen(function* () {
      const { adapter, engine } = given([{ text: "one" }, { hang: true }])
      const fiber = yield* Effect.forkChild(SessionEffect.start(engine, hi))
      while (adapter.open === 0) yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      while (adapter.open > 0) yield* Effect.yieldNow
      expect(adapter.released).toBe(1)
    })
  )
})
