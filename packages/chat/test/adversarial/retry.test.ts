import { Process, System } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import * as Chat from "../../src/loop/Chat.ts"
import { AdapterError } from "../../src/errors/ChatError.ts"
import * as Engine from "../../src/options/Engine.ts"
import { handAdapter } from "../double/handAdapter.ts"
import * as ChatView from "../../src/view/ChatView.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { processesOf, processOf } from "../double/processes.ts"
import { calls, echo, hi, only, readAll, said, says, tagsOf } from "../double/scripts.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const check = leakCheck()

const refused: Script = [{ preflightError: "rate_limited" }]
const forLong = { baseDelayMs: 1e6, maxDelayMs: 1e6 }

describe("a request that waits to be sent again", () => {
  const forms = [Chat.run, Chat.stream, Chat.step, Chat.streamStep, Chat.generate, Chat.streamGenerate]
  test.each(forms.map((form) => [form.name, form] as const))(
    "is given up when the signal is aborted: %s",
    async (_name, form) => {
      const adapter = check.fake({ script: refused })
      const { signal, abort } = check.signal()
      const read = async (): Promise<void> => {
        const given = await form(Engine.make({ adapter, retry: forLong }), hi, { signal })
        if (Symbol.asyncIterator in given) await readAll(given)
      }
      const reading = read()
      await until(() => adapter.requests.length === 1)
      abort()
      await reading
      expect(adapter.requests).toHaveLength(1)
    }
  )

  test("is given up when `onRetry` throws, at the caller or at the reader", async () => {
    const boom = new Error("boom")
    const onRetry = (): never => {
      throw boom
    }
    for (const scripts of [[refused], [calls("echo"), refused]]) {
      const engine = Engine.make({ adapter: check.fake({ scripts }), tools: [echo], retry: forLong })
      await expect(Chat.run(engine, hi, { onRetry })).rejects.toBe(boom)
    }
  })

  test("of a later step ends with its reader, who waits for it", async () => {
    const adapter = check.fake({ scripts: [calls("echo"), refused] })
    const events = await Chat.stream(Engine.make({ adapter, tools: [echo], retry: forLong }), hi)
    const reading = readAll(events)
    await until(() => adapter.requests.length === 2)
    await events.return()
    expect(tagsOf(await reading).slice(-2)).toEqual(["step_completed", "request_delayed"])
  })

  test("RETRY5 of a living chat shows the end of a long wait until the reply begins, and a short one not at all", async () => {
    const busy: Script = [{ preflightError: "rate_limited", retryAfterMs: 48_000 }]
    const adapter = check.fake({ scripts: [refused, busy, says("yes")] })
    const { troupe, clock } = await check.troupe({ adapter, retry: { baseDelayMs: 1_000, jitterMs: 0 } })
    const chat = await troupe.chat("c")
    const turn = chat.send("hi")
    const types: Array<string> = []
    const reading = (async () => {
      for await (const { type } of turn) types.push(type)
    })()
    await clock.advance(999)
    expect(chat.getSnapshot()?.context.delayed).toBeUndefined()
    await clock.advance(1)
    const wait = { waitMs: 48_000, retryAt: clock.now() + 48_000, attempt: 2, adapter: "fake", reason: "rate_limited" }
    const before = ChatView.of("c", chat.getSnapshot())
    expect(before).toMatchObject({ phase: "requesting", delayed: wait })
    expect(ChatView.apply(undefined, ChatView.patch(undefined, before) ?? {})).toEqual(before)
    await clock.advance(47_999)
    expect(chat.getSnapshot()?.context.delayed).toMatchObject(wait)
    await clock.advance(1)
    await reading
    expect(types.filter((type) => type === "request_delayed" || type === "message_started")).toEqual([
      "request_delayed",
      "message_started"
    ])
    const after = ChatView.of("c", chat.getSnapshot(), before)
    expect(after.delayed).toBeUndefined()
    expect(ChatView.apply(before, ChatView.patch(before, after) ?? {})).toEqual(after)
    await troupe.stop()
  })

  test("RETRY5 of a stream on plain values is its first event, whether or not the reader waits for it", async () => {
    for (const isRead of [true, false]) {
      const { system, clock } = check.system()
      const adapter = check.fake({ scripts: [refused, says("yes")] })
      const retry = { baseDelayMs: 2_000, jitterMs: 0 }
      const events = await Chat.stream(Engine.make({ adapter, retry }), hi, { system })
      const first = events.next()
      expect((await first).value).toMatchObject({ type: "request_delayed", waitMs: 2_000, reason: "rate_limited" })
      const rest = isRead ? readAll(events) : undefined
      await clock.advance(2_000)
      expect(tagsOf(await (rest ?? readAll(events)))[0]).toBe("message_started")
    }
  })

  test("RETRY5 that is cancelled shows no wait any more", async () => {
    const adapter = check.fake({ scripts: [refused, says("never")] })
    const { troupe, clock } = await check.troupe({ adapter, retry: forLong })
    const chat = await troupe.chat("c")
    const turn = chat.send("hi")
    await clock.advance(0)
    expect(chat.getSnapshot()?.context.delayed).toMatchObject({ reason: "rate_limited" })
    await chat.cancel()
    await turn.result()
    expect(chat.getSnapshot()?.context.delayed).toBeUndefined()
    await troupe.stop()
  })

  test("of a living chat ends with a cancel, and the next turn asks anew", async () => {
    const adapter = check.fake({ scripts: [refused, says("yes")] })
    const { troupe, system, clock } = await check.troupe({ adapter, retry: forLong })
    const chat = await troupe.chat("c")
    const turn = chat.send("hi")
    await clock.advance(1_000)
    expect([processesOf(system, "AdapterStream").length, clock.pending]).toEqual([1, 1])
    const cancelled = chat.cancel()
    await clock.advance(0)
    await cancelled
    expect(clock.pending).toBe(0)
    expect((await turn.result()).haltedReason).toBe("cancelled")
    const next = chat.send("again")
    await clock.advance(0)
    expect(said((await next.result()).thread.messages.at(-1))).toBe("yes")
  })

  test("fails its step when its process is killed, and leaves no timer", async () => {
    const { troupe, system, clock } = await check.troupe({ adapter: check.fake({ script: refused }), retry: forLong })
    const turn = (await troupe.chat("c")).send("hi")
    await clock.advance(0)
    Process.kill(processOf(system, "AdapterStream"))
    await clock.advance(0)
    expect(clock.pending).toBe(0)
    expect((await turn.result()).haltedReason).toBe("error")
  })

  test("dies with its chat, however many there are", async () => {
    const adapter = check.fake({ script: refused })
    const { troupe, system, clock } = await check.troupe({ adapter, retry: forLong, maxRestarts: 1e6 })
    const turns = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => (await troupe.chat(`c${index}`)).send("hi"))
    )
    await until(() => clock.pending === 50)
    const chats = processesOf(system, "Chat c")
    chats.forEach((pid, index) => Process.exit(pid, index % 2 === 0 ? "kill" : "shutdown"))
    await clock.advance(0)
    await troupe.stop()
    const ended = await Promise.allSettled(turns.map((turn) => turn.result()))
    expect(ended.every(({ status }) => status === "rejected")).toBe(true)
    expect([clock.pending, System.stats(system).timers]).toEqual([0, 0])
  })
})

