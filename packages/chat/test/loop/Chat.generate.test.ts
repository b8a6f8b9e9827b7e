import { expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import { AdapterError } from "../../src/errors/ChatError.ts"
import * as Engine from "../../src/options/Engine.ts"
import { StreamCollector } from "../../src/events/StreamCollector.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, echo, hi, readAll, says, tagsOf } from "../double/scripts.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const check = leakCheck()

const engineOf = (script: Script) => Engine.make({ adapter: check.fake({ script }), tools: [echo] })

const replies: ReadonlyArray<readonly [string, Script]> = [
  ["text", says("Hello")],
  ["tool calls", calls(["echo", { x: 1 }], "echo")],
  ["an error in the middle", [{ text: "a" }, { error: "timeout" }]],
  ["usage", [{ text: "a" }, { usage: { inputTokens: 3 } }, { finish: "length" }]],
  ["nothing", []]
]

test.each(replies)("5 `generate` is the fold of `streamGenerate`: %s", async (_what, script) => {
  const options = { requestId: "r" }
  const collector = new StreamCollector()
  const events = await readAll(await Chat.streamGenerate(engineOf(script), hi, options))
  for (const event of events) collector.apply(event)
  expect(await Chat.generate(engineOf(script), hi, options)).toEqual(collector.toResponse("r"))
})

test.each(replies)("`generate` gives the response of a step: %s", async (_what, script) => {
  const options = { requestId: "r" }
  const { response } = await Chat.step(engineOf(script), hi, { ...options, mode: "manual" })
  expect(await Chat.generate(engineOf(script), hi, options)).toEqual(response)
})

test("tools are shown to the model, and not run", async () => {
  const adapter = check.fake({ script: calls("echo") })
  const response = await Chat.generate(Engine.make({ adapter, tools: [echo] }), hi)
  expect(response.toolCalls).toMatchObject([{ name: "echo" }])
  expect(adapter.requests).toMatchObject([{ tools: [{ name: "echo" }] }])
})

test("filters drop events, never what is collected", async () => {
  const filtered = { emitTextDeltas: false }
  const events = await readAll(await Chat.streamGenerate(engineOf(says("Hello")), hi, filtered))
  expect(tagsOf(events)).toEqual(["message_started", "text_completed", "message_completed"])
  expect((await Chat.generate(engineOf(says("Hello")), hi, filtered)).outputText).toBe("Hello")
})

test("10, 12 the adapter is looked for first, then the request is checked, and nothing is sent", async () => {
  const adapter = check.fake({ script: says("Hello") })
  for (const call of [Chat.generate, Chat.streamGenerate]) {
    await expect(call(Engine.make({}), [])).rejects.toMatchObject({ reason: "missing_adapter" })
    await expect(call(Engine.make({ adapter }), [])).rejects.toMatchObject({ reason: "invalid_request" })
    await expect(call(Engine.make({ adapter }), null as never)).rejects.toMatchObject({ reason: "invalid_request" })
    await expect(call(Engine.make({ adapter }), hi, { modle: "m" } as object)).rejects.toThrow("modle")
  }
  expect(adapter.requests).toEqual([])
})

test("a refused request rejects both forms", async () => {
  const refusing = () => engineOf([{ preflightError: "authentication_failed" }])
  await expect(Chat.generate(refusing(), hi)).rejects.toBeInstanceOf(AdapterError)
  const stream = await Chat.streamGenerate(refusing(), hi)
  await expect(stream.next()).rejects.toBeInstanceOf(AdapterError)
})

test("a signal ends it with an `error` event, and the request is released", async () => {
  const adapter = check.fake({ script: [{ text: "a" }, { hang: true }] })
  const signal = check.signal()
  const events = await Chat.streamGenerate(Engine.make({ adapter }), hi, { signal: signal.signal })
  await events.next()
  await events.next()
  signal.abort()
  const rest = await readAll(events)
  expect(rest).toMatchObject([{ type: "error", error: { _tag: "StreamError", reason: "cancelled" } }])
  await until(() => adapter.open === 0)
  const again = check.signal()
  const generating = Chat.generate(Engine.make({ adapter }), hi, {
    signal: again.signal,
    onEvent: ({ type }) => {
      if (type === "text_delta") again.abort()
    }
  })
  await expect(generating).resolves.toMatchObject({ outputText: "a", finishReason: "error" })
  again.abort()
  await expect(Chat.generate(Engine.make({ adapter }), hi, { signal: again.signal })).rejects.toThrow("abort")
})

test("22 leaving it releases the request, once", async () => {
  const adapter = check.fake({ script: says("Hello") })
  for await (const _ of await Chat.streamGenerate(Engine.make({ adapter }), hi)) break
  expect([adapter.open, adapter.released]).toEqual([0, 1])
})
