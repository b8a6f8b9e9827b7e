import { Clock } from "@troupe/otp"
import { expect, test } from "vitest"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import { AdapterError } from "../../src/errors/ChatError.ts"
import * as Chat from "../../src/loop/Chat.ts"
import * as Engine from "../../src/options/Engine.ts"
import type { AdapterEvent } from "../../src/events/Event.ts"
import { IdleTimeout } from "../../src/async/idleTimeout.ts"
import { hop } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { hi, only, readAll } from "../double/scripts.ts"

const check = leakCheck()

test("SILENCE1 it is broken when an answer was owed for the whole time, and at most an eighth of it later", async () => {
  const clock = Clock.test()
  const broken: Array<string> = []
  const silence = new IdleTimeout(clock, 80, (error) => broken.push(`${clock.now()}: ${error.reason}`))
  silence.asked()
  await clock.advance(45)
  silence.answered()
  await clock.advance(1_000)
  silence.asked()
  await clock.advance(45)
  silence.answered()
  silence.asked()
  await clock.advance(80)
  expect(broken).toEqual([])
  await clock.advance(500)
  expect(broken).toEqual(["1175: timeout"])
})

test("SILENCE1 one that is never broken is on time", async () => {
  const clock = Clock.test()
  const broken: Array<number> = []
  const silence = new IdleTimeout(clock, 80, () => broken.push(clock.now()))
  silence.asked()
  await clock.advance(500)
  expect(broken).toEqual([80])
  expect(clock.pending).toBe(0)
})

test("SILENCE2 a thousand answers set one timer; SILENCE3 after `end` there is none", async () => {
  const clock = Clock.test()
  const silence = new IdleTimeout(clock, 100, () => {})
  for (let answer = 0; answer < 1_000; answer++) {
    silence.asked()
    silence.answered()
  }
  expect(clock.pending).toBe(1)
  silence.end()
  expect(clock.pending).toBe(0)
})

/** An adapter that sends these events, and then nothing; counts its requests and the released ones. */
const silent = (events: ReadonlyArray<AdapterEvent>, opens = true) => {
  const seen = { requests: 0, aborted: 0, returned: 0 }
  const stream = (): AsyncIterable<AdapterEvent> => {
    const left = [...events]
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          const value = left.shift()
          return value === undefined ? new Promise(() => {}) : Promise.resolve({ done: false, value })
        },
        return: () => {
          seen.returned++
          return Promise.resolve({ done: true, value: undefined })
        }
      })
    }
  }
  const late = Promise.withResolvers<AsyncIterable<AdapterEvent>>()
  const adapter: Adapter = {
    name: "silent",
    stream: (_request, { signal }) => {
      seen.requests++
      signal.addEventListener("abort", () => seen.aborted++)
      return opens ? stream() : late.promise
    }
  }
  return { adapter, seen, open: () => late.resolve(stream()) }
}

test("ASRC5 a provider that never answers is asked again as `retry` says, then the chat ends with a typed error", async () => {
  for (const opens of [true, false]) {
    const { system, clock } = check.system()
    const { adapter, seen, open } = silent([], opens)
    const retry = { maxAttempts: 2, baseDelayMs: 10, jitterMs: 0 }
    const run = Chat.run(Engine.make({ adapter }), hi, { system, streamIdleTimeoutMs: 100, retry })
    const refused = run.then(
      ({ metadata }) => metadata["error"],
      (error: unknown) => error
    )
    await clock.advance(209)
    expect(seen.requests).toBe(2)
    await clock.advance(1)
    const error = await refused
    expect(error).toBeInstanceOf(AdapterError)
    expect(error).toMatchObject({ reason: "timeout", message: expect.stringContaining("100 ms") })
    expect(seen.aborted).toBe(2)
    open()
    await hop()
    expect(seen.returned).toBe(2)
  }
})

test("ASRC5 one that falls silent in the middle ends the reply with an error, and keeps what was said", async () => {
  const { system, clock } = check.system()
  const { adapter, seen } = silent([{ type: "text_delta", id: null, delta: "half a " }])
  const stream = await Chat.stream(Engine.make({ adapter }), hi, { system, streamIdleTimeoutMs: 100 })
  const reading = readAll(stream)
  await clock.advance(112.5)
  const { result } = only(await reading, "chat_completed")
  expect(result.haltedReason).toBe("error")
  expect(result.metadata["error"]).toMatchObject({ reason: "timeout" })
  expect(seen).toEqual({ requests: 1, aborted: 1, returned: 1 })
})

test("a reader that takes its time is no silence of the adapter's", async () => {
  const { system, clock } = check.system()
  const adapter = check.fake({ script: [{ text: "a" }, { text: "b" }, { finish: "stop" }] })
  const stream = await Chat.stream(Engine.make({ adapter }), hi, { system, streamIdleTimeoutMs: 10 })
  await stream.next()
  await clock.advance(1_000)
  expect(only(await readAll(stream), "chat_completed").result.haltedReason).toBe("completed")
})

test("`Infinity` waits for ever", async () => {
  const { system, clock } = check.system()
  const { signal, abort } = check.signal()
  const { adapter, seen } = silent([])
  const run = Chat.run(Engine.make({ adapter }), hi, { system, signal, streamIdleTimeoutMs: Infinity })
  await clock.advance(1e9)
  expect(seen.requests).toBe(1)
  abort()
  expect((await run).haltedReason).toBe("cancelled")
})
