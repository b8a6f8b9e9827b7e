import { Process } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import * as Chat from "../../src/loop/Chat.ts"
import { AdapterError, StreamError } from "../../src/errors/ChatError.ts"
import * as Engine from "../../src/options/Engine.ts"
import type { AdapterEvent } from "../../src/events/Event.ts"
import { defaultSystem } from "../../src/async/defaultSystem.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { processesOf, processOf } from "../double/processes.ts"
import { calls, echo, hi, only, readAll, says, tagsOf } from "../double/scripts.ts"

const check = leakCheck()

describe("an adapter that goes wrong", () => {
  test("a model request whose process is killed is an adapter error of its step, and ends the chat with `error`", async () => {
    const adapter = handAdapter()
    const stream = await Chat.stream(Engine.make({ adapter }), hi)
    const first = stream.next()
    const [request] = adapter.streams
    request?.text("par")
    expect((await first).value).toMatchObject({ type: "text_delta", delta: "par" })
    const rest = readAll(stream)
    await until(() => request?.pulls === 2)
    Process.kill(processOf(defaultSystem(), "AdapterStream"))
    const events = await rest
    expect(tagsOf(events)).toEqual(["error", "step_completed", "chat_completed"])
    const { result } = only(events, "chat_completed")
    expect(result.haltedReason).toBe("error")
    expect(result.metadata["error"]).toBeInstanceOf(AdapterError)
    expect(result.thread.messages.at(-1)).toMatchObject({ role: "assistant", content: "par" })
    expect(request?.returns).toBe(1)
    expect(request?.options.signal.aborted).toBe(true)
  })

  test("a model request killed while it opens is an adapter error, and what opens later is released", async () => {
    const opening = Promise.withResolvers<AsyncIterable<AdapterEvent>>()
    let returns = 0
    const adapter: Adapter = { name: "slow", stream: () => opening.promise }
    const result = Chat.run(Engine.make({ adapter }), hi)
    await until(() => processesOf(defaultSystem(), "AdapterStream").length === 1)
    Process.kill(processOf(defaultSystem(), "AdapterStream"))
    expect((await result).haltedReason).toBe("error")
    opening.resolve({
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(new Error("read after the end")),
        return: async () => {
          returns++
          return { done: true, value: undefined }
        }
      })
    })
    await hop()
    expect(returns).toBe(1)
  })

  test("a stream that throws is one `error` event, and the chat ends with `error`", async () => {
    const adapter = check.fake({ script: [{ text: "par" }, { crash: new Error("socket") }] })
    const events = await readAll(await Chat.stream(Engine.make({ adapter }), hi))
    expect(tagsOf(events)).toEqual(["message_started", "text_delta", "error", "step_completed", "chat_completed"])
    expect(only(events, "error").error).toBeInstanceOf(StreamError)
    expect(only(events, "chat_completed").result).toMatchObject({ haltedReason: "error", steps: [{ done: true }] })
    expect(adapter.released).toBe(1)
  })

  test("an iterator that throws instead of rejecting is an `error` event", async () => {
    const adapter: Adapter = {
      name: "rude",
      stream: () => ({
        [Symbol.asyncIterator]: () => ({
          next: () => {
            throw new Error("rude")
          }
        })
      })
    }
    const result = await Chat.run(Engine.make({ adapter }), hi)
    expect(result.haltedReason).toBe("error")
    expect(result.metadata["error"]).toMatchObject({ reason: "adapter_error" })
  })

  test("a stream that cannot be iterated is a request that could not be opened", async () => {
    const broken = {
      [Symbol.asyncIterator]: () => {
        throw new Error("locked")
      }
    }
    for (const stream of [() => broken, () => Promise.resolve(broken)]) {
      await expect(Chat.run(Engine.make({ adapter: { name: "locked", stream } }), hi)).rejects.toThrow("locked")
    }
  })

  test.each(["AdapterError", "any error", "no error at all"])(
    "a request refused with %s rejects the call, or the first event of a stream",
    async (what) => {
      const refusal =
        what === "AdapterError"
          ? new AdapterError("authentication_failed")
          : what === "any error"
            ? new Error("boom")
            : "boom"
      const adapter: Adapter = { name: "refusing", stream: () => Promise.reject(refusal) }
      await expect(Chat.run(Engine.make({ adapter }), hi)).rejects.toBeInstanceOf(AdapterError)
      await expect(Chat.step(Engine.make({ adapter }), hi)).rejects.toBeInstanceOf(AdapterError)
      const stream = await Chat.stream(Engine.make({ adapter }), hi)
      await expect(stream.next()).rejects.toBeInstanceOf(AdapterError)
      expect(await stream.next()).toEqual({ done: true, value: undefined })
    }
  )

  test("what is no event is skipped, wherever it comes", async () => {
    const adapter = handAdapter()
    const reading = Chat.stream(Engine.make({ adapter }), hi).then(readAll)
    await until(() => adapter.streams.length === 1)
    const [stream] = adapter.streams
    for (const junk of [null, 7, "x", [], {}, { type: "nonsense" }]) stream?.say(junk as unknown as AdapterEvent)
    stream?.text("a")
    stream?.finish("stop")
    const events = await reading
    expect(tagsOf(events)).toEqual(["text_delta", "message_completed", "step_completed", "chat_completed"])
  })

  test("malformed events change nothing and end nothing", async () => {
    const adapter = handAdapter()
    const reading = Chat.run(Engine.make({ adapter }), hi)
    await until(() => adapter.streams.length === 1)
    const [stream] = adapter.streams
    const malformed: ReadonlyArray<object> = [
      { type: "text_delta" },
      { type: "text_completed", text: 7 },
      { type: "tool_call_started" },
      { type: "tool_call_delta", id: 3, argumentsDelta: "x" },
      { type: "tool_call_completed", id: "c9", name: "echo", arguments: "{", rawArguments: 4 },
      { type: "raw_chunk", chunk: { type: "usage", usage: { inputTokens: "many" } } },
      { type: "message_started", metadata: "none" }
    ]
    for (const event of malformed) stream?.say(event as unknown as AdapterEvent)
    stream?.text("a")
    stream?.finish("stop")
    const result = await reading
    expect(result).toMatchObject({
      haltedReason: "completed",
      finalResponse: { outputText: "a", usage: {}, metadata: {} }
    })
    expect(result.finalResponse?.toolCalls).toEqual([])
  })

  test("ASRC3 a stream that ends without `message_completed` was cut off: an error, and its text is kept", async () => {
    const adapter = handAdapter()
    const reading = Chat.run(Engine.make({ adapter }), hi)
    await until(() => adapter.streams.length === 1)
    adapter.streams[0]?.text("a")
    adapter.streams[0]?.end()
    expect(await reading).toMatchObject({
      haltedReason: "error",
      finalResponse: { finishReason: "error", outputText: "a" }
    })
  })

  test("a release that never comes is waited for no longer than the drain deadline", async () => {
    const release = Promise.withResolvers<void>()
    const adapter = handAdapter({ slowRelease: release.promise })
    const stream = await Chat.stream(Engine.make({ adapter }), hi, { drainMs: 1 })
    const next = stream.next()
    await stream.return()
    expect(await next).toEqual({ done: true, value: undefined })
    expect(adapter.streams[0]?.returns).toBe(1)
    release.resolve()
  })

  test("an error in the second request ends the chat with `error`, and keeps the first step", async () => {
    const scripts = [calls("echo"), [{ error: "rate_limited" } as const]]
    const engine = Engine.make({ adapter: check.fake({ scripts }), tools: [echo] })
    const result = await Chat.run(engine, hi)
    expect(result.haltedReason).toBe("error")
    expect(result.steps).toHaveLength(2)
    expect(result.metadata["error"]).toMatchObject({ reason: "rate_limited" })
  })

  test("a script that is exhausted in the second request is an `error` event and the end, in both forms", async () => {
    const engine = () => Engine.make({ adapter: check.fake({ scripts: [calls("echo")] }), tools: [echo] })
    const result = await Chat.run(engine(), hi)
    expect(result).toMatchObject({ haltedReason: "error", metadata: { error: { reason: "no_scripted_response" } } })
    expect(result.steps).toHaveLength(1)
    const events = await readAll(await Chat.stream(engine(), hi))
    expect(tagsOf(events).slice(-3)).toEqual(["step_completed", "error", "chat_completed"])
  })

  test("every position of an error keeps the order of the events", async () => {
    const whole = [...says("abc").slice(0, 1), { text: "d" }, { finish: "stop" } as const]
    for (let at = 0; at <= 2; at++) {
      const script = [...whole.slice(0, at), { error: "timeout" } as const, ...whole.slice(at)]
      const events = await readAll(await Chat.streamStep(Engine.make({ adapter: check.fake({ script }) }), hi))
      expect(tagsOf(events).filter((tag) => tag === "error")).toHaveLength(1)
      expect(tagsOf(events).at(-1)).toBe("step_completed")
      expect(only(events, "step_completed").response.finishReason).toBe("error")
    }
  })
})
