/**
 * A consumer's program: the machines under XState's own `createActor`, a chat as an Effect, a living chat by its types.
 *
 * @module
 */
import { type ChatRef, Engine, Fake, Troupe, user } from "@troupe/chat"
import { ChatEffect } from "@troupe/chat/effect"
import { provide } from "@troupe/chat/machines"
import { Message } from "@troupe/chat/messages"
import { GenServer, System, Telemetry } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { deepStrictEqual } from "node:assert/strict"
import { createActor, waitFor } from "xstate"

const engine = (): Engine.Engine =>
  Engine.make({ adapter: Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] }) })

const ofActor = async (): Promise<ReadonlyArray<string>> => {
  const actor = createActor(provide(engine()), { input: { id: "c1" } }).start()
  actor.send({ type: "turn.start", turn: { messages: [user("Hello")] } })
  const { context } = await waitFor(actor, (snapshot) => snapshot.context.record.thread.messages.length === 2)
  return context.record.thread.messages.map((message) => Message.text(message))
}

const ofEffect = async (): Promise<string | undefined> => {
  const result = await Effect.runPromise(ChatEffect.run(engine(), [Message.user("Hello")]))
  return result.finalResponse?.outputText
}

const ofTroupe = async (): Promise<string | undefined> => {
  const troupe = await Troupe.start({ adapter: Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] }) })
  Telemetry.attach(troupe.system, "request.unpriced", ({ metadata }) => console.log(metadata.model))
  const chat: ChatRef = await troupe.chat("c1")
  const result = await chat.send("Hello").result()
  await troupe.stop()
  return result.finalResponse?.outputText
}

const ofServer = async (): Promise<number> => {
  const counter = GenServer.make({
    init: (from: number) => GenServer.ok(from),
    handleCall: (_request: "next", _from, state) => GenServer.replying(state + 1, state + 1)
  })
  const program = Effect.gen(function* () {
    const pid = yield* GenServer.scoped(counter, 41)
    return yield* GenServer.callEffect(pid, "next")
  })
  return Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(System.layer())))
}

deepStrictEqual(await ofActor(), ["Hello", "Hi."])
deepStrictEqual(await ofEffect(), "Hi.")
deepStrictEqual(await ofTroupe(), "Hi.")
deepStrictEqual(await ofServer(), 42)
