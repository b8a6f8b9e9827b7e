import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { AdapterError, ChatEffect, Engine, Fake, user } from "../src/index.ts"

const answering = () => Fake.make({ script: [{ text: "one " }, { text: "two" }, { finish: "stop" }] })

describe("ChatEffect", () => {
  it.effect("run is Chat.run as an Effect", () =>
    Effect.gen(function* () {
      const result = yield* ChatEffect.run(Engine.make({ adapter: answering() }), [user("hi")])
      expect(result.haltedReason).toBe("completed")
    })
  )

  it.effect("a request that is refused is a typed failure", () =>
    Effect.gen(function* () {
      const adapter = Fake.make({ script: [{ preflightError: "authentication_failed" }] })
      const error = yield* Effect.flip(ChatEffect.run(Engine.make({ adapter }), [user("hi")]))
      expect(error).toBeInstanceOf(AdapterError)
      const streamed = yield* Effect.flip(Stream.runDrain(ChatEffect.stream(Engine.make({ adapter }), [user("hi")])))
      expect(streamed.reason).toBe("authentication_failed")
    })
  )

  it.effect("a stream that is left releases its request, once", () =>
    Effect.gen(function* () {
      const adapter = answering()
      const tags = yield* ChatEffect.stream(Engine.make({ adapter }), [user("hi")]).pipe(
        Stream.take(2),
        Stream.map((event) => event.type),
        Stream.runCollect
      )
      expect([...tags]).toEqual(["message_started", "text_delta"])
      expect([adapter.open, adapter.released]).toEqual([0, 1])
    })
  )

  it.live("interrupting the fiber cancels the request", () =>
    Effect.gen(function* () {
      const adapter = Fake.make({ script: [{ text: "one" }, { hang: true }, { finish: "stop" }] })
      const fiber = yield* Effect.forkChild(ChatEffect.run(Engine.make({ adapter }), [user("hi")]))
      while (adapter.open === 0) yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      while (adapter.open > 0) yield* Effect.yieldNow
      expect(adapter.released).toBe(1)
    })
  )

  it.effect("one request has its response, and its events", () =>
    Effect.gen(function* () {
      const engine = Engine.make({ adapter: answering() })
      const response = yield* ChatEffect.generate(engine, [user("hi")])
      expect(response.outputText).toBe("one two")
      const tags = yield* Stream.runCollect(ChatEffect.streamGenerate(engine, [user("hi")]))
      expect([...tags].at(-1)?.type).toBe("message_completed")
    })
  )

  it.live.each([ChatEffect.stream, ChatEffect.streamStep, ChatEffect.streamGenerate])(
    "interrupting a fiber that waits to send a request again ends the wait",
    (form) =>
      Effect.gen(function* () {
        const adapter = Fake.make({ script: [{ preflightError: "timeout" }] })
        const engine = Engine.make({ adapter, retry: { baseDelayMs: 1e9, maxDelayMs: 1e9 } })
        const fiber = yield* Effect.forkChild(Stream.runDrain(form(engine, [user("hi")])))
        while (adapter.requests.length === 0) yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
        expect(adapter.requests).toHaveLength(1)
      })
  )

  it.effect("the layer starts a Troupe and stops it", () =>
    Effect.gen(function* () {
      const said = yield* Effect.gen(function* () {
        const troupe = yield* ChatEffect.TroupeService
        const chat = yield* Effect.promise(() => troupe.chat("c"))
        const events = yield* Stream.runCollect(ChatEffect.send(chat, "hi"))
        return { system: troupe.system, last: [...events].at(-1)?.type }
      }).pipe(Effect.provide(ChatEffect.layer({ adapter: answering() })))
      expect(said.last).toBe("chat_completed")
      expect(said.system).toBeDefined()
    })
  )
})
