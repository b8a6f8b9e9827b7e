import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { Chat, Engine, Fake, tool, Troupe, user } from "../../src/index.ts"
import { AdapterError, SessionError } from "../../src/errors.ts"
import { ChatEffect } from "../../src/effect.ts"
import type { Adapter } from "../../src/models.ts"
import { spiedSignal } from "../double/spiedSignal.ts"

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
      const response = yield* ChatEffect.call((options) => Chat.generate(engine, [user("hi")], options))
      expect(response.outputText).toBe("one two")
      const tags = yield* Stream.runCollect(
        ChatEffect.events((options) => Chat.streamGenerate(engine, [user("hi")], options))
      )
      expect([...tags].at(-1)?.type).toBe("message_completed")
    })
  )

  it.live.each([Chat.stream, Chat.streamStep, Chat.streamGenerate])(
    "interrupting a fiber that waits to send a request again ends the wait",
    (form) =>
      Effect.gen(function* () {
        const adapter = Fake.make({ script: [{ preflightError: "timeout" }] })
        const engine = Engine.make({ adapter, retry: { baseDelayMs: 1e9, maxDelayMs: 1e9 } })
        const fiber = yield* Effect.forkChild(
          Stream.runDrain(ChatEffect.events((options) => form(engine, [user("hi")], options)))
        )
        while (adapter.requests.length === 0) yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
        expect(adapter.requests).toHaveLength(1)
      })
  )

  it.live("interrupting what follows a living chat detaches: the turn goes on", () =>
    Effect.gen(function* () {
      const signal = spiedSignal()
      const gate = Promise.withResolvers<void>()
      const adapter: Adapter.Adapter = {
        name: "gated",
        stream: async function* () {
          yield { type: "text_delta", id: null, delta: "one " }
          await gate.promise
          yield { type: "text_delta", id: null, delta: "two" }
          yield { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "stop" }
        }
      }
      const troupe = yield* Effect.promise(() => Troupe.start({ adapter }))
      const chat = yield* Effect.promise(() => troupe.chat("c"))
      const read: Array<string> = []
      const fiber = yield* ChatEffect.events(() => chat.attach({ signal: signal.signal })).pipe(
        Stream.runForEach((item) => Effect.sync(() => read.push(item.type === "event" ? item.event.type : item.type))),
        Effect.forkChild
      )
      while (read.length < 1) yield* Effect.yieldNow
      const turn = chat.send("hi")
      while (read.length < 2) yield* Effect.yieldNow
      expect([read, signal.listeners]).toEqual([["snapshot", "text_delta"], 1])
      yield* Fiber.interrupt(fiber)
      expect(signal.listeners).toBe(0)
      gate.resolve()
      const result = yield* ChatEffect.call(() => turn.result())
      expect([result.haltedReason, read.length]).toEqual(["completed", 2])
      yield* Effect.promise(() => troupe.stop())
    })
  )

  it.live("what follows a chat ends with the chat, and what it is refused with is typed", () =>
    Effect.gen(function* () {
      const troupe = yield* Effect.promise(() => Troupe.start({ adapter: answering() }))
      const chat = yield* Effect.promise(() => troupe.chat("c"))
      const fiber = yield* Effect.forkChild(Stream.runCollect(ChatEffect.events(() => chat.attach({ cursor: "turn" }))))
      yield* Effect.yieldNow
      yield* ChatEffect.call(() => chat.send("hi").result())
      const refused = yield* Effect.flip(Stream.runDrain(ChatEffect.events(() => chat.attach({ cursor: "no cursor" }))))
      expect(refused.reason).toBe("invalid_options")
      yield* Effect.promise(() => troupe.stop())
      expect((yield* Fiber.join(fiber)).at(-1)).toMatchObject({ event: { type: "chat_completed" } })
      const late = yield* Effect.flip(Stream.runDrain(ChatEffect.events(() => chat.attach())))
      expect(late.reason).toBe("chat_stopped")
    })
  )

  it.live("a tool call is run again and cancelled, alone or with all, and what is refused is typed", () =>
    Effect.gen(function* () {
      const starts: Array<string> = []
      const held = tool({
        name: "held",
        execute: (_args: unknown, { toolCall, signal }) => {
          starts.push(toolCall.id)
          return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("told"))))
        }
      })
      const called = ["a", "b", "c"].map((id) => ({ toolCall: { id, name: "held" } }))
      const adapter = Fake.make({
        scripts: [
          [...called, { finish: "tool_calls" }],
          [{ text: "done" }, { finish: "stop" }]
        ]
      })
      const troupe = yield* Effect.promise(() => Troupe.start({ adapter, tools: [held], schedule: "concurrent" }))
      const chat = yield* Effect.promise(() => troupe.chat("c"))
      const turn = chat.send("go")
      while (starts.length < 3) yield* Effect.yieldNow
      yield* ChatEffect.call(() => chat.restartToolCall("a"))
      expect(starts).toEqual(["a", "b", "c", "a"])
      yield* ChatEffect.call(() => chat.cancelToolCall("b"))
      const refused = yield* Effect.flip(ChatEffect.call(() => chat.cancelToolCall("b")))
      expect([refused instanceof SessionError, refused.reason]).toEqual([true, "tool_call_not_running"])
      expect(yield* Effect.flip(ChatEffect.call(() => chat.restartToolCall("x")))).toBeInstanceOf(SessionError)
      yield* ChatEffect.call(() => chat.cancelToolCalls())
      const { thread } = yield* ChatEffect.call(() => turn.result())
      expect(thread.messages.flatMap((one) => (one.role === "tool" ? [one.outcome] : []))).toEqual([
        "cancelled",
        "cancelled",
        "cancelled"
      ])
      yield* Effect.promise(() => troupe.stop())
    })
  )

  it.live("a decision gives the events of what follows, and what is none, or about no call that waits, is typed", () =>
    Effect.gen(function* () {
      const write = tool({ name: "write", execute: () => "written" })
      const script = [{ toolCall: { id: "w", name: "write" } }, { finish: "tool_calls" as const }]
      const adapter = Fake.make({ scripts: [script, [{ text: "done" }, { finish: "stop" }]] })
      const permissions = { ask: () => "suspend" as const }
      const troupe = yield* Effect.promise(() => Troupe.start({ adapter, tools: [write], permissions }))
      const chat = yield* Effect.promise(() => troupe.chat("c"))
      expect((yield* ChatEffect.call(() => chat.send("go").result())).haltedReason).toBe("awaiting_approval")
      const none = yield* Effect.flip(
        Stream.runDrain(ChatEffect.events(() => chat.approve("w", { type: "perhaps" } as never)))
      )
      expect(none.reason).toBe("invalid_options")
      const unknown = yield* Effect.flip(Stream.runDrain(ChatEffect.events(() => chat.approve("x", { type: "allow" }))))
      expect(unknown.reason).toBe("unknown_tool_call_id")
      const events = yield* Stream.runCollect(ChatEffect.events(() => chat.approve("w", { type: "allow" })))
      expect([...events].at(-1)).toMatchObject({ type: "chat_completed", result: { haltedReason: "completed" } })
      yield* Effect.promise(() => troupe.stop())
    })
  )

  it.effect("the layer starts a Troupe and stops it", () =>
    Effect.gen(function* () {
      const said = yield* Effect.gen(function* () {
        const troupe = yield* ChatEffect.TroupeService
        const chat = yield* Effect.promise(() => troupe.chat("c"))
        const events = yield* Stream.runCollect(ChatEffect.events(() => chat.send("hi")))
        return { system: troupe.system, last: [...events].at(-1)?.type }
      }).pipe(Effect.provide(ChatEffect.layer({ adapter: answering() })))
      expect(said.last).toBe("chat_completed")
      expect(said.system).toBeDefined()
    })
  )
})
