import { describe, expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import * as Engine from "../../src/options/Engine.ts"
import type { Event } from "../../src/events/Event.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { streamToolCalls } from "../../src/session/ToolRunner.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, callThenAnswer, echo, handling, hi, readTo, says, tagsOf } from "../double/scripts.ts"

const check = leakCheck()

describe("a reader that leaves", () => {
  test("one that stops after the third event releases the request once; no event comes later and no tool starts", async () => {
    let ran = 0
    const adapter = check.fake({ scripts: callThenAnswer })
    const tools = [handling("echo", (args) => ok([args, ++ran]))]
    const stream = await Chat.stream(Engine.make({ adapter, tools }), hi)
    const read: Array<Event> = []
    for await (const event of stream) if (read.push(event) === 3) break
    expect(tagsOf(read)).toEqual(["message_started", "tool_call_started", "tool_call_completed"])
    expect([adapter.open, adapter.released]).toEqual([0, 1])
    expect(await stream.next()).toEqual({ done: true, value: undefined })
    await hop()
    expect([ran, adapter.requests.length]).toEqual([0, 1])
  })

  test("leaving after the last adapter event starts no tool", async () => {
    let ran = 0
    const adapter = check.fake({ scripts: callThenAnswer })
    const tools = [handling("echo", (args) => ok([args, ++ran]))]
    await readTo(await Chat.stream(Engine.make({ adapter, tools }), hi), "message_completed")
    await hop()
    expect([ran, adapter.released]).toEqual([0, 1])
  })

  test("one that throws inside its loop releases the request, and its own error comes out", async () => {
    const adapter = check.fake({ script: says("a") })
    const stream = await Chat.stream(Engine.make({ adapter }), hi)
    const reading = async () => {
      for await (const event of stream) if (event.type === "text_delta") throw new Error("mine")
    }
    await expect(reading()).rejects.toThrow("mine")
    expect(adapter.released).toBe(1)
  })

  test("leaving while tools run aborts them, and waits for none of them past the drain deadline", async () => {
    const started = Promise.withResolvers<AbortSignal>()
    const slow = handling("slow", (_args, { signal }) => {
      started.resolve(signal)
      return new Promise(() => {})
    })
    const adapter = check.fake({ scripts: [calls("echo", "slow"), says("never")] })
    const stream = await Chat.stream(Engine.make({ adapter, tools: [echo, slow] }), hi)
    await readTo(stream, "tool_result_encoded")
    expect((await started.promise).aborted).toBe(true)
    expect(adapter.requests).toHaveLength(1)
  })

  test("leaving between two steps asks the model no more", async () => {
    const adapter = check.fake({ scripts: callThenAnswer })
    await readTo(await Chat.stream(Engine.make({ adapter, tools: [echo] }), hi), "step_completed")
    await hop()
    expect(adapter.requests).toHaveLength(1)
  })

  test("leaving in every place leaves nothing behind", async () => {
    const whole = 16
    for (let place = 1; place <= whole; place++) {
      const adapter = check.fake({ scripts: callThenAnswer })
      const stream = await Chat.stream(Engine.make({ adapter, tools: [echo] }), hi)
      let read = 0
      for await (const _ of stream) if (++read === place) break
      expect(adapter.open).toBe(0)
      expect(adapter.released).toBe(adapter.requests.length)
    }
  })

  test("leaving twice, and at once, is leaving once", async () => {
    const adapter = handAdapter()
    const stream = await Chat.stream(Engine.make({ adapter }), hi)
    const next = stream.next()
    await Promise.all([stream.return(), stream.return(), stream.return()])
    await stream.return()
    expect(await next).toEqual({ done: true, value: undefined })
    expect(adapter.streams[0]?.returns).toBe(1)
  })

  test("leaving a stream that was never read sends no request, then or later", async () => {
    const adapter = check.fake({ script: says("a") })
    const stream = await Chat.stream(Engine.make({ adapter }), hi)
    await stream[Symbol.asyncDispose]()
    expect(await stream.next()).toEqual({ done: true, value: undefined })
    expect(adapter.requests).toEqual([])
  })

  test("throwing into the stream leaves it, and the error comes out again", async () => {
    const adapter = check.fake({ script: says("a") })
    const stream = await Chat.stream(Engine.make({ adapter }), hi)
    await stream.next()
    await expect(stream.throw(new Error("mine"))).rejects.toThrow("mine")
    expect(adapter.released).toBe(1)
  })

  test("events asked for all at once come in order, and every question is answered", async () => {
    const adapter = check.fake({ script: says("a") })
    const stream = await Chat.stream(Engine.make({ adapter }), hi)
    const answers = await Promise.all(Array.from({ length: 9 }, () => stream.next()))
    const tags = answers.map((answer) => answer.value?.type)
    expect(tags).toEqual([
      "message_started",
      "text_delta",
      "text_completed",
      "message_completed",
      "step_completed",
      "chat_completed",
      undefined,
      undefined,
      undefined
    ])
  })

  test("leaving while an event is on its way answers the question with the end", async () => {
    const adapter = handAdapter()
    const stream = await Chat.streamStep(Engine.make({ adapter }), hi)
    const [first, second] = [stream.next(), stream.next()]
    await until(() => adapter.streams[0]?.pulls === 1)
    await stream.return()
    adapter.streams[0]?.text("late")
    expect(await Promise.all([first, second])).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined }
    ])
  })

  test("leaving a tool batch stops what runs and starts no more", async () => {
    const ran: Array<string> = []
    const notified = Promise.withResolvers<void>()
    const tools = [
      handling("quick", () => ok(ran.push("quick"))),
      handling("slow", (_args, { signal }) => {
        ran.push("slow")
        signal.addEventListener("abort", () => notified.resolve())
        return new Promise(() => {})
      }),
      handling("later", () => ok(ran.push("later")))
    ]
    const toolCalls = ["quick", "slow", "later"].map((name, index) => ({ id: `c${index}`, name, arguments: {} }))
    for await (const event of streamToolCalls(toolCalls, tools, { maxConcurrency: 1 })) {
      if (event.type === "tool_result_encoded") break
    }
    await notified.promise
    expect(ran).toEqual(["quick", "slow"])
  })

  test("what `onEvent` throws is thrown at the reader, and the request is released", async () => {
    const adapter = check.fake({ script: says("a") })
    const stream = await Chat.stream(Engine.make({ adapter }), hi, {
      onEvent: (event) => {
        if (event.type === "text_delta") throw new Error("seen")
      }
    })
    expect((await stream.next()).value).toMatchObject({ type: "message_started" })
    await expect(stream.next()).rejects.toThrow("seen")
    expect(await stream.next()).toEqual({ done: true, value: undefined })
    await until(() => adapter.released === 1)
  })

  test("what `haltWhen` throws is thrown at the reader", async () => {
    const engine = () => Engine.make({ adapter: check.fake({ scripts: callThenAnswer }), tools: [echo] })
    const haltWhen = () => {
      throw new Error("halting")
    }
    await expect(Chat.run(engine(), hi, { haltWhen })).rejects.toThrow("halting")
    await expect(readTo(await Chat.stream(engine(), hi, { haltWhen }), "chat_completed")).rejects.toThrow("halting")
  })
})