describe("a fallback", () => {
  const busy: Adapter = {
    name: "busy",
    stream: () => Promise.reject(new AdapterError("provider_unavailable"))
  }

  test("that opens after the chat was cancelled is released as it comes", async () => {
    const hand = handAdapter()
    const gate = Promise.withResolvers<void>()
    const slow: Adapter = {
      name: "slow",
      stream: async (...args) => {
        await gate.promise
        return hand.stream(...args)
      }
    }
    const { signal, abort } = check.signal()
    let asked = false
    const noting: Adapter = { name: "noting", stream: (...args) => ((asked = true), slow.stream(...args)) }
    const running = Chat.run(Engine.make({ adapter: busy, fallbacks: [noting], retry: false }), hi, { signal })
    await until(() => asked)
    abort()
    expect((await running).haltedReason).toBe("cancelled")
    gate.resolve()
    await until(() => hand.streams.length === 1 && hand.streams[0]?.returns === 1)
    expect([hand.streams[0]?.pulls, hand.streams[0]?.options.signal.aborted]).toEqual([0, true])
  })

  test("that is left after its first event is released once", async () => {
    const adapter = check.fake({ script: says("yes") })
    const engine = Engine.make({ adapter: busy, fallbacks: [adapter], retry: false })
    for await (const _ of await Chat.stream(engine, hi)) break
    expect([adapter.open, adapter.released]).toEqual([0, 1])
  })

  test("is asked anew in each step, and its reply says so", async () => {
    const adapter = check.fake({ scripts: [calls("echo"), says("done")] })
    const engine = Engine.make({ adapter: busy, fallbacks: [{ adapter, model: "m" }], tools: [echo], retry: false })
    const events = await readAll(await Chat.stream(engine, hi))
    const { result } = only(events, "chat_completed")
    expect(result.haltedReason).toBe("completed")
    for (const { response } of result.steps) {
      expect(response).toMatchObject({ model: "m", metadata: { fallback: { index: 0, adapter: "fake", model: "m" } } })
    }
  })

  test("that cannot stream is refused before anything is sent", async () => {
    let sent = 0
    const adapter: Adapter = { name: "counting", stream: (...args) => (sent++, busy.stream(...args)) }
    const engine = Engine.make({ adapter, fallbacks: [{ adapter: { name: "none" } as Adapter }] })
    await expect(Chat.run(engine, hi)).rejects.toMatchObject({ reason: "missing_stream_adapter" })
    expect(sent).toBe(0)
  })
})
